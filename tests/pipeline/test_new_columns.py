"""A table that an earlier version of the project made gets the columns that were added since."""

from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.settings import load_settings
from etl.pipeline.lakehouse import Lakehouse
from etl.tables import TABLES

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
