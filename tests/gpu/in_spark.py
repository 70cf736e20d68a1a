"""Tasks of Spark that share a GPU: Spark gives each its part, and the product's own function embeds turns."""

import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conf.errors import InputError
from tests.gpu.checks import Bench, Check
from tests.gpu.models import turns
from tests.gpu.speeds import TASKS, cores

REPOSITORY = Path(__file__).resolve().parents[2]


def embedded_in_tasks(bench: Bench) -> Iterator[Check]:
    """Embed turns by 1, 4 and 16 tasks on the device; where Spark or Java is not there, say so."""
    try:
        from pyspark.find_spark_home import _find_spark_home

        from etl.pipeline.java_homes import java_home

        os.environ["JAVA_HOME"] = str(java_home())
    except (ModuleNotFoundError, InputError) as error:
        yield Check("tasks of Spark", f"left out: {error}")
        return
    if not any(Path(_find_spark_home(), "jars").glob("spark-core*")):
        yield Check("tasks of Spark", "left out: Spark has no jars here")
        return
    for tasks in TASKS:
        if tasks > cores():
            yield Check(f"{tasks} tasks of Spark", f"left out: {cores()} cores")
            continue
        with session(bench, tasks) as spark:
            (rows, seconds, errors) = timed(spark, bench, tasks)
        yield Check(
            f"{tasks} tasks of Spark embed {rows:,} turns",
            f"{rows / seconds:,.0f} turns/s, {errors} errors",
            "0 errors",
            errors == 0,
        )


@contextmanager
def session(bench: Bench, tasks: int) -> Iterator[Any]:
    """Start a cluster of one worker on this machine, whose tasks have equal parts of the GPU; without one, threads."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName("gpu").config("spark.ui.enabled", "false")
    if bench.device.type == "cuda":
        script = bench.folder / "gpus.sh"
        script.write_text('#!/bin/sh\necho \'{"name": "gpu", "addresses": ["0"]}\'\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        builder = (
            builder.master(f"local-cluster[1,{tasks},8192]")
            .config("spark.executor.memory", "8g")
            .config("spark.executorEnv.PYTHONPATH", str(REPOSITORY))
            .config("spark.worker.resource.gpu.amount", "1")
            .config("spark.worker.resource.gpu.discoveryScript", str(script))
            .config("spark.executor.resource.gpu.amount", "1")
            .config("spark.task.resource.gpu.amount", str(1 / tasks))
        )
    else:
        builder = builder.master(f"local[{tasks}]")
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def timed(spark: Any, bench: Bench, tasks: int) -> tuple[int, float, int]:
    """Return how many turns were embedded, in how many seconds, with how many errors; models are loaded before."""
    from udfs.predict import embed_texts

    rows = bench.rows * (16 if bench.device.type == "cuda" else 1)
    numbered = [(str(place), text) for place, text in enumerate(turns(rows, seed=17))]
    texts = spark.createDataFrame(numbered, "text_hash string, text string")
    texts = texts.repartition(tasks).cache()
    texts.count()
    model = str(bench.model("MiniLM"))

    def errors(some: Any) -> int:
        return int(embed_texts(some, model, "drawn", batch_size=256, threads=1).where("error IS NOT NULL").count())

    errors(texts.limit(64 * tasks).repartition(tasks))
    began = time.perf_counter()
    wrong = errors(texts)
    took = time.perf_counter() - began
    texts.unpersist()
    return rows, took, wrong
