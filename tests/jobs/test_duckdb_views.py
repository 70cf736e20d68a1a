"""Every view of a finished lakehouse has the same columns and rows in Spark and in DuckDB."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.settings import load_settings
from conf.taxonomy import load_taxonomy
from etl.pipeline.lakehouse import Lakehouse
from etl.publishing.views import all_views
from etl.publishing.without_spark import connect
from tests.both_engines import difference


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
        frame = spark.table(name)
        if unequal := difference(frame.columns, frame.collect(), columns, answer.fetchall()):
            found[name] = unequal
    assert {"edos.turns", "analysis.films", "analysis.edos_table_3"} <= there
    duck.close()
    return found


@pytest.mark.slow
def test_all_views_have_the_same_rows_in_both_engines(spark: SparkSession, finished: Path) -> None:
    assert differences(spark, str(finished)) == {}
