"""Writing a batch of HITs as files, and what was written as a table's rows."""

import hashlib
from collections.abc import Mapping

from pyspark.sql import DataFrame

from etl.annotation.exports import batch_files
from etl.lakehouse.folders import Folders, located
from etl.lakehouse.stage import StageRun
from etl.lakehouse.tables.edos import ANNOTATION_FILES


def write_batch(tasks: DataFrame, purpose: str, workers: int, run: StageRun) -> DataFrame:
    """Write a task table's HITs to ``<folder>/<purpose>-<batch id>``; rows of ``edos.annotation_files``.

    A batch is small (what people can answer) and is made on the driver. A changed table makes another batch in
    another folder: a batch that went out stays as it was, for its answers are still to come.
    """
    rows = [row.asDict() for row in tasks.collect()]
    if not rows:
        run.say("no HIT is full: nothing to write")
        return run.spark.createDataFrame([], ANNOTATION_FILES.schema)
    annotation = run.settings.edos.annotation
    batch_id, contents = batch_files(rows, purpose, annotation, workers)
    folder = (annotation.folder or f"{run.all_settings.lakehouse.root.rstrip('/')}/annotation").rstrip("/")
    written = _put(Folders(run.spark), f"{folder}/{purpose}-{batch_id}", contents)
    hits = len({row["hit_id"] for row in rows})
    run.say(f"{hits:,} HITs with {len(rows):,} items in {folder}/{purpose}-{batch_id}")
    return run.spark.createDataFrame(
        [(batch_id, *file, hits, len(rows)) for file in written], ANNOTATION_FILES.schema
    )  # fmt: skip


def _put(folders: Folders, folder: str, contents: Mapping[str, str]) -> list[tuple[str, str, int, str]]:
    """Put texts into a folder, each whole; (name, path, bytes, sha256) of each."""
    written = []
    for name, text in sorted(contents.items()):
        path, content = located(f"{folder}/{name}"), text.encode()
        folders.write_text(path, text)
        written.append((name, path, len(content), hashlib.sha256(content).hexdigest()))
    return written
