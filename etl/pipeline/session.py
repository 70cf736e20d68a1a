"""Create the Spark session of a run from its settings."""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkConf
from pyspark.sql import SparkSession

from conf.settings import Settings
from etl.pipeline.jars import archive_options, class_path
from etl.pipeline.java_homes import java_home, machine_java
from etl.pipeline.java_names import remember_java_names
from etl.pipeline.local_environment import LOOPBACK, take_local_environment
from etl.pipeline.spark_api import (
    GPUS_OF_EXECUTOR,
    GPUS_OF_TASK,
    PARALLELISM,
    add_packages,
    gpu_share,
    is_local,
    show_errors_only,
)

JAVA_OPTIONS = "spark.driver.extraJavaOptions"
DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
# What the rules rely on, wherever they run.
SEMANTICS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # Rows of parsed files take 155 KB each in Arrow; the defaults would need gigabytes of heap.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    "spark.sql.parquet.columnarReaderBatchSize": "64",
    # Opening a small file costs far less than reading 4 MB.
    "spark.sql.files.openCostInBytes": "65536",
    # Plans of persisted frames do not adapt: Spark describes each that does twice, and with it those that it reads, so
    # that the search for duplicates in the whole corpus took the driver minutes in place of seconds.
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "false",
}
# A Hive metastore that says nothing ends a run in minutes, not in half an hour.
METASTORE = {"spark.hadoop.hive.metastore.client.socket.timeout": "120"}
# Spark describes the plan of each query, again as it adapts, and keeps 1,000 descriptions for its UI. With our lists of
# words and views some have megabytes: they filled the heap of a driver with 1 GiB in the eighth stage.
CLUSTER = {"spark.sql.maxPlanStringLength": "50000"}
LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.databricks.delta.snapshotPartitions": "2",
    # A run has some hundred kinds of queries, and Delta's own come back at each commit: compiled once.
    "spark.sql.codegen.cache.maxEntries": "2000",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
    # A stack that overflows, or a full heap, ends the task, whose error says so, and not the process, which cannot.
    "spark.executor.killOnFatalError.depth": "0",
    # How far a task is becomes known by it.
    "spark.executor.heartbeatInterval": "2s",
    # After a machine has slept, its only executor would count as lost, and a page of errors be printed.
    "spark.network.timeout": "24h",
    # Descriptions of plans for a UI that is off.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "2000",
    "spark.sql.debug.maxToStringFields": "1",
    # Whatever the machine calls itself, and whether that name resolves.
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    JAVA_OPTIONS: "-Ddelta.log.cacheSize=20 -XX:+UseParallelGC",
}
# On tiny tables generated code took two fifths of the driver's time, and the descriptions of adaptive plans up to 85 %.
SHORT = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
    # A broadcast is a job of its own; tables of one partition are joined without an exchange.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    JAVA_OPTIONS: f"{LOCAL[JAVA_OPTIONS]} -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m",
}


def spark_configuration(settings: Settings) -> dict[str, str]:
    """Return the Spark configuration of the settings."""
    spark = settings.spark
    conf = SEMANTICS | METASTORE
    if spark.set_runtime:
        conf |= DELTA
    conf |= (LOCAL | (SHORT if spark.short_session else {})) if spark.local else CLUSTER
    if spark.bundled_jars:
        conf |= {"spark.driver.extraClassPath": class_path(), "spark.executor.extraClassPath": class_path()}
    if spark.driver_memory:
        conf["spark.driver.memory"] = spark.driver_memory
    if spark.parallelism:
        conf[PARALLELISM] = str(spark.parallelism)
    if spark.shuffle_partitions:
        conf["spark.sql.shuffle.partitions"] = str(spark.shuffle_partitions)
    conf |= spark.conf
    if spark.local:
        given = conf.get(JAVA_OPTIONS, "")
        home = os.environ.get("JAVA_HOME")
        archived = spark.bundled_jars and home and "ArchiveClassesAtExit" not in given
        # Java does not read TMPDIR.
        scratch = "" if tempfile.gettempdir() == "/tmp" else f'"-Djava.io.tmpdir={tempfile.gettempdir()}"'
        options = (archive_options(Path(home)) if archived and home else "", scratch, given)
        conf[JAVA_OPTIONS] = " ".join(filter(None, options))
    return conf


