"""``lakehouse.change_data_feed``: others read which rows of a table changed."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from conf.errors import InputError
from conf.settings import LakehouseSettings, load_settings
from etl.cli.stage_events import tables_with_change_feed
from etl.pipeline.lakehouse import Lakehouse
from etl.tables.subtitles import LEMMAS


def words(spark: SparkSession, *pairs: tuple[str, str]) -> DataFrame:
    return spark.createDataFrame(list(pairs), "word string, lemma string").coalesce(1)


def test_changed_rows_are_read_from_the_commit_on_that_turns_the_feed_on(spark: SparkSession, tmp_path: Path) -> None:
    house = Lakehouse(spark, LakehouseSettings(root=str(tmp_path)))
    house.feed_changes(LEMMAS)  # no table: nothing to do
    house.replace(LEMMAS, words(spark, ("cats", "cat")), {})
    before = house.identity(LEMMAS)
    house.feed_changes(LEMMAS)
    house.feed_changes(LEMMAS)
    house = Lakehouse(spark, LakehouseSettings(root=str(tmp_path)))
    assert house.identity(LEMMAS) == before, "no stage runs again for it"
    table = DeltaTable(house.path(LEMMAS))
    assert table.version() == 2, "created, written, altered once"
    house.append(LEMMAS, words(spark, ("dogs", "dog")), {})
    house.delete(LEMMAS, "word = 'cats'", {})
    changes = pa.table(DeltaTable(house.path(LEMMAS)).load_cdf(starting_version=3).read_all()).to_pylist()
    assert sorted((row["_change_type"], row["word"]) for row in changes) == [("delete", "cats"), ("insert", "dogs")]


def test_a_new_table_has_a_feed_from_its_first_row(spark: SparkSession, tmp_path: Path) -> None:
    house = Lakehouse(spark, LakehouseSettings(root=str(tmp_path), change_data_feed=["subtitles.lemmas"]))
    house.append(LEMMAS, words(spark, ("cats", "cat")), {})
    read = spark.read.format("delta").options(readChangeFeed=True, startingVersion=0).load(house.path(LEMMAS))
    assert [(row["_change_type"], row["word"]) for row in read.collect()] == [("insert", "cats")]


def test_a_name_that_is_no_table_is_bad_input() -> None:
    settings = load_settings("local", [], {"lakehouse.change_data_feed": ["edos.dialogues", "edos.dialogs"]})
    with pytest.raises(InputError, match=r"'edos\.dialogs' is not a table"):
        tables_with_change_feed(settings)
    known = load_settings("local", [], {"lakehouse.change_data_feed": ["edos.dialogues"]})
    assert [table.name for table in tables_with_change_feed(known)] == ["edos.dialogues"]
