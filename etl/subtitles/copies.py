"""Copies of one upload: which is read, which is kept, and when an upload's files are read again."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.pipeline.tables.ops import WORK_VERSION
from etl.subtitles.manifest import source_order

_CONTENT = ("source_path", "tag", "offset", "stored_bytes", "bytes", "method", "crc", "fault", "language", "copy_rank")


def mark_copies(manifest: DataFrame, sources: Sequence[str]) -> DataFrame:
    """Add ``copy_of``: the source_path of the copy that is read first, or null for a file to read.

    (release, language, subtitle_id) is unique. The first copy is read, by source in the order of the settings, then
    by source_path. A file whose path names no language is a copy of any file of the same release and id whose path
    does, because OpenSubtitles never shares ids between languages. A file with a fault is no copy and has none.
    ``copy_rank`` numbers the files of the same release and id in this order.

    Args:
        manifest: the whole manifest, because a copy may be in any source.
        sources: the sources in the order of the settings.
    """
    faulty = F.col("fault").isNotNull()
    best_first = [faulty, F.col("language").isNull(), F.col("_order"), F.col("source_path")]
    same_upload = Window.partitionBy("release", "subtitle_id").orderBy(*best_first)
    same_language = Window.partitionBy("release", "subtitle_id", "language").orderBy(*best_first)
    winner = F.when(F.col("language").isNull(), F.first("source_path").over(same_upload)).otherwise(
        F.first("source_path").over(same_language)
    )
    return (
        manifest.withColumn("_order", source_order(F.col("source"), sources))
        .withColumns({"copy_of": winner, "copy_rank": F.row_number().over(same_upload)})
        .withColumn("copy_of", F.when((F.col("copy_of") != F.col("source_path")) & ~faulty, F.col("copy_of")))
        .select(*manifest.columns, "copy_of", "copy_rank")
    )


def with_upload_version(marked: DataFrame) -> DataFrame:
    """Add ``work_version`` to the rows of `mark_copies`: a hash of what is listed of all files of an upload.

    A file that changed, came or went under its path changes it for all copies, so that they are judged together again.
    """
    same_upload = Window.partitionBy("release", "subtitle_id")
    listed = F.expr(f"bit_xor(xxhash64({', '.join(f'`{name}`' for name in _CONTENT)}))").over(same_upload)
    return marked.withColumn(WORK_VERSION, F.xxhash64("release", "subtitle_id", listed))


def copies_of(copies: DataFrame, unusable: DataFrame) -> DataFrame | None:
    """Return the copies of uploads whose first copy turned out unusable, or None if there are none.

    Args:
        copies: rows of `mark_copies` that are not read first.
        unusable: the files read first that are quarantined or in another language.
    """
    first = unusable.select(F.col("source_path").alias("copy_of"))
    if first.isEmpty():
        return None
    spare = copies.join(F.broadcast(first), "copy_of", "left_semi")
    return None if spare.isEmpty() else spare


def kept_copies(usable: DataFrame, marked: DataFrame) -> DataFrame:
    """Return source_path and ``kept``, the source_path of the copy that is kept: the first of those that are usable.

    Args:
        usable: files that were read, with the language that reading found.
        marked: rows of `mark_copies`; a file without ``copy_of`` is kept.
    """
    ranked = usable.select("source_path", "release", "language", "subtitle_id").join(
        marked.select("source_path", "copy_of", "copy_rank"), "source_path"
    )
    order = (F.col("copy_of").isNotNull(), F.col("copy_rank"))
    same = Window.partitionBy("release", "language", "subtitle_id").orderBy(*order)
    return ranked.select("source_path", F.first("source_path").over(same).alias("kept"))
