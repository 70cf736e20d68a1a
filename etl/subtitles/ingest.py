"""Reading and parsing of the files in ``subtitles.manifest``, each upload once."""

import math
from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from etl.pipeline.outcome import Outcome, dropped_columns, with_work_key
from etl.pipeline.spark_api import cached, cores
from etl.pipeline.tables.ops import WORK_VERSION
from etl.subtitles.copies import copies_of, kept_copies, mark_copies
from etl.subtitles.manifest import in_languages
from etl.subtitles.tables import FILES, MANIFEST
from etl.subtitles.uploads import speaker_marks
from udfs.opus.batches import parsed_batches
from udfs.opus.files import Caps

_OPEN_COST = 64 << 10
_PIECE = 64 << 20
"""Bytes of a zip along which sizes are added up by one task."""
_ADDED = ("speaker_marks", "content_hash", WORK_VERSION)
_PLACE = ("source", "source_path")


def ingest_subtitles(
    manifest: DataFrame,
    *,
    languages: Sequence[str] = (),
    sources: Sequence[str] = (),
    task_mb: int = 64,
    max_bytes: int = 64 << 20,
    max_ratio: float = 200.0,
    max_seconds: float = 60.0,
    truecase: bool = True,
) -> Outcome:
    """Read and parse the files of a manifest.

    Of the copies of an upload the first is read. If it is quarantined or in another language, all others are read, and
    the first usable one is kept.

    The parsed rows are persisted on disk and counted at once, so that rows, dropped and quarantined share one read.
    The caller clears the cache.

    Args:
        manifest: rows of ``subtitles.manifest``, or of ``mark_copies`` with all copies of each upload.
        languages: codes to keep among files whose path names no language; all if empty.
        sources: see ``mark_copies``; for a manifest without ``copy_of``.
        task_mb: maximum stored MiB (2**20 bytes) per task and per range of a zip.
        max_bytes: maximum unpacked bytes per file.
        max_ratio: maximum ratio of unpacked to stored bytes.
        max_seconds: maximum time for reading and parsing a file.
        truecase: use the truecased form of shouted words.

    Returns:
        rows of ``subtitles.files`` without ``work_version``; dropped files (same_upload_again, language_not_chosen)
        and, without counting files, the faults of cues;
        quarantined files (source, source_path, reason, detail).
    """
    marked = manifest if "copy_of" in manifest.columns else mark_copies(manifest, sources)
    caps = Caps(max_bytes, max_ratio, max_seconds)

    def read(files: DataFrame) -> DataFrame:
        files = files.select(*MANIFEST.columns)
        parsed = parse_files(files, task_bytes=task_mb << 20, caps=caps, truecase=truecase, languages=tuple(languages))
        parsed = cached(parsed, StorageLevel.DISK_ONLY)
        parsed.count()
        return parsed

    readable = F.col("reason").isNull()
    # A file of unknown language is kept.
    usable = readable & in_languages(languages)
    parsed, rows, copies = _each_once(marked, read, usable)
    foreign = parsed.where(readable & ~usable)
    misnamed = F.when(F.map_contains_key("quirks", "language_differs"), F.lit("by its text, despite its name"))
    detail = F.concat_ws(": ", "language", misnamed)
    other_languages = foreign.select(*dropped_columns("file", "source_path", "language_not_chosen", 1, detail))
    return Outcome(
        rows=rows.select(*(name for name in FILES.columns if name != WORK_VERSION)),
        dropped=with_work_key(copies.unionByName(other_languages)).unionByName(cue_faults(rows)),
        quarantined=parsed.where(~readable).select(*_PLACE, "reason", "detail"),
    )


def unusable_source(units: DataFrame, files: DataFrame, quarantined: DataFrame) -> str | None:
    """Return in one line why a run may not go on: no file of a source could be read, or of a chosen language; or None.

    Args:
        files: rows of ``subtitles.files``.
        quarantined: rows of ``subtitles.quarantine``.
    """
    reasons = quarantined.select("source_path", "reason", "detail")
    found = units.select("source", "source_path").join(reasons, "source_path", "left")
    # Numbers alone, which need no sort: this runs each night over all files.
    each = found.groupBy("source").agg(F.count("*").alias("files"), F.count("reason").alias("unread"))
    unread = each.where("files = unread").sort("source").first()
    if unread is not None:
        first = found.where(F.col("source") == unread.source).agg(F.min(F.struct("source_path", "reason", "detail")))
        path, reason, detail = first.collect()[0][0]
        return (
            f"no file of {unread.source} could be read: {path} is {reason} ({detail}); mend its {unread.files:,} "
            "files or take it out of subtitles.sources; all reasons are in subtitles.quarantine"
        )
    if not files.isEmpty():
        return None
    return "no file is in a language of subtitles.languages: ops.dropped says which ones they are in"


def cue_faults(files: DataFrame) -> DataFrame:
    """Return ledger rows of what was not read of the files, one for each file and reason; they count no files.

    The detail has how often, the first lines of the file where it is, and what stands in the first of them.

    Args:
        files: rows of ``subtitles.files``.
    """
    found = files.where("faults IS NOT NULL").select("source_path", F.explode("faults").alias("fault"))
    lines = F.concat_ws(", ", F.transform("fault.lines", lambda line: line.cast("string")))
    detail = F.concat(F.col("fault.times").cast("string"), F.lit(" at lines "), lines, F.lit(": "), "fault.example")
    named = found.withColumn("id", F.concat("source_path", F.lit("#"), "fault.reason"))
    columns = dropped_columns("cue", "id", F.col("fault.reason"), 0, detail)
    return named.select(*columns, F.col("source_path").alias("work_key"))


