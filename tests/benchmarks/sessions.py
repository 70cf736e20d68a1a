"""Local Spark sessions for the benchmarks, as the local profile makes them."""

import os
from pathlib import Path

from pyspark.sql import SparkSession

from conf.settings import Settings, load_settings
from etl.pipeline.session import spark_session


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


def local_session(folder: Path, number: int | None = None) -> tuple[SparkSession, Settings]:
    """A session on so many cores (default: all) with its lakehouse under a folder, and its settings."""
    overrides = {"spark.master": f"local[{number or cores()}]", "lakehouse.root": str(folder / "lakehouse")}
    settings = load_settings("local", [], overrides)
    return spark_session(settings, "benchmarks"), settings
