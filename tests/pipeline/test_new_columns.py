"""A table that an earlier version of the project made gets the columns that were added since."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import load_settings
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.tables import TABLES, View
from etl.pipeline.tables.ops import STAGE_RUNS

LEMMAS = TABLES["subtitles.lemmas"]
LARGER = replace(LEMMAS, ddl=LEMMAS.ddl + ", seen bigint COMMENT 'how often'")


@pytest.mark.parametrize("write", [pytest.param("replace", marks=pytest.mark.slow), "append"])
def test_new_columns_enter_an_older_table(spark: SparkSession, tmp_path: Path, write: str) -> None:
    house = Lakehouse(spark, load_settings("local", [], {"lakehouse.root": str(tmp_path)}).lakehouse)
    house.append(LEMMAS, spark.createDataFrame([("went", "go")], LEMMAS.schema), {})
    assert [tuple(row) for row in house.read(LARGER).collect()] == [("went", "go", None)]
    rows = spark.createDataFrame([("seen", "see", 3)], LARGER.schema)
    getattr(house, write)(LARGER, rows, {})
    older = [] if write == "replace" else [("went", "go", None)]
    assert sorted(map(tuple, house.read(LARGER).collect())) == sorted([("seen", "see", 3), *older])


@pytest.mark.parametrize(("logged", "stage"), [(True, "lemmatize_words"), (False, "the stage that writes it")])
def test_a_view_over_an_older_table_says_what_to_run_again(
    spark: SparkSession, tmp_path: Path, logged: bool, stage: str
) -> None:
    house = Lakehouse(spark, load_settings("local", [], {"lakehouse.root": str(tmp_path)}).lakehouse, small=True)
    house.append(LEMMAS, spark.createDataFrame([("went", "go")], LEMMAS.schema), {})
    if logged:
        done = dict.fromkeys(STAGE_RUNS.columns) | {"stage": stage, "run_id": "1", "event": "done", "seconds": 1.0}
        done |= {"output_version": house.identity(LEMMAS), "input_versions": {}, "models": {}}
        house.append(STAGE_RUNS, spark.createDataFrame([done], STAGE_RUNS.schema), {})
    views = {
        "analysis.seen_words": View("Words.", "SELECT sum(seen) AS words FROM subtitles.lemmas", {"words": "seen"})
    }
    said = rf"subtitles\.lemmas was written by an older version, without seen: run {re.escape(stage)}"
    with pytest.raises(InputError, match=said):
        house.register(views, [LARGER])
    spark.sql("DROP TABLE subtitles.lemmas")


def test_a_view_that_is_wrong_by_itself_is_no_older_table(spark: SparkSession, tmp_path: Path) -> None:
    house = Lakehouse(spark, load_settings("local", [], {"lakehouse.root": str(tmp_path)}).lakehouse, small=True)
    house.append(LEMMAS, spark.createDataFrame([("went", "go")], LEMMAS.schema), {})
    with pytest.raises(AnalysisException, match="nothing"):
        wrong = View("Words.", "SELECT nothing FROM subtitles.lemmas", {"nothing": "no column"})
        house.register({"analysis.seen_words": wrong}, [LEMMAS])
    spark.sql("DROP TABLE subtitles.lemmas")