def spark_session(settings: Settings, name: str = "edos-lakehouse") -> SparkSession:
    """Return the session of this run: a new local one, or the cluster's with our semantics set.

    Raises:
        InputError: a local session without fetched jars or without Java.
    """
    if settings.spark.set_runtime and SparkSession.getActiveSession() is None:
        print("starts Spark", file=sys.stderr, flush=True)  # which takes some seconds
    if settings.spark.local:
        take_local_environment(settings)
    elif machine_java() is None:
        os.environ["JAVA_HOME"] = str(java_home())
    builder = SparkSession.builder.appName(name)
    master = settings.spark.master
    remote = master is not None and master.startswith("sc://")
    if master:
        builder = builder.remote(master) if remote else builder.master(master)
    for key, value in (SEMANTICS if remote else spark_configuration(settings)).items():
        builder = builder.config(key, value)
    if settings.spark.set_runtime and not remote and not settings.spark.local:
        for key, value in shared_gpus(SparkConf(), settings.spark.conf).items():
            builder = builder.config(key, value)
    with _java_prints_on_stderr():
        session = builder.getOrCreate()
    if remote and settings.spark.parallelism:
        session.conf.set(PARALLELISM, str(settings.spark.parallelism))
    show_errors_only(session)
    remember_java_names(session)
    _ship_packages(session)
    return session


def shared_gpus(submitted: SparkConf, own: Mapping[str, str]) -> dict[str, str]:
    """Return the part of a GPU that a task takes, where executors have GPUs and nothing says what tasks take.

    Without it Spark gives the tasks no GPU. A training and a language model take a whole one:
    they are submitted with ``spark.task.resource.gpu.amount`` set to 1.

    Args:
        own: ``spark.conf`` of the settings.
    """
    (gpus, of_task, own_cores) = (
        own.get(key) or submitted.get(key, "") for key in (GPUS_OF_EXECUTOR, GPUS_OF_TASK, "spark.executor.cores")
    )
    if not gpus or not int(gpus) or of_task or not own_cores:
        return {}
    return {GPUS_OF_TASK: f"{gpu_share(int(gpus), int(own_cores)):.6f}"}


@contextmanager
def _java_prints_on_stderr() -> Iterator[None]:
    """Give a process that starts inside the block the standard error as its output.

    Java, Spark and Ivy print notes there, for as long as their process lives. The output is for what a command prints.
    """
    try:
        sys.stdout.flush()
        known = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # a process without these files
        yield
        return
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(known, 1)
        os.close(known)


@contextmanager
def configured(session: SparkSession, key: str, value: str) -> Iterator[None]:
    """Set a configuration key of the session inside the block; restore it after."""
    before = session.conf.get(key, None)
    session.conf.set(key, value)
    try:
        yield
    finally:
        session.conf.unset(key) if before is None else session.conf.set(key, before)


def close_session(session: SparkSession, settings: Settings) -> None:
    """Stop the session, unless it belongs to a runtime that shares it with other tasks."""
    if settings.spark.set_runtime:
        session.stop()


def _ship_packages(session: SparkSession) -> None:
    """Send the four packages to a cluster's workers when the driver runs from a source tree.

    An installed wheel and ``--py-files`` reach the workers by themselves.
    """
    root = Path(__file__).resolve().parents[2]
    if is_local(session) or not (root / "pyproject.toml").is_file():
        return
    folder = Path(tempfile.mkdtemp(prefix="edos-lakehouse-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for package in ("conf", "etl", "jobs", "udfs"):
        shutil.copytree(root / package, folder / "tree" / package, ignore=shutil.ignore_patterns("__pycache__"))
    add_packages(session, shutil.make_archive(str(folder / "packages"), "zip", folder / "tree"))
