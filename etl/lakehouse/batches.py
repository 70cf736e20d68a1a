"""Writing a batch of HITs as files, and what was written as a table's rows."""

from pyspark.sql import DataFrame

from etl.annotation.exports import batch_files
from etl.lakehouse.stage import StageRun
from etl.lakehouse.tables.edos import ANNOTATION_FILES
from etl.lakehouse.text_files import export_folder, write_files


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
    folder = export_folder(run.all_settings, annotation.folder, "annotation")
    written = write_files(run.spark, f"{folder}/{purpose}-{batch_id}", contents)
    hits = len({row["hit_id"] for row in rows})
    run.say(f"{hits:,} HITs with {len(rows):,} items in {folder}/{purpose}-{batch_id}")
    return run.spark.createDataFrame(
        [(batch_id, *file, hits, len(rows)) for file in written], ANNOTATION_FILES.schema
    )  # fmt: skip
