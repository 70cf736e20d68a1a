"""Files that a stage writes for people: whole or not at all, and not again when nothing has changed."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from conf.settings import Settings


def export_folder(settings: Settings, named: str | None, name: str) -> str:
    """The folder that a setting names, or one beside the tables."""
    return named.rstrip("/") if named is not None else f"{settings.lakehouse.root.rstrip('/')}/{name}"


def write_files(spark: SparkSession, folder: str, contents: Mapping[str, str]) -> list[tuple[str, str, int, str]]:
    """Write texts into a folder, local or any that Spark's file systems know; (name, path, bytes, sha256) of each."""
    written = []
    for name, text in sorted(contents.items()):
        content = text.encode()
        path = f"{folder}/{name}"
        if ":" in folder:
            _write_by_hadoop(spark, path, content)
        else:
            path = str(Path(path).resolve())
            _write_locally(Path(path), content)
        written.append((name, path, len(content), hashlib.sha256(content).hexdigest()))
    return written


def _write_locally(path: Path, content: bytes) -> None:
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_bytes(content)
    unfinished.replace(path)


def _write_by_hadoop(spark: SparkSession, path: str, content: bytes) -> None:
    java: Any = spark._jvm
    target = java.org.apache.hadoop.fs.Path(path)
    system = target.getFileSystem(spark._jsc.hadoopConfiguration())  # type: ignore[attr-defined]
    unfinished = java.org.apache.hadoop.fs.Path(f"{path}.unfinished")
    stream = system.create(unfinished, True)
    try:
        stream.write(bytearray(content))
    finally:
        stream.close()
    system.delete(target, False)
    system.rename(unfinished, target)
