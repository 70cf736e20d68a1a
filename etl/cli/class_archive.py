"""An archive of the classes that Spark and Delta load, so that a local session starts in half the time.

Java's class-data sharing: ``edos-lakehouse fetch-jars`` (``make install``) runs a small session once and keeps what it
loaded beside the jars. Another Java, or other jars, leave the archive unread.
"""

import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from etl.pipeline.jars import archive_path, base_archive
from etl.pipeline.spark_api import gateway

_RUN = "from etl.cli.class_archive import load_classes; import sys; load_classes(*sys.argv[1:])"
_SECONDS = 300


def make_archive(home: Path) -> bool:
    """Run a small session in a process of its own and archive its classes; returns whether Java could.

    Args:
        home: of the Java that sessions use.
    """
    path = archive_path(home)
    path.unlink(missing_ok=True)
    base = base_archive(home)
    if base is not None:
        base.unlink(missing_ok=True)
        dump = [str(home / "bin" / "java"), "-Xshare:dump", f"-XX:SharedArchiveFile={base}"]
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(dump, capture_output=True, timeout=_SECONDS, check=False)
        if not base.is_file():
            return False
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _RUN, folder, str(path), *([str(base)] if base is not None else [])]
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    return path.is_file()


def load_classes(folder: str, archive: str, base: str | None = None) -> None:
    """Use a session as stages do, and end its Java, which then writes the archive.

    Args:
        folder: an empty one, for tables.
        archive: the file to write.
        base: the archive of Java's own classes, if Java brings none.
    """
    from py4j.protocol import Py4JError
    from pyspark.sql import functions as F

    from conf.settings import load_settings
    from etl.pipeline.lakehouse import Lakehouse
    from etl.pipeline.ledger import Ledger
    from etl.pipeline.session import spark_session
    from etl.tables.model import Table

    own = f"-XX:SharedArchiveFile={base} " if base else ""
    options = {
        "lakehouse.root": folder,
        "spark.conf.spark.driver.extraJavaOptions": f"{own}-XX:ArchiveClassesAtExit={archive}",
    }
    settings = load_settings("local", [], options)
    spark = spark_session(settings)
    lakehouse = Lakehouse(spark, settings.lakehouse)
    table = Table("trial.numbers", "A number.", "n bigint, name string", ("n",), {"n_not_negative": "n >= 0"})
    numbers = spark.range(100).select(F.col("id").alias("n"), F.col("id").cast("string").alias("name"))
    mapped = numbers.mapInArrow(lambda batches: batches, "n bigint, name string")
    lakehouse.replace(table, mapped, {})
    lakehouse.append(table, numbers.withColumn("n", F.col("n") + 100), {}, "once")
    lakehouse.delete(table, "n > 150", {})
    lakehouse.delete_keys(table, numbers.select("n").where("n < 10"), "n", {})
    lakehouse.identity(table)
    Ledger(lakehouse, "a stage").units().join(numbers, F.col("work_key") == F.col("name"), "left").count()
    lakehouse.read(table).groupBy("name").agg(F.count_distinct("n"), F.sum("n")).collect()
    java_side = gateway(spark, "making the archive of classes")
    java = java_side.proc
    spark.stop()
    try:
        java_side.jvm.System.exit(0)
    except (Py4JError, OSError):  # the connection ends before or after the answer
        java.wait(timeout=_SECONDS)
