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
    assert own == {"sparkContext", "_jvm", "_jsc", "_jdf"}


class Remote:
    """A session as far as its module tells that it is one of Spark Connect."""


Remote.__module__ = "pyspark.sql.connect.session"
REMOTE = cast(SparkSession, Remote())


def test_what_cannot_work_over_connect_says_so() -> None:
    with pytest.raises(InputError, match="files beside the tables cannot run over Spark Connect: submit it to a clust"):
        Folders(REMOTE)
    for use in (spark_api.java, spark_api.hadoop_configuration, spark_api.master):
        with pytest.raises(InputError, match="this cannot run over Spark Connect"):
            cast(Any, use)(REMOTE, "this")


def test_over_connect_progress_has_no_tasks_and_workers_are_elsewhere() -> None:
    assert spark_api.running_tasks(REMOTE) == (0, 0, 0)
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


def test_the_plan_of_a_persisted_frame_does_not_adapt(spark: SparkSession) -> None:
    adapts = "spark.sql.adaptive.enabled"
    before = spark.conf.get(adapts)
    assert before is not None
    spark.conf.set(adapts, "true")
    try:
        shuffled = spark.range(9).repartition(2, "id")
        assert shuffled._jdf.queryExecution().executedPlan().nodeName() == "AdaptiveSparkPlan"  # type: ignore[attr-defined]
        leaf = spark_api.cached(shuffled)._jdf.queryExecution().withCachedData()  # type: ignore[attr-defined]
        assert leaf.cachedPlan().nodeName() == "Exchange"
    finally:
        spark.conf.set(adapts, before)
        spark.catalog.clearCache()


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


def conf_of(values: dict[str, str]) -> Any:
    return lambda key, default: values.get(key, default)


DYNAMIC = {"spark.dynamicAllocation.enabled": "true", "spark.master": "yarn"}


@pytest.mark.parametrize(
    ("values", "tasks"),
    [
        ({"spark.executor.instances": "10", "spark.executor.cores": "4"}, 40),
        ({"spark.master": "yarn", "spark.executor.instances": "10"}, 10),
        ({"spark.master": "k8s://host:443", "spark.executor.instances": "3"}, 3),
        ({"spark.executor.instances": "10", "spark.executor.cores": "4", "spark.task.cpus": "2"}, 20),
        (DYNAMIC | {"spark.dynamicAllocation.maxExecutors": "50", "spark.executor.cores": "4"}, 200),
        (DYNAMIC | {"spark.dynamicAllocation.maxExecutors": "50", "spark.executor.instances": "2"}, 50),
        ({"spark.master": "spark://host:7077", "spark.cores.max": "64"}, 64),
        ({"spark.master": "spark://host:7077", "spark.cores.max": "64", "spark.task.cpus": "4"}, 16),
        (DYNAMIC | {"spark.master": "spark://host:7077", "spark.cores.max": "64"}, 64),
        ({"spark.executor.instances": "10", "spark.executor.cores": "8", "spark.cores.max": "16"}, 16),
        (DYNAMIC | {"spark.default.parallelism": "96"}, 96),
        ({"spark.master": "spark://host:7077"}, None),
        ({"spark.master": "spark://host:7077", "spark.executor.instances": "4"}, None),
    ],
)
def test_tasks_at_once_follow_from_the_limits_of_the_cluster(values: dict[str, str], tasks: int | None) -> None:
    assert spark_api.limit_of_tasks(conf_of(values)) == tasks


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (DYNAMIC, "spark.dynamicAllocation.maxExecutors"),
        (DYNAMIC | {"spark.dynamicAllocation.maxExecutors": str(2**31 - 1)}, "spark.dynamicAllocation.maxExecutors"),
        (
            DYNAMIC | {"spark.master": "spark://host:7077", "spark.dynamicAllocation.maxExecutors": "9"},
            "spark.executor.cores",
        ),
    ],
)
def test_a_cluster_that_grows_without_a_known_limit_is_refused_in_one_line(values: dict[str, str], named: str) -> None:
    with pytest.raises(InputError, match=r"how many tasks will run at once is not known") as refused:
        spark_api.limit_of_tasks(conf_of(values))
    assert f"{named} is not set" in str(refused.value)
    assert "spark.parallelism" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("cores", "gpus", "of_task", "tasks"),
    [
        (16, "1", "0.0625", 16),
        (16, "1", "0.25", 4),
        (16, "1", "1", 1),
        (16, "4", "2", 2),
        (4, "4", "1", 4),
        (8, "", "", 8),
    ],
)
def test_the_gpus_of_an_executor_limit_its_tasks(cores: int, gpus: str, of_task: str, tasks: int) -> None:
    values = {"spark.executor.resource.gpu.amount": gpus, "spark.task.resource.gpu.amount": of_task}
    assert spark_api.tasks_of_executor(conf_of(values), cores) == tasks


@pytest.mark.parametrize(
    ("gpus", "cores", "share"), [(1, 16, 1 / 16), (4, 16, 0.25), (3, 16, 0.166666), (8, 4, 1), (1, 1, 1)]
)
def test_all_cores_of_an_executor_share_its_gpus(gpus: int, cores: int, share: float) -> None:
    assert spark_api.gpu_share(gpus, cores) == share
    values = {"spark.executor.resource.gpu.amount": str(gpus), "spark.task.resource.gpu.amount": f"{share:.6f}"}
    assert spark_api.tasks_of_executor(conf_of(values), cores) == cores


def test_the_setting_says_how_many_tasks_run_at_once(spark: SparkSession) -> None:
    before = spark_api.cores(spark)
    spark.conf.set(spark_api.PARALLELISM, "7")
    try:
        assert spark_api.cores(spark) == 7
    finally:
        spark.conf.unset(spark_api.PARALLELISM)
    assert spark_api.cores(spark) == before == spark.sparkContext.defaultParallelism