def _each_once(
    marked: DataFrame, read: Callable[[DataFrame], DataFrame], usable: Column
) -> tuple[DataFrame, DataFrame, DataFrame]:
    """Return all files that were read, those that are kept, and ledger rows of the other copies.

    Args:
        marked: rows of ``mark_copies``.
        read: reads and parses rows of the manifest.
        usable: whether a file that was read may be kept.
    """
    parsed = read(marked.where("copy_of IS NULL"))
    copies = marked.where("copy_of IS NOT NULL")
    rows = parsed.where(usable)
    again = copies.select("source_path", F.col("copy_of").alias("kept"))
    if (spare := copies_of(copies, parsed.where(~usable))) is not None:
        parsed = parsed.unionByName(read(spare))
        kept = cached(kept_copies(parsed.where(usable), marked))
        rows = parsed.where(usable).join(F.broadcast(kept.where("source_path = kept")), "source_path", "left_semi")
        again = again.join(spare.select("source_path"), "source_path", "left_anti")
        again = again.unionByName(kept.where("source_path != kept"))
    instead = F.concat(F.lit("read instead: "), F.col("kept"))
    return parsed, rows, again.select(*dropped_columns("file", "source_path", "same_upload_again", 1, instead))


def parse_files(
    files: DataFrame, *, task_bytes: int, caps: Caps, truecase: bool, languages: Sequence[str] = ()
) -> DataFrame:
    """Return a row of ``subtitles.files`` with (reason, detail) for every manifest row, in tasks of even bytes.

    ``content_hash`` hashes all columns apart from the place, whatever the file's time or container.
    """
    own = [field for field in FILES.schema if field.name not in _ADDED]
    languages = list(languages)
    columns = StructType(own).add("reason", "string").add("detail", "string")
    schema = to_arrow_schema(columns)

    def parsed(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        return parsed_batches(iter(batches), schema, caps, truecase, task_bytes, languages)

    read = [field.name for field in own if field.name not in _PLACE]
    content = [F.to_json(name) if name == "quirks" else F.col(name) for name in read]
    rows = balanced_by_bytes(files, task_bytes).mapInArrow(parsed, columns)
    return rows.withColumns(
        {"speaker_marks": speaker_marks(F.col("sentences.text")), "content_hash": F.xxhash64(*content)}
    )


def balanced_by_bytes(files: DataFrame, task_bytes: int) -> DataFrame:
    """Partition a manifest into tasks of at most ``task_bytes`` that keep neighbours in a zip or folder together.

    Small manifests get smaller tasks, about two per core.
    """
    cost = F.col("stored_bytes") + F.when(F.col("method").isNull(), _OPEN_COST).otherwise(0)
    row = files.agg(F.sum(cost)).first()
    total = int(row[0] or 0) if row is not None else 0
    share = max(1 << 20, min(task_bytes, math.ceil(total / (2 * cores(files.sparkSession)))))
    if total <= share:
        return files.coalesce(1).sortWithinPartitions("container", "offset", "source_path")
    tasks = math.ceil(total / share)
    chunk = F.floor(F.col("_before") / F.lit(share))
    keys = F.broadcast(_partition_keys(files.sparkSession, tasks))
    keyed = _with_cost_before(files, cost).withColumn("_chunk", chunk).join(keys, "_chunk", "left")
    return keyed.repartition(tasks, "_key").select(*files.columns)


def _with_cost_before(files: DataFrame, cost: Column) -> DataFrame:
    """Add ``_before``: the cost of all files before a file, in the order of folders, years, and offsets in a zip.

    It is added up within pieces (a folder's year, a range of a zip), and over the pieces, because a window over all
    files would be the work of one task.
    """
    plain = F.col("method").isNull()
    pieces = {
        "_bundle": F.when(plain, F.col("source")).otherwise(F.col("container")),
        "_year": F.when(plain, F.coalesce("directory_year", F.lit(-1))).otherwise(-1),
        "_range": F.when(plain, F.lit(0)).otherwise(F.floor(F.col("offset") / _PIECE)),
    }
    marked = files.withColumns({**pieces, "_cost": cost})
    totals = marked.groupBy(*pieces).agg(F.sum("_cost").alias("_total"))
    first = F.sum("_total").over(Window.orderBy(*pieces)) - F.col("_total")
    within = Window.partitionBy(*pieces).orderBy("container", "offset", "source_path")
    placed = marked.withColumn("_within", F.sum("_cost").over(within) - F.col("_cost"))
    found = placed.join(F.broadcast(totals.select(*pieces, first.alias("_first"))), list(pieces))
    return found.withColumn("_before", F.col("_first") + F.col("_within"))


def _partition_keys(spark: SparkSession, count: int) -> DataFrame:
    """Return (_chunk, _key): for each of ``count`` chunks a number whose hash leads to a partition of its own.

    Ranges would not do: Spark cuts them by rows, and puts a chunk of few rows into its neighbour's.
    """
    numbers = spark.range(32 * count, numPartitions=1)  # a partition that no number leads to is as likely as 1e-14
    chunk = F.pmod(F.hash("id"), F.lit(count)).alias("_chunk")
    return numbers.groupBy(chunk).agg(F.min("id").alias("_key"))
