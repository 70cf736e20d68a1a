"""Tables in the schemas of a catalog, with a prefix before the schemas' names."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.settings import LakehouseSettings
from conf.taxonomy import load_taxonomy
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.spark_tables import SparkTables
from etl.pipeline.tables import TABLES, View, names_in_sql
from etl.pipeline.tables.model import AND_ALSO
from etl.publishing.views import all_views
from etl.subtitles.tables import LEMMAS

PREFIX = "prefixed_"
ROWS = [("cats", "cat"), ("dogs", "dog")]
COUNT = "SELECT count(*) AS words FROM subtitles.lemmas"
VIEWS = {"analysis.words": View("How many words there are.", COUNT, {"words": "rows of the table"})}


def prefixed(sql: str) -> str:
    return names_in_sql().sub(rf"{PREFIX}\1", sql)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM edos.dialogues", "SELECT * FROM prefixed_edos.dialogues"),
        ("edos.dialogue_scores, edos.dialogues d", "prefixed_edos.dialogue_scores, prefixed_edos.dialogues d"),
        ("FROM analysis.edos_table_3", "FROM prefixed_analysis.edos_table_3"),
        ("FROM llm.generations", "FROM prefixed_llm.generations"),
        ("FROM edos.turns AS t", "FROM prefixed_edos.turns AS t"),
        ("FROM (edos.dialogues)", "FROM (prefixed_edos.dialogues)"),
        ("FROM main.edos.dialogues", "FROM main.edos.dialogues"),
        ("SELECT 'edos.dialogues'", "SELECT 'edos.dialogues'"),
        ("SELECT edos.dialogues.turns", "SELECT edos.dialogues.turns"),
        ("SELECT d.edos.dialogues", "SELECT d.edos.dialogues"),
        ("FROM edos.unknown", "FROM edos.unknown"),
        ("LOCATION '/lake/edos/dialogues'", "LOCATION '/lake/edos/dialogues'"),
    ],
)
def test_names_in_sql(sql: str, expected: str) -> None:
    assert prefixed(sql) == expected


def test_every_view_and_table_has_the_prefix() -> None:
    names = [*TABLES, *all_views(load_taxonomy("edos"))]
    assert [prefixed(name) for name in names] == [f"{PREFIX}{name}" for name in names]


def test_a_prefix_is_part_of_a_name() -> None:
    for wrong in ("a.b", "a-", "a b", "`"):
        with pytest.raises(ValidationError):
            LakehouseSettings(schema_prefix=wrong)


@pytest.fixture
def schemas(spark: SparkSession, tmp_path: Path) -> Iterator[None]:
    for name in ("subtitles", "analysis"):
        spark.sql(f"CREATE SCHEMA {PREFIX}{name} LOCATION '{tmp_path / name}'")
    yield
    for name in ("analysis", "subtitles"):
        spark.sql(f"DROP SCHEMA {PREFIX}{name} CASCADE")


def test_tables_of_a_catalog_have_the_prefix(spark: SparkSession, schemas: None) -> None:
    house = Lakehouse(spark, LakehouseSettings(catalog="spark_catalog", schema_prefix=PREFIX))
    rows = spark.createDataFrame(ROWS, "word string, lemma string")
    assert not house.exists(LEMMAS)
    assert house.read(LEMMAS).count() == 0
    house.append(LEMMAS, rows, {"run_id": "one"}, "once")
    first = house.identity(LEMMAS)
    assert house.exists(LEMMAS)
    assert first is not None
    house.delete_keys(LEMMAS, rows.select("word").where("word = 'cats'"), "word", {"run_id": "two"})
    assert [row.word for row in spark.table(f"{PREFIX}subtitles.lemmas").collect()] == ["dogs"]
    assert house.identity(LEMMAS) != first
    assert house.size(LEMMAS) > 0
    assert len(house.commits(LEMMAS, "one")) >= 1
    house.register(VIEWS, [LEMMAS])
    assert spark.table(house.named("analysis.words")).first()[0] == 1  # type: ignore[index]


def test_a_folder_has_no_prefix_and_its_names_may(spark: SparkSession, tmp_path: Path) -> None:
    settings = LakehouseSettings(root=str(tmp_path), schema_prefix=PREFIX)
    house = Lakehouse(spark, settings)
    house.append(LEMMAS, spark.createDataFrame(ROWS, "word string, lemma string"), {})
    assert (tmp_path / "subtitles" / "lemmas" / "_delta_log").is_dir()
    assert house.named("subtitles.lemmas") == "subtitles.lemmas"
    house.prefix = settings.schema_prefix  # as `jobs register` does
    statements = house.catalog_statements(VIEWS, [LEMMAS])
    assert statements[:2] == [f"CREATE SCHEMA IF NOT EXISTS {PREFIX}{name}" for name in ("subtitles", "analysis")]
    assert f"{PREFIX}subtitles.lemmas USING delta LOCATION '{tmp_path}/subtitles/lemmas'" in statements[2]
    assert f"FROM {PREFIX}subtitles.lemmas" in statements[3]
    assert f"VIEW {PREFIX}analysis.words" in statements[3]
    for statement in statements:
        spark.sql(statement)
    assert spark.table(f"{PREFIX}analysis.words").select(F.sum("words")).first()[0] == 2  # type: ignore[index]
    for name in ("analysis", "subtitles"):
        spark.sql(f"DROP SCHEMA {PREFIX}{name} CASCADE")


def test_a_part_of_a_view_is_left_out_where_its_table_is_missing(spark: SparkSession, tmp_path: Path) -> None:
    house = Lakehouse(spark, LakehouseSettings(root=str(tmp_path)))
    house.ensure(TABLES["emo_pillars.isear_results"])
    parts = ("SELECT f1 FROM emo_pillars.isear_results", "SELECT 0 AS f1 FROM emo_pillars.isear")
    views = {
        "analysis.both": View("Two.", AND_ALSO.join(parts), {"f1": "of isear"}),
        "analysis.more": View("One.", "SELECT * FROM analysis.none", {"f1": "of none"}),
    }
    assert house.catalog_statements(views)[-2].endswith(f"AS {parts[0]}")


@pytest.mark.parametrize(
    ("readers", "there", "granted"),
    [(None, False, []), ("our readers", True, []), ("our readers", False, ["main.p_subtitles"])],
    ids=["nobody", "a schema that is there", "a new schema"],
)
def test_a_group_may_read_the_tables_of_a_new_schema(readers: str | None, there: bool, granted: list[str]) -> None:
    asked: list[str] = []
    catalog = SimpleNamespace(databaseExists=lambda name: there, tableExists=lambda name: False)
    session: Any = SimpleNamespace(sql=asked.append, catalog=catalog)
    settings = LakehouseSettings(catalog="main", schema_prefix="p_", readers=readers)
    SparkTables(session, settings).create(LEMMAS)
    (schema, *grants, table) = [one.replace("`main`", "main") for one in asked]
    assert schema == "CREATE SCHEMA IF NOT EXISTS main.p_subtitles"
    assert grants == [f"GRANT USE SCHEMA, SELECT ON SCHEMA {name} TO `our readers`" for name in granted]
    assert table.startswith("CREATE TABLE IF NOT EXISTS main.p_subtitles.lemmas ")


@pytest.mark.parametrize("readers", ["a`; DROP TABLE b", "", "a\nb"])
def test_a_group_whose_name_would_end_its_quotes_is_refused(readers: str) -> None:
    with pytest.raises(ValidationError):
        LakehouseSettings(readers=readers)
