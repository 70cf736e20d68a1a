"""One module touches what Spark Connect does not have, and says by name what cannot work there."""

import ast
from pathlib import Path
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from conf.errors import InputError
from etl.common import spark_api
from etl.pipeline.folders import Folders

REPOSITORY = Path(__file__).resolve().parents[2]
CLASSIC = {"sparkContext", "_jvm", "_jsc", "_gateway", "_sc", "_jdf", "_jsparkSession", "rdd"}


def attributes(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_no_other_module_touches_java_or_the_context() -> None:
    files = [path for package in ("conf", "etl", "jobs", "udfs") for path in (REPOSITORY / package).rglob("*.py")]
    found = {path.relative_to(REPOSITORY).as_posix(): CLASSIC & attributes(path) for path in files}
    assert {name for name, used in found.items() if used} == {"etl/common/spark_api.py"}
    own = {node for node in attributes(REPOSITORY / "etl/common/spark_api.py") if node in CLASSIC}
    assert own == {"sparkContext", "_jvm", "_jsc", "_gateway"}


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
    assert spark_api.running_tasks(REMOTE) == (0, 0) and not spark_api.is_local(REMOTE)
    spark_api.show_errors_only(REMOTE)


def test_partitions_of_a_range_are_the_cores(spark: SparkSession) -> None:
    assert spark_api._partitions_of_a_range(spark) == spark_api.cores(spark) == spark.sparkContext.defaultParallelism
