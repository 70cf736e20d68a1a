"""The uses of Spark that its DataFrame interface does not have, each with what Spark Connect has instead.

No other module touches ``sparkContext``, ``_jvm``, ``_jsc`` or the gateway to Java: Spark Connect, which serverless and
shared clusters of Databricks speak, has none of them. What cannot work there raises an InputError that names it.
"""

import logging
import math
import sys
from collections.abc import Callable
from functools import lru_cache, partial, reduce
from pathlib import Path
from socketserver import BaseServer
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from conf.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

GPUS_OF_TASK = "spark.task.resource.gpu.amount"
GPUS_OF_EXECUTOR = "spark.executor.resource.gpu.amount"
MOST_EXECUTORS = "spark.dynamicAllocation.maxExecutors"
PARALLELISM = "spark.lakehouse.parallelism"
"""The session's copy of the setting ``spark.parallelism``, for what has the session alone."""
_NO_LIMIT = 2**31 - 1
"""The value by which Spark and its vendors say that nothing limits the executors."""
_COUNTED = 4_096


def is_connect(spark: SparkSession) -> bool:
    """Return whether a session is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def is_frame(value: object) -> TypeGuard[DataFrame]:
    """Return whether a value is a DataFrame, of Spark Connect or not."""
    return isinstance(value, DataFrame) or type(value).__module__.startswith("pyspark.sql.connect.dataframe")


def is_local(spark: SparkSession) -> bool:
    """Return whether Spark runs in the driver's own Java process."""
    return not is_connect(spark) and str(spark.sparkContext.master).startswith("local")


def cores(spark: SparkSession) -> int:
    """Return how many tasks run at once where the cluster has all its executors.

    The setting ``spark.parallelism`` says it, or a local session's cores, or the limits of the cluster (see
    `limit_of_tasks`), or the executors that are there. Over Connect it is the number of partitions of a range.

    Raises:
        InputError: the cluster grows without a limit.
    """
    known = spark.conf.get(PARALLELISM, None)
    if known is not None:
        return int(known)
    if is_connect(spark):
        return _partitions_of_a_range(spark)
    if not is_local(spark):
        limit = limit_of_tasks(spark.conf.get)
        if limit is not None:
            return limit
        spark.range(1).count()  # it waits for the first executor
    return int(spark.sparkContext.defaultParallelism)


