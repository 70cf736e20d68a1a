"""A table of an older version of the project gets the columns that were added since."""

from pathlib import Path

from pyspark.sql import SparkSession

from conf.settings import LakehouseSettings
from etl.pipeline.lakehouse import Lakehouse
from etl.tables import Table

OLD = Table("ops.notes", "One note.", "id int, text string COMMENT 'what it says'", ("id",))
NEW = Table(
    "ops.notes", "One note.", "id int, text string, tags array<string> COMMENT 'the writer\\'s own', day date", ("id",)
)


def test_older_rows_have_null_in_added_columns(spark: SparkSession, tmp_path: Path) -> None:
    lakehouse = Lakehouse(spark, LakehouseSettings(root=str(tmp_path)))
    lakehouse.append(OLD, spark.createDataFrame([(1, "a")], OLD.schema), {})
    before = lakehouse.identity(OLD)
    (row,) = lakehouse.read(NEW).collect()
    assert row.asDict() == {"id": 1, "text": "a", "tags": None, "day": None}
    lakehouse.ensure(NEW)
    assert Lakehouse(spark, LakehouseSettings(root=str(tmp_path))).identity(NEW) == before
    lakehouse.append(NEW, spark.createDataFrame([(2, "b", ["x"], None)], NEW.schema), {})
    rows = {row["id"]: row["tags"] for row in spark.read.format("delta").load(lakehouse.path(NEW)).collect()}
    assert rows == {1: None, 2: ["x"]}
    fields = {field.name: field.metadata.get("comment") for field in lakehouse.read(NEW).schema}
    assert fields["tags"] == "the writer's own"
