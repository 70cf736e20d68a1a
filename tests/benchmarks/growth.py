"""What a batch reads of a large lakehouse: ``python -m tests.benchmarks.growth [--files 100000]``.

The lakehouse is made of rows, without subtitle files: 20 sentences a file, three uploads a film. Then 0.1 % of films
that are new are added, as a nightly run does. Printed are the seconds and the stored bytes that their batch reads,
beside those of the whole table, and what is sent through the network.
"""

import argparse
import json
import re
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.settings import load_settings
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.rows_among import rows_among
from etl.pipeline.session import close_session, configured, spark_session
from etl.subtitles.carried_marks import carried_marks
from etl.tables import Table
from etl.tables.subtitles import CHOSEN_UPLOADS, FILES
from jobs.subtitles.turns import _chosen_files

SENTENCES = 20
UPLOADS = 3
"""Of a film."""
STORED_FILES = 200
"""Parquet files of the table before it grows; a table of 446,612 films has thousands."""


def made(spark: SparkSession, first: int, last: int, table: Table) -> DataFrame:
    """Return rows of ``subtitles.files`` numbered from ``first`` up to ``last``."""
    sentence = (
        "struct(i AS index, i AS block_first, i AS block_last, i * 2000 AS start_ms, i * 2000 + 1500 AS end_ms, "
        "concat('Line ', i, ' of file ', id, ': ', md5(concat(id, '/', i))) AS text)"
    )
    known = {
        "source_path": f"concat('xml/en/', 1930 + id div {UPLOADS} % 90, '/', id div {UPLOADS}, '/', id, '.xml.gz')",
        "subtitle_id": "cast(id AS string)",
        "movie_id": f"cast(id div {UPLOADS} AS string)",
        "release": "'v2018'",
        "language": "'en'",
        "sentence_count": str(SENTENCES),
        "token_count": str(9 * SENTENCES),
        "content_hash": "id",
        "work_version": "id",
        "sentences": f"transform(sequence(0, {SENTENCES - 1}), i -> {sentence})",
    }
    columns = [
        f"{known.get(field.name, f'cast(null AS {field.dataType.simpleString()})')} AS {field.name}"
        for field in table.schema
    ]
    return spark.range(first, last).selectExpr(*columns)


def stored_bytes(rows: DataFrame) -> int:
    """Return the size of the stored files that rows are read from."""
    return sum(Path(name.removeprefix("file://")).stat().st_size for name in rows.inputFiles())


def timed(work: Any) -> tuple[float, Any]:
    """Return the seconds that a call took, and its result."""
    began = time.perf_counter()
    found = work()
    return round(time.perf_counter() - began, 1), found


def sent_with_sentences(rows: DataFrame) -> int:
    """Return how many exchanges of a plan, other than broadcasts, have sentences."""
    mode: Any = rows.sparkSession._jvm.org.apache.spark.sql.execution.ExplainMode  # type: ignore[union-attr]
    with configured(rows.sparkSession, "spark.sql.debug.maxToStringFields", "1000"):
        plan = str(rows._jdf.queryExecution().explainString(mode.fromString("formatted")))
    found = re.findall(r"^\(\d+\) Exchange\s*\nInput \[\d+\]: \[([^\]]*)\]", plan, re.MULTILINE)
    return len([columns for columns in found if "sentences#" in columns])


def measure(files: int) -> dict[str, Any]:
    """Make a lakehouse of so many files, let it grow, and return the figures."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings("local", [], {"lakehouse.root": folder, "spark.short_session": False})
        spark = spark_session(settings, "growth")
        try:
            lakehouse = Lakehouse(spark, settings.lakehouse)
            grown = files + UPLOADS * max(1, files // 1000 // UPLOADS)
            (making, _) = timed(
                lambda: lakehouse.append(
                    FILES, made(spark, 0, files, FILES).repartitionByRange(STORED_FILES, "source_path"), {}
                )
            )
            lakehouse.append(FILES, made(spark, files, grown, FILES).coalesce(1), {})
            chosen = made(spark, 0, grown, FILES).where(f"content_hash % {UPLOADS} = 0")
            lakehouse.append(CHOSEN_UPLOADS, chosen.selectExpr("*", "1 AS choice", f"{UPLOADS} AS uploads"), {})
            table = lakehouse.read(FILES)
            run: Any = SimpleNamespace(model=lambda name: SimpleNamespace(identity="m"))
            units = _chosen_files(lakehouse.read(CHOSEN_UPLOADS), table, table, run)
            (planning, pending) = timed(lambda: units.where(f"cast(subtitle_id AS bigint) >= {files}").persist())
            (units_seconds, count) = timed(pending.count)
            (looking, batch) = timed(lambda: rows_among(table, "source_path", pending))
            (reading, sentences) = timed(lambda: batch.agg(F.sum(F.size("sentences"))).first()[0])
            marks = carried_marks(pending, rows_among(table, "movie_id", pending))
            return {
                "files": files,
                "new files": grown - files,
                "chosen of them": count,
                "sentences of them": sentences,
                "table MB": round(stored_bytes(table) / 1e6, 1),
                "batch reads MB": round(stored_bytes(batch) / 1e6, 3),
                "share of the table": round(stored_bytes(batch) / stored_bytes(table), 5),
                "share of the files": round((grown - files) / grown, 5),
                "exchanges with sentences": sent_with_sentences(marks),
                "seconds to make the table": making,
                "seconds to find the units": round(planning + units_seconds, 1),
                "seconds to find their stored files": looking,
                "seconds to read them": reading,
            }
        finally:
            close_session(spark, settings)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=100_000)
    print(json.dumps(measure(parser.parse_args().files), indent=1))
