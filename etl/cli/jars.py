"""Fetch the jars of local sessions from Maven Central."""

import csv
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from conf.errors import InputError
from etl.pipeline.jars import EXCLUDED, PACKAGES_OF_SPARK_4, jar_folder, packages
from etl.pipeline.outside_files import file_digest

MARKER = "resolved.txt"
"""File beside the jars with the packages that they were resolved from."""


def fetch_jars(java_homes: Sequence[Path]) -> int:
    """Resolve the packages with Spark's resolver and store the jars; return their number.

    Args:
        java_homes: of Javas that may run the resolver; the next one is tried where one reaches no server.

    Raises:
        InputError: none of them fetches all jars, or a jar is not the pinned one.
    """
    target = jar_folder()
    marker = target / MARKER
    wanted = "\n".join((*packages(), *EXCLUDED))
    if marker.is_file() and marker.read_text() == wanted:
        return len(list(target.glob("*.jar")))
    *others, last = java_homes
    for home in others:
        with suppress(UnfetchedError):
            return _fetched(home, target, wanted)
    return _fetched(last, target, wanted)


class UnfetchedError(InputError):
    """Jars that no server gave."""


def _fetched(java_home: Path, target: Path, wanted: str) -> int:
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
            env=os.environ | {"JAVA_HOME": str(java_home), "SPARK_LOCAL_IP": "127.0.0.1"},
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
