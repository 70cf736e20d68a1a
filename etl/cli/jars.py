"""Fetch the jars of local sessions from Maven Central, and archive their classes."""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from conf.errors import InputError
from etl.pipeline.jars import EXCLUDED, PACKAGES_OF_SPARK_4, archive_path, base_archive, jar_folder, packages
from etl.pipeline.java_homes import fits, java_home, machine_java
from etl.pipeline.outside_files import file_digest

MARKER = "resolved.txt"
"""File beside the jars with the packages that they were resolved from."""


def fetch_jars() -> int:
    """Resolve the packages with Spark's resolver and store the jars; return their number.

    The machine's own Java comes first: it knows the certificates of its network.

    Raises:
        InputError: no Java fetches all jars, or a jar is not the pinned one.
    """
    target = jar_folder()
    marker = target / MARKER
    wanted = "\n".join((*packages(), *EXCLUDED))
    if marker.is_file() and marker.read_text() == wanted:
        return len(list(target.glob("*.jar")))
    own = machine_java()
    if own is not None and fits(own):
        with suppress(UnfetchedError):
            return _fetched(own, target, wanted)
    return _fetched(java_home(), target, wanted)


class UnfetchedError(InputError):
    """An error that no server has some of the jars."""


def _fetched(home: Path, target: Path, wanted: str) -> int:
    """Fetch the jars with one Java to a folder, and return their number; ``wanted`` marks the folder as complete."""
    from pyspark.find_spark_home import _find_spark_home

    submit = Path(_find_spark_home()) / "bin" / "spark-submit"
    with tempfile.TemporaryDirectory() as ivy:
        finished = subprocess.run(
            [
                str(submit),
                "--master",
                "local[1]",
                "--packages",
                ",".join(packages()),
                "--exclude-packages",
                ",".join(EXCLUDED),
                "--conf",
                f"spark.jars.ivy={ivy}",
                "--class",
                "org.apache.spark.examples.None",
                "spark-internal",
            ],
            capture_output=True,
            text=True,
            env=os.environ | {"JAVA_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"},
        )
        jars = sorted(Path(ivy, "jars").glob("*.jar"))
        if packages() == PACKAGES_OF_SPARK_4:
            # Delta asks for older versions of libraries that Spark 4 brings, and Jackson refuses to be mixed.
            brought = {_artifact(jar) for jar in (Path(_find_spark_home()) / "jars").glob("*.jar")}
            jars = [jar for jar in jars if _artifact(jar).partition("_")[2] not in brought]
        if len(jars) < len(packages()):
            reason = [line for line in finished.stderr.splitlines() if "unresolved" in line.lower()]
            raise UnfetchedError(f"the jars could not be fetched: {reason[0].strip() if reason else 'no answer'}")
        require_pinned(jars)
        target.mkdir(parents=True, exist_ok=True)
        for old in (*target.glob("*.jar"), *target.glob("*.jsa")):
            old.unlink()
        for jar in jars:
            shutil.copy2(jar, target / jar.name)
    (target / MARKER).write_text(wanted)
    return len(jars)


def require_pinned(jars: Sequence[Path]) -> None:
    """Raise an InputError where a jar's sha256 is not the one in ``conf/jar_digests.csv``.

    The list has the jars for Spark 3.5. Of those for Spark 4 it has some; the others are taken as Maven Central gives
    them.

    Raises:
        InputError: it names the jar and both digests.
    """
    pinned = jar_digests()
    for jar in jars:
        found = file_digest(jar)
        wanted = pinned.get(jar.name)
        if wanted is None and packages() != PACKAGES_OF_SPARK_4:
            raise InputError(
                f"{jar.name} was fetched, and conf/jar_digests.csv does not list it: add it, or fetch again"
            )
        if wanted not in (None, found):
            raise InputError(
                f"{jar.name} has the sha256 {found}, conf/jar_digests.csv pins {wanted}: fetch it again from another "
                "network"
            )


def jar_digests() -> dict[str, str]:
    """Return the sha256 of each jar in ``conf/jar_digests.csv`` by file name."""
    with files("conf").joinpath("jar_digests.csv").open(encoding="utf-8") as lines:
        return {row["file"]: row["sha256"] for row in csv.DictReader(lines)}


def _artifact(jar: Path) -> str:
    """Return a jar's name without its version."""
    return re.split(r"-\d", jar.name, maxsplit=1)[0]


CLASSES = """
import sys
from pyspark.sql import functions as F
from conf.settings import load_settings
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.session import spark_session
from etl.pipeline.tables.model import Table

options = {"lakehouse.root": sys.argv[1], "spark.conf.spark.driver.extraJavaOptions": sys.argv[2]}
settings = load_settings("local", [], options)
spark = spark_session(settings)
lakehouse = Lakehouse(spark, settings.lakehouse)
table = Table("trial.numbers", "A number.", "n bigint, name string", ("n",), {"n_not_negative": "n >= 0"})
numbers = spark.range(100).select(F.col("id").alias("n"), F.col("id").cast("string").alias("name"))
lakehouse.replace(table, numbers.mapInArrow(lambda batches: batches, "n bigint, name string"), {})
lakehouse.append(table, numbers.withColumn("n", F.col("n") + 100), {}, "once")
lakehouse.delete(table, "n > 150", {})
lakehouse.delete_keys(table, numbers.select("n").where("n < 10"), "n", {})
lakehouse.read(table).groupBy("name").agg(F.count_distinct("n"), F.sum("n")).collect()
spark.stop()
"""
"""A session used as stages do; Java writes the archive when it ends, after Python."""


def make_archive(home: Path) -> bool:
    """Archive the classes that a small session loads, so that sessions start in half the time (class-data sharing).

    Args:
        home: of the Java that sessions use; another one does not read the archive.

    Returns:
        Whether there is an archive now.
    """
    path = archive_path(home)
    if path.is_file():
        return True
    base = base_archive(home)
    if base is not None:
        dump = [str(home / "bin" / "java"), "-Xshare:dump", f"-XX:SharedArchiveFile={base}"]
        subprocess.run(dump, capture_output=True, check=False)
    with tempfile.TemporaryDirectory() as folder:
        options = [f"-XX:SharedArchiveFile={base}"] if base is not None else []
        options.append(f"-XX:ArchiveClassesAtExit={path}")
        subprocess.run([sys.executable, "-c", CLASSES, folder, " ".join(options)], capture_output=True, check=False)
    return path.is_file()
