"""Two lakehouses in one session: names in SQL are the one's that was registered last."""

from pathlib import Path

from pyspark.sql import SparkSession

from conf.settings import load_settings
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.tables import TABLES, View

LEMMAS = TABLES["subtitles.lemmas"]
WORDS = "SELECT word FROM subtitles.lemmas"
VIEWS = {"analysis.words": View("All words.", WORDS, {"word": "the reader's \\ word"})}


def test_the_last_registered_lakehouse_answers(spark: SparkSession, tmp_path: Path) -> None:
    houses = []
    for word in ("first", "second"):
        own = load_settings("local", [], {"lakehouse.root": str(tmp_path / word)}).lakehouse
        house = Lakehouse(spark, own, small=True)
        row = {name: word if name == "word" else None for name in LEMMAS.columns}
        house.append(LEMMAS, spark.createDataFrame([row], LEMMAS.schema), {})
        houses.append(house)
    for house, word in zip(houses, ("first", "second"), strict=True):
        house.register(VIEWS, [LEMMAS])
        assert [row.word for row in spark.sql(WORDS).collect()] == [word]
        assert [row.word for row in spark.sql("SELECT word FROM analysis.words").collect()] == [word]
        assert spark.table("analysis.words").schema["word"].metadata == {"comment": "the reader's \\ word"}
    assert houses[0].read(LEMMAS).count() == 1  # only names were dropped
    nowhere = Lakehouse(spark, load_settings("local", [], {"lakehouse.root": str(tmp_path / "third")}).lakehouse)
    nowhere.register(VIEWS, [LEMMAS])
    assert not spark.catalog.tableExists("analysis.words")
    houses[0].register({}, [LEMMAS])
    houses[0].register({"analysis.words": View("No words.", "SELECT 1 AS word", {"word": "a number"})}, [])
    assert [row.word for row in spark.sql(WORDS).collect()] == ["first"], "other names stay"
