"""Read the log of a Delta table that is in no catalog, without a Spark job."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from conf.places import is_uri
from etl.pipeline.folders import Folders
from etl.pipeline.spark_api import is_connect

DATA_CHANGES = (
    "WRITE",
    "DELETE",
    "UPDATE",
    "MERGE",
    "TRUNCATE",
    "RESTORE",
    "COPY INTO",
    "CLONE",
    "STREAMING UPDATE",
    "CREATE TABLE",
    "CREATE OR REPLACE TABLE",
    "REPLACE TABLE",
    "CREATE TABLE AS SELECT",
    "CREATE OR REPLACE TABLE AS SELECT",
    "REPLACE TABLE AS SELECT",
)
"""Operations that change data, as ``DESCRIBE HISTORY`` names them."""
_COMMIT = re.compile(r"^(\d{20})\.json$")


class DamagedLogError(ValueError):
    """An error that a table's log cannot be read: exit status 1."""


def last_data_change(spark: SparkSession, path: str) -> tuple[str, int] | None:
    """Return a table's id and the version of its newest commit by one of ``DATA_CHANGES``.

    Args:
        path: the table's URI or absolute local path.

    Returns:
        None where the log's first commits are gone, where a commit names no operation, or over Connect in a store.
    """
    if is_uri(path) and is_connect(spark):
        return None
    log = f"{path.rstrip('/')}/_delta_log"
    commits = {int(found[1]): name for name in _names(spark, log) if (found := _COMMIT.match(name))}
    if 0 not in commits:
        return None
    table_id = next((line["metaData"]["id"] for line in _lines(spark, f"{log}/{commits[0]}") if "metaData" in line), "")
    for version in sorted(commits, reverse=True):
        infos = (line["commitInfo"] for line in _lines(spark, f"{log}/{commits[version]}") if "commitInfo" in line)
        about: dict[str, Any] | None = next(infos, None)
        if about is None or "operation" not in about:
            return None
        if about["operation"] in DATA_CHANGES:
            return table_id, version
    return None


def _names(spark: SparkSession, folder: str) -> list[str]:
    if is_uri(folder):
        return [entry.name for entry in Folders(spark).entries(folder)]
    return [entry.name for entry in Path(folder).iterdir()] if Path(folder).is_dir() else []


def _lines(spark: SparkSession, path: str) -> Iterator[dict[str, Any]]:
    """Yield the actions of a commit lazily; ``commitInfo`` comes first."""
    if is_uri(path):
        yield from (json.loads(line) for line in (Folders(spark).read_text(path) or "").splitlines())
        return
    with Path(path).open(encoding="utf-8") as commit:
        yield from map(json.loads, commit)
