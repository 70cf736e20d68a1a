"""Reading and parsing of the files in ``subtitles.manifest``, without later copies."""

import math
from collections.abc import Iterable, Sequence

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from etl.common.columns import left_out
from etl.common.spark_api import cores
from etl.subtitles.manifest import source_order
from etl.tables.outcome import Outcome
from etl.tables.subtitles import FILES, MANIFEST
from udfs.opus.batches import parsed_batches
from udfs.opus.files import Caps

_OPEN_COST = 64 << 10


def mark_copies(manifest: DataFrame, sources: Sequence[str], already: DataFrame | None = None) -> DataFrame:
    """Add ``copy_of``: the source_path of the copy that is read instead, or null for a file to read.

    (release, language, subtitle_id) is unique. The first copy is kept, by source in the order of the settings, then
    by source_path. A file whose path names no language is a copy of any file of the same release and id whose path
    does, because OpenSubtitles never shares ids between languages. A file with a fault is no copy and has none.

    Args:
        manifest: the whole manifest, because a copy may be in any source.
        sources: the sources in the order of the settings.
        already: (release, language, subtitle_id[, source_path]) of files read before, which the manifest may lack.
            A row with the same source_path as a file is not a copy of it.
    """
    rows = manifest.withColumns({"_order": source_order(F.col("source"), sources), "_read": F.lit(False)})
    if already is not None:
        rows = rows.unionByName(_known(already, manifest))
    faulty = F.col("fault").isNotNull()
    best_first = [faulty, F.col("language").isNull(), F.col("_read").desc(), F.col("_order"), F.col("source_path")]
    same_upload = Window.partitionBy("release", "subtitle_id").orderBy(*best_first)
    same_language = Window.partitionBy("release", "subtitle_id", "language").orderBy(*best_first)
    winner = F.when(F.col("language").isNull(), F.first("source_path").over(same_upload)).otherwise(
        F.first("source_path").over(same_language)
    )
    return (
        rows.withColumn("copy_of", winner)
        .where(~F.col("_read"))
        .withColumn("copy_of", F.when((F.col("copy_of") != F.col("source_path")) & ~faulty, F.col("copy_of")))
        .select(*manifest.columns, "copy_of")
    )


def _known(already: DataFrame, manifest: DataFrame) -> DataFrame:
    """Return the files read before with the manifest's columns."""
    columns = {name: F.lit(None).cast(manifest.schema[name].dataType) for name in manifest.columns}
    columns |= {name: F.col(name) for name in ("release", "language", "subtitle_id")}
    named = "source_path" in already.columns
    columns["source_path"] = F.col("source_path") if named else F.concat(F.lit("read before: "), "subtitle_id")
    columns |= {"_order": F.lit(0), "_read": F.lit(True)}
    return already.select(*(column.alias(name) for name, column in columns.items()))


def ingest_subtitles(
    manifest: DataFrame,
    *,
    languages: Sequence[str] = (),
    sources: Sequence[str] = (),
    already: DataFrame | None = None,
    task_mb: int = 64,
    max_bytes: int = 64 << 20,
    max_ratio: float = 200.0,
    max_seconds: float = 60.0,
    truecase: bool = True,
) -> Outcome:
    """Read and parse the files of a manifest.

    The parsed rows are persisted on disk and counted at once, so that rows, dropped and quarantined share one read.
    The caller clears the cache.

    Args:
        manifest: rows of ``subtitles.manifest``, with ``copy_of`` if copies are marked already.
        languages: codes to keep among files whose path names no language; all if empty.
        sources, already: see ``mark_copies``; for a manifest without ``copy_of``.
        task_mb: maximum stored MiB (2**20 bytes) per task and per range of a zip.
        max_bytes: maximum unpacked bytes per file.
        max_ratio: maximum ratio of unpacked to stored bytes.
        max_seconds: maximum time for reading and parsing a file.
        truecase: use the truecased form of shouted words.

    Returns:
        rows of ``subtitles.files``; dropped files (same_upload_again, language_not_chosen); quarantined
        files (source, source_path, reason, detail).
    """
    marked = manifest if "copy_of" in manifest.columns else mark_copies(manifest, sources, already)
    parsed = parse_files(
        marked.where(F.col("copy_of").isNull()).select(*MANIFEST.columns),
        task_bytes=task_mb << 20, caps=Caps(max_bytes, max_ratio, max_seconds), truecase=truecase,
    ).persist(StorageLevel.DISK_ONLY)  # fmt: skip
    parsed.count()
    readable = parsed.where(F.col("reason").isNull())
    # A file of unknown language is kept.
    chosen = F.col("language").isNull() | F.col("language").isin(*languages) if languages else F.lit(True)
    instead = F.concat(F.lit("read instead: "), F.col("copy_of"))
    again = marked.where(F.col("copy_of").isNotNull()).select(
        *left_out("file", "source_path", "same_upload_again", 1, instead)
    )
    foreign = readable.where(~chosen).select(
        *left_out("file", "source_path", "language_not_chosen", 1, F.col("language"))
    )
    return Outcome(
        rows=readable.where(chosen).select(*FILES.columns),
        dropped=again.unionByName(foreign),
        quarantined=parsed.where(F.col("reason").isNotNull()).select("source", "source_path", "reason", "detail"),
    )


def parse_files(files: DataFrame, *, task_bytes: int, caps: Caps, truecase: bool) -> DataFrame:
    """Return a row of ``subtitles.files`` with (reason, detail) for every manifest row, in tasks of even bytes."""
    columns = StructType([*FILES.schema.fields]).add("reason", "string").add("detail", "string")
    schema = to_arrow_schema(columns)

    def parsed(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        return parsed_batches(iter(batches), schema, caps, truecase, task_bytes)

    return balanced_by_bytes(files, task_bytes).mapInArrow(parsed, columns)


def balanced_by_bytes(files: DataFrame, task_bytes: int) -> DataFrame:
    """Partition a manifest into tasks of at most ``task_bytes`` that keep neighbours in a zip or folder together.

    Small manifests get smaller tasks, about two per core.
    """
    cost = F.col("stored_bytes") + F.when(F.col("method").isNull(), _OPEN_COST).otherwise(0)
    row = files.agg(F.sum(cost)).first()
    total = int(row[0] or 0) if row is not None else 0
    share = max(1 << 20, min(task_bytes, math.ceil(total / (2 * cores(files.sparkSession)))))
    bundle = F.when(F.col("method").isNull(), F.col("source")).otherwise(F.col("container"))
    along = Window.partitionBy("_bundle").orderBy("container", "offset", "source_path")
    chunked = files.withColumn("_bundle", bundle).withColumn(
        "_chunk", F.floor((F.sum(cost).over(along) - cost) / F.lit(share))
    )
    return chunked.repartitionByRange(max(1, math.ceil(total / share)), "_bundle", "_chunk").select(*files.columns)
