"""The jars of local sessions, fetched once so that sessions start without a network."""

import hashlib
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from conf.errors import InputError

PACKAGES = (
    "io.delta:delta-spark_2.12:3.3.3",
    "com.johnsnowlabs.nlp:spark-nlp_2.12:5.5.3",
)
# Spark NLP has no build for Scala 2.13.
PACKAGES_OF_SPARK_4 = ("io.delta:delta-spark_4.1_2.13:4.4.0",)
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


def packages() -> tuple[str, ...]:
    """Return the Maven coordinates of the jars for the installed pyspark."""
    return PACKAGES_OF_SPARK_4 if int(version("pyspark").partition(".")[0]) >= 4 else PACKAGES


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


def archive_path(home: Path) -> Path:
    """Return the path of the class archive for a Java, beside the jars: another Java cannot read it."""
    return jar_folder() / f"classes-{_identity(home)}.jsa"


def base_archive(home: Path) -> Path | None:
    """Return the path of the archive of a Java's own classes; None for a Java that brings one, as most do."""
    brought = home / "lib" / "server" / "classes.jsa"
    return None if brought.is_file() else jar_folder() / f"java-{_identity(home)}.jsa"


def archive_options(home: Path) -> str:
    """Return the options of a local session: a log of errors alone, and the archive if there is one."""
    path = archive_path(home)
    log = f'"-Dlog4j2.configurationFile={files("conf").joinpath("log4j2.properties")}"'
    base = base_archive(home)
    if not path.is_file() or (base is not None and not base.is_file()):
        return log
    archives = f"{base}:{path}" if base is not None else str(path)
    return f"{log} -XX:SharedArchiveFile={archives} -Xlog:cds=off -Xlog:cds+dynamic=off"


def _identity(home: Path) -> str:
    release = home / "release"
    content = release.read_bytes() if release.is_file() else str(home).encode()
    return hashlib.sha256(content).hexdigest()[:8]
