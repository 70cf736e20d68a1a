"""Every view of a finished lakehouse has the same columns and rows in Spark and in DuckDB."""

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conf.settings import load_settings
from conf.taxonomy import load_taxonomy
from etl.pipeline.lakehouse import Lakehouse
from etl.publishing.views import all_views
from etl.publishing.without_spark import connect

SMALL = re.compile(r"\d\.\d+E-\d+")
DIGITS = 4
"""Decimals that are compared: views round to four, and the engines round halves of doubles differently."""


def plain(value: Any) -> Any:
    """A value as both engines can have it: numbers as floats, rows as lists of their values, sets in order."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float) or hasattr(value, "quantize"):
        return round(float(value), DIGITS)
    if hasattr(value, "asDict"):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return [plain(one) for one in value.values()]
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    # Within texts, Spark writes 0.0005 as 5.0E-4.
    return SMALL.sub(lambda found: f"{float(found[0]):.6f}".rstrip("0"), str(value))


def close(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 2 * 10**-DIGITS * max(1.0, abs(one)) or (one != one and other != other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    return bool(one == other)


def differences(spark: SparkSession, root: str) -> dict[str, str]:
    """What differs, by view; views that are left out in both engines are not named."""
    views = all_views(load_taxonomy("edos"))
    lakehouse = Lakehouse(spark, load_settings("local", [], {"lakehouse.root": root}).lakehouse)
    lakehouse.register(views)
    schemas = {name.split(".")[0] for name in views}
    there = {
        f"{row.namespace}.{row.viewName}"
        for schema in schemas
        for row in spark.sql(f"SHOW VIEWS IN {schema}").collect()
    }
    duck = connect(root)
    found = {}
    for name in views:
        if name not in there:
            continue
        answer = duck.execute(f"SELECT * FROM {name}")
        columns = [one[0] for one in answer.description]
        theirs = [plain(row) for row in answer.fetchall()]
        frame = spark.table(name)
        ours = [plain(row) for row in frame.collect()]
        if columns != frame.columns:
            found[name] = f"columns {frame.columns} in Spark, {columns} in DuckDB"
        elif len(ours) != len(theirs):
            found[name] = f"{len(ours)} rows in Spark, {len(theirs)} in DuckDB"
        else:
            pairs = zip(sorted(ours, key=str), sorted(theirs, key=str), strict=True)
            unequal = [(one, other) for one, other in pairs if not close(one, other)]
            if unequal:
                found[name] = f"{len(unequal)} of {len(ours)} rows differ, such as {unequal[0]}"
    assert {"edos.turns", "analysis.films", "analysis.edos_table_3"} <= there
    duck.close()
    return found


@pytest.mark.slow
def test_all_views_have_the_same_rows_in_both_engines(spark: SparkSession, finished: Path) -> None:
    assert differences(spark, str(finished)) == {}