def limit_of_tasks(conf: Callable[[str, str], str | None]) -> int | None:
    """Return how many tasks run at once when a cluster has all the executors that its configuration allows.

    Executors that are idle go, and come back when there is work. How many are there at a moment says nothing.

    Args:
        conf: the session's ``conf.get``.

    Returns:
        None where only the executors that are there can tell: without dynamic allocation and a number of executors.

    Raises:
        InputError: executors are allocated dynamically, and nothing limits them.
    """
    if given := conf("spark.default.parallelism", ""):
        return int(given)
    own = conf("spark.executor.cores", "")
    manager = str(conf("spark.master", "")).partition(":")[0]
    per_executor = int(own) if own else 1 if manager in ("yarn", "k8s") else None
    most = _most_executors(conf)
    total = int(conf("spark.cores.max", "") or 0)
    if per_executor is None or most is None:
        if total:
            return max(1, total // int(conf("spark.task.cpus", "1") or 1))
        if _dynamic(conf):
            missing = MOST_EXECUTORS if most is None else "spark.executor.cores"
            raise InputError(
                "how many tasks will run at once is not known, because executors are allocated dynamically and "
                f"{missing} is not set: set it for spark-submit, or spark.parallelism to the number of tasks"
            )
        return None
    tasks = most * tasks_of_executor(conf, per_executor)
    return max(1, min(tasks, total // int(conf("spark.task.cpus", "1") or 1)) if total else tasks)


def tasks_of_executor(conf: Callable[[str, str], str | None], own_cores: int) -> int:
    """Return how many tasks an executor with so many cores runs at once, by its cores and by its GPUs."""
    by_cores = own_cores // int(conf("spark.task.cpus", "1") or 1)
    gpus = float(conf(GPUS_OF_EXECUTOR, "0") or 0)
    of_task = gpus_of_task(conf)
    if not gpus or not of_task:
        return max(1, by_cores)
    by_gpus = int(gpus) * int(1 / of_task) if of_task < 1 else int(gpus // of_task)
    return max(1, min(by_cores, by_gpus))


def _dynamic(conf: Callable[[str, str], str | None]) -> bool:
    return conf("spark.dynamicAllocation.enabled", "false") == "true"


def _most_executors(conf: Callable[[str, str], str | None]) -> int | None:
    """Return how many executors the cluster gives this session at most; None: nothing says it."""
    if not _dynamic(conf):
        given = conf("spark.executor.instances", "")
        return int(given) if given else None
    given = conf(MOST_EXECUTORS, "")
    return int(given) if given and int(given) < _NO_LIMIT else None


def gpu_share(gpus: int, own_cores: int) -> float:
    """Return the part of a GPU that a task takes so that tasks on all cores of an executor share its GPUs.

    A small encoder on an H100 with 16 cores scored 2,500 turns a second with one task a GPU, 8,470 with four, and
    15,611 with sixteen, because a task waits for its own Python most of the time.
    """
    # Rounded down: with 0.166667 Spark lets five tasks share a GPU, not six.
    return 1.0 if gpus >= own_cores else math.floor(1_000_000 / math.ceil(own_cores / gpus)) / 1_000_000


def gpus_of_task(conf: Callable[[str, str], str | None]) -> float:
    """Return the number of GPUs of a Spark task, given the session's ``conf.get``; 0 where it is not set."""
    return float(conf(GPUS_OF_TASK, "0") or 0)


@lru_cache(maxsize=8)
def _partitions_of_a_range(spark: SparkSession) -> int:
    return int(spark.range(_COUNTED).selectExpr("spark_partition_id() AS part").distinct().count())


def is_delta_table(spark: SparkSession, path: str) -> bool:
    """Return whether a folder is a Delta table; over Connect, whether Delta can describe it."""
    if is_local(spark) and path.startswith("/"):
        return any(Path(path, "_delta_log").glob("[0-9]*.*"))
    if not is_connect(spark):
        from delta.tables import DeltaTable

        return DeltaTable.isDeltaTable(spark, path)
    try:
        spark.sql(f"DESCRIBE DETAIL delta.`{path}`").collect()
    except Exception as error:
        if "DELTA_MISSING_DELTA_TABLE" in str(error) or "DELTA_PATH_DOES_NOT_EXIST" in str(error):
            return False
        if "DELTA_TABLE_NOT_FOUND" in str(error) or "is not a Delta table" in str(error):
            return False
        raise
    return True


def show_errors_only(spark: SparkSession) -> None:
    """Set the log's level to ERROR; over Connect the log is the server's.

    A connection that ends with the Java process prints no traceback of its own: the run tells that loss in one line.
    """
    if not is_connect(spark):
        spark.sparkContext.setLogLevel("ERROR")
        server: Any = spark.sparkContext._accumulatorServer  # type: ignore[attr-defined]
        server.handle_error = partial(_print_unless_ended, server)
        logging.getLogger().addFilter(_not_of_a_lost_connection)  # py4j logs it there, with two tracebacks


def _print_unless_ended(server: BaseServer, request: Any, client_address: Any) -> None:
    if not isinstance(sys.exc_info()[1], EOFError | ConnectionError):
        BaseServer.handle_error(server, request, client_address)


def _not_of_a_lost_connection(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], Py4JNetworkError))


def cached(frame: DataFrame, level: StorageLevel = StorageLevel.MEMORY_AND_DISK_DESER) -> DataFrame:
    """Persist a frame and return it as a leaf of later plans.

    What is built on the frame is then analysed without the plan that made it: joins of a persisted frame with itself
    took two thirds of the time to plan the cleaning of dialogues. Over Connect, where Java's names are closed (shared
    clusters), and for sorted frames it is the persisted frame itself. ``clearCache`` frees it, ``unpersist`` does not.
    """
    frame = frame.persist(level)
    if is_connect(frame.sparkSession):
        return frame
    try:
        made = frame._jdf
        # pyspark 4 has the class in another package.
        java_name = made.getClass().getName().split(".")
        companion: Any = reduce(getattr, java_name, frame.sparkSession._jvm)
        plan = made.queryExecution().withCachedData()
        if not plan.outputOrdering().isEmpty():  # Spark fails to join such a leaf with itself
            return frame
        return DataFrame(companion.ofRows(made.sparkSession(), plan), frame.sparkSession)
    except Py4JError:
        return frame


def arrow_table(rows: DataFrame, schema: StructType) -> "pa.Table":
    """Return the rows, which fit into the driver, in Arrow with the types of ``schema``."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    wanted = to_arrow_schema(schema)
    from_pyspark_4: Any = getattr(type(rows), "toArrow", None)
    if from_pyspark_4 is not None:
        return from_pyspark_4(rows).cast(wanted)
    batches = rows._collect_as_arrow()
    return pa.Table.from_batches(batches).cast(wanted) if batches else wanted.empty_table()


def add_packages(spark: SparkSession, archive: str) -> None:
    """Put a zip of Python packages on the workers' path."""
    if is_connect(spark):
        spark.addArtifacts(archive, pyfile=True)
    else:
        spark.sparkContext.addPyFile(archive)


class TaskCounts(NamedTuple):
    """The tasks of the running stages of Spark: those that are done, all, and those that executors work on now."""

    done: int
    tasks: int
    at_work: int


def running_tasks(spark: SparkSession) -> TaskCounts:
    """Return the tasks of the running stages; none over Connect."""
    if is_connect(spark):
        return TaskCounts(0, 0, 0)
    tracker = spark.sparkContext.statusTracker()
    found = [one for number in tracker.getActiveStageIds() if (one := tracker.getStageInfo(number)) is not None]
    return TaskCounts(
        sum(one.numCompletedTasks for one in found),
        sum(one.numTasks for one in found),
        sum(one.numActiveTasks for one in found),
    )


def cancel_tasks(spark: SparkSession) -> None:
    """End the running jobs of a session; their callers get an error. Errors as of `java`."""
    _context(spark, "cancelling jobs").cancelAllJobs()


def lost_executor(spark: SparkSession) -> str | None:
    """Return where the executor was that was lost last, and what Spark says of the reason, in one line.

    None if none was lost, over Connect, and where Java's names are closed.
    """
    if is_connect(spark):
        return None
    try:
        found = spark.sparkContext._jsc.sc().statusStore().executorList(False)
        executors = [found.apply(place) for place in range(found.size())]
        lost = [one for one in executors if one.removeReason().isDefined()]
        if not lost:
            return None
        last = max(lost, key=lambda one: int(one.removeTime().get().getTime()))
        reason = " ".join(str(last.removeReason().get()).split())
        return f"executor {last.id()} on {last.hostPort()}: {reason[:500]}"
    except Py4JError:
        return None


def task_seconds(spark: SparkSession) -> float | None:
    """Return the seconds that the session's tasks have taken so far, all executors together.

    None over Connect, and where Java's names are closed. ``executorList`` would not do: in a local session it gives the
    session's age.
    """
    if is_connect(spark):
        return None
    try:
        kind = java(spark, "tasks").java.lang.Class.forName("org.apache.spark.status.ExecutorSummaryWrapper")
        found = spark.sparkContext._jsc.sc().statusStore().store().view(kind).closeableIterator()
        milliseconds = 0
        while found.hasNext():
            milliseconds += found.next().info().totalDuration()
        found.close()
    except Py4JError:
        return None
    return milliseconds / 1000


def java(spark: SparkSession, purpose: str) -> Any:
    """Return the Java names of a session.

    Raises:
        InputError: the session is one of Spark Connect, which has none.
    """
    return _context(spark, purpose)._jvm


def hadoop_configuration(spark: SparkSession, purpose: str) -> Any:
    """Return Hadoop's configuration as a Java object; errors as of `java`."""
    return _context(spark, purpose)._jsc.hadoopConfiguration()


def master(spark: SparkSession, purpose: str) -> str:
    """Return the cluster's address; errors as of `java`."""
    return str(_context(spark, purpose).master)


def _context(spark: SparkSession, purpose: str) -> Any:
    if is_connect(spark):
        raise InputError(f"{purpose} cannot run over Spark Connect: submit it to a cluster with dedicated access")
    return spark.sparkContext
