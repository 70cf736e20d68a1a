"""One module touches what Spark Connect does not have, and says by name what cannot work there."""

import ast
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.pipeline import spark_api
from etl.pipeline.folders import Folders

REPOSITORY = Path(__file__).resolve().parents[2]
CLASSIC = {"sparkContext", "_jvm", "_jsc", "_gateway", "_sc", "_jdf", "_jsparkSession", "rdd"}


def attributes(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_no_other_module_touches_java_or_the_context() -> None:
    files = [path for package in ("conf", "etl", "jobs", "udfs") for path in (REPOSITORY / package).rglob("*.py")]
    found = {path.relative_to(REPOSITORY).as_posix(): CLASSIC & attributes(path) for path in files}
    assert {name for name, used in found.items() if used} == {"etl/pipeline/spark_api.py"}
    own = {node for node in attributes(REPOSITORY / "etl/pipeline/spark_api.py") if node in CLASSIC}
    assert own == {"sparkContext", "_jvm", "_jsc", "_gateway", "_jdf"}


class Remote:
    """A session as far as its module tells that it is one of Spark Connect."""


Remote.__module__ = "pyspark.sql.connect.session"
REMOTE = cast(SparkSession, Remote())


def test_what_cannot_work_over_connect_says_so() -> None:
    with pytest.raises(InputError, match="files beside the tables cannot run over Spark Connect: submit it to a clust"):
        Folders(REMOTE)
    for use in (spark_api.java, spark_api.hadoop_configuration, spark_api.master, spark_api.gateway):
        with pytest.raises(InputError, match="this cannot run over Spark Connect"):
            cast(Any, use)(REMOTE, "this")


def test_over_connect_progress_has_no_tasks_and_workers_are_elsewhere() -> None:
    assert spark_api.running_tasks(REMOTE) == {}
    assert not spark_api.is_local(REMOTE)
    spark_api.show_errors_only(REMOTE)


def test_partitions_of_a_range_are_the_cores(spark: SparkSession) -> None:
    assert spark_api._partitions_of_a_range(spark) == spark_api.cores(spark) == spark.sparkContext.defaultParallelism


def test_a_cached_frame_is_a_leaf_with_the_same_rows(spark: SparkSession) -> None:
    numbers = spark.createDataFrame([(number,) for number in range(9)], "id bigint")
    made = numbers.selectExpr("id", "id % 3 AS part", "array(struct(id AS a, 'x' AS b)) AS nested")
    leaf = spark_api.cached(made)
    assert leaf.schema == made.schema
    assert leaf.collect() == made.collect()
    plan = leaf._jdf.queryExecution().analyzed()  # type: ignore[attr-defined]
    assert plan.getClass().getSimpleName() == "InMemoryRelation"
    own = leaf.alias("a").join(leaf.alias("b"), F.expr("a.id = b.part"))
    assert own.count() == 9
    assert own.select("a.id").distinct().count() == 3
    spark.catalog.clearCache()
    assert leaf.where("part = 1").count() == 3


def test_a_sorted_frame_is_persisted_and_joins_with_itself(spark: SparkSession) -> None:
    kept = spark_api.cached(spark.range(4).sort("id"))
    assert kept.is_cached
    assert kept.alias("a").join(kept.alias("b"), F.expr("a.id = b.id")).count() == 4
    spark.catalog.clearCache()


def test_a_frame_without_java_is_persisted(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise Py4JError("not whitelisted")

    frame = spark.range(3)
    monkeypatch.setattr(spark_api, "reduce", refuse)
    found = spark_api.cached(frame)
    assert found is frame
    assert found.is_cached
    assert found.count() == 3
    spark.catalog.clearCache()


def test_only_the_time_of_tasks_is_counted(spark: SparkSession) -> None:
    def slow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        time.sleep(0.4)
        yield from batches

    spark.range(2).count()  # a worker is there
    time.sleep(0.3)  # Spark publishes its figures ten times a second
    before = spark_api.task_seconds(spark)
    time.sleep(0.5)
    assert spark_api.task_seconds(spark) == before
    spark.range(1, numPartitions=1).mapInArrow(slow, "id long").collect()
    time.sleep(0.3)
    after = spark_api.task_seconds(spark)
    assert before is not None
    assert after is not None
    assert 0.4 <= after - before < 5.0
