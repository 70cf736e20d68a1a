"""Listing of the subtitle files in the sources, without opening any file except the directories of zips."""

import hashlib
import re
from collections.abc import Iterable, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from conf.errors import InputError, message_line
from conf.redaction import without_user_info
from etl.pipeline.outcome import Outcome, dropped_columns
from etl.pipeline.spark_api import cores
from etl.subtitles.tables import MANIFEST
from udfs.opus.listing import UNREAD, Piece, fingerprint, manifest_batches, pieces_of
from udfs.opus.names import valid
from udfs.opus.paths import with_families

_SHARES = 1_000_000
_SAME_FILE = "_same_file"
_MOST_NAMED = 1_000
_TRANSLATIONS = re.compile(r"(?i)\.tmx(?:\.gz)?$|\.[a-z]{2}(?:_[a-z]{2})?-[a-z]{2}(?:_[a-z]{2})?\.(?:[a-z_]{2,5}|ids)$")


def find_subtitles(
    spark: SparkSession, sources: Sequence[str], languages: Sequence[str], release_default: str
) -> DataFrame:
    """Return the manifest of the sources, from a persisted listing; each zip or folder is listed in a task.

    The language comes from the path, ``[.../]xml/<language>/<year>/<film>/<upload>.xml[.gz]``, or from the name, as in
    ``film.en.srt``. A source may be any folder of that layout. Files whose path names no language are listed too,
    because their ``<meta>`` or text may tell. A folder of another language is a row whose path ends in ``/``; other
    files of other languages are rows of their own (see ``in_chosen_languages``).

    Args:
        sources: folders of ``.xml``, ``.srt`` and ``.vtt``, also ``.gz``; zips, folders with zips; local paths or URIs.
        languages: codes to keep, such as ``en`` or ``pt_br``; all if empty.
        release_default: OPUS release of sources whose path names none.

    Raises:
        InputError: There are no sources, or a source cannot be listed or has no file.
    """
    if not sources:
        raise InputError("subtitles.sources is empty: name a folder of .xml, .srt or .vtt files, or an OPUS zip")
    unique = list(dict.fromkeys(map(valid, sources)))
    asked = with_families(languages)
    pieces = [piece for source in unique for piece in _pieces(source, asked, spark)]
    listed = _with_unique_paths(_listed(spark, pieces, asked, release_default), unique).persist()
    chosen_ones = in_chosen_languages(listed, languages).rows
    found = {row.source for row in chosen_ones.select("source").distinct().collect()}
    for source in unique:
        if source not in found:
            unread = listed.where(F.startswith("fault", F.lit(UNREAD)) & (F.col("source") == source))
            names = [row.source_path for row in unread.select("source_path").limit(_MOST_NAMED).collect()]
            named = listed.where((F.col("source") == source) & F.col("language").isNotNull() & F.col("fault").isNull())
            others = [row.language for row in named.select("language").distinct().sort("language").limit(9).collect()]
            listed.unpersist()
            chosen = f" in {', '.join(languages)}" if languages else ""
            there = f" (its files are in {', '.join(others)})" if others else ""
            raise InputError(f"no .xml, .srt or .vtt file{chosen} under {source}: {_cure(names, source)}{there}")
    return listed.where(f"{_SAME_FILE} = 1").select(*MANIFEST.columns)


def _cure(unread: Sequence[str], source: str) -> str:
    if any(_TRANSLATIONS.search(name) for name in (*unread, source)):
        return (
            "the Moses and TMX downloads of OPUS hold no times; take the one called 'xml' of a language, such as "
            "OpenSubtitles/v2018/xml/en.zip"
        )
    endings = ", ".join(sorted({name.rpartition("/")[2].partition(".")[2] for name in unread} - {""})[:8])
    there = f" ({len(unread)} files of other kinds: {endings})" if unread else ""
    return f"check subtitles.sources and subtitles.languages{there}"


def in_languages(languages: Sequence[str]) -> Column:
    """Return whether the column ``language`` is one that is asked for; an unknown one is, and all are without any."""
    asked = with_families(languages)
    return F.col("language").isNull() | F.col("language").isin(*asked) if asked else F.lit(True)


def in_chosen_languages(listed: DataFrame, languages: Sequence[str]) -> Outcome:
    """Leave out the files and folders whose names say that they are of a language that is not asked for, or not read.

    Of OPUS's folders of other languages only the folder comes here, and its files are not counted.
    """
    foreign = ~in_languages(languages) & F.col("fault").isNull()
    unread = F.coalesce(F.startswith("fault", F.lit(UNREAD)), F.lit(False))
    folder = is_folder()
    detail = F.when(folder, F.concat("language", F.lit(": a folder, whose files are not listed"))).otherwise(
        F.col("language")
    )
    dropped = listed.where(foreign).select(
        *dropped_columns(F.when(folder, "folder").otherwise("file"), "source_path", "language_not_chosen", 1, detail)
    )
    detail = F.substring_index("fault", ": ", -1)
    others = listed.where(unread).select(*dropped_columns("file", "source_path", UNREAD, 1, detail))
    return Outcome(listed.where(~foreign & ~unread), dropped.unionByName(others))


def is_folder() -> Column:
    """Return whether a row of the listing is a folder of a language that is not asked for."""
    return F.endswith("source_path", F.lit("/"))


def without_withdrawn(listed: DataFrame, withdrawn: DataFrame) -> Outcome:
    """Leave out the files that were withdrawn, each with the reason that was given.

    Args:
        withdrawn: rows of ``subtitles.withdrawn``.
    """
    each = [
        withdrawn.where(F.col("kind") == kind).groupBy(F.col("id").alias(key)).agg(F.min("reason").alias(f"_{kind}"))
        for kind, key in (("film", "movie_id"), ("file", "source_path"))
    ]
    marked = listed
    for one in each:
        marked = marked.join(F.broadcast(one), one.columns[0], "left")
    reason = F.coalesce("_film", "_file")
    dropped = marked.where(reason.isNotNull()).select(*dropped_columns("file", "source_path", "withdrawn", 1, reason))
    return Outcome(marked.where(reason.isNull()).select(*listed.columns), dropped)


def wanted(
    listed: DataFrame,
    sources: Sequence[str],
    languages: Sequence[str],
    sample: float,
    years: tuple[int, int] | None = None,
) -> DataFrame:
    """Return the files of an earlier manifest that the present settings ask for, too.

    Args:
        listed: rows of ``subtitles.manifest``.
        languages: codes to keep; all if empty.
        years: the first and the last year folder; None: all.
    """
    asked = F.col("source").isin(*map(valid, sources)) & in_film_sample(F.col("movie_id"), sample)
    asked &= in_languages(languages)
    return listed.where(asked & in_years(F.col("directory_year"), years) & F.col("fault").isNull())


def shrinkage(before: DataFrame, found: DataFrame, left_out: DataFrame, most: float) -> str | None:
    """Return in one line how many files are gone from the sources, if that is more than a share of them; else None.

    A file that only moved inside its source, or is left out for a reason, is not gone.

    Args:
        before: files of the manifest that is to be replaced (see `wanted`).
        found: those of the one that replaces it.
        left_out: ledger rows of the latter.
        most: the largest share that may be gone.
    """
    upload = ["source", "_upload"]
    there = found.where("fault IS NULL").withColumn("_upload", F.coalesce("subtitle_id", "source_path"))
    known = left_out.select(F.col("id").alias("source_path"))
    before = before.join(known, "source_path", "left_anti")
    before = before.withColumn("_upload", F.coalesce("subtitle_id", "source_path"))
    marked = before.join(there.select(*upload).distinct().withColumn("_there", F.lit(True)), upload, "left")
    gone = F.col("_there").isNull()
    row = marked.agg(F.count("*"), F.count_if(gone), F.min(F.when(gone, F.col("source_path")))).first()
    assert row is not None
    (files, lost, example) = row
    if lost <= most * files:
        return None
    return (
        f"{lost:,} of {files:,} files that the sources had are not there any more, such as {example}; "
        f"more than subtitles.max_shrink_share={most} allows"
    )


def sources_fingerprint(sources: Sequence[str], languages: Sequence[str]) -> str:
    """Return a hash of the paths, sizes and modification times of the sources' files.

    It runs on the driver, lists one folder at a time, and opens no file.
    """
    unique = dict.fromkeys(map(valid, sources))
    text = "\n".join(f"{source}\t{fingerprint(source, with_families(languages))}" for source in unique)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def in_film_sample(movie_id: Column, share: float) -> Column:
    """Return whether a film is in the sample, by the hash of its id; a smaller sample is a subset of a larger one."""
    return F.pmod(F.xxhash64(movie_id), F.lit(_SHARES)) < F.lit(round(share * _SHARES))


def in_years(directory_year: Column, years: tuple[int, int] | None) -> Column:
    """Return whether a file's year folder is in a span, both ends included; one whose path names no year is."""
    return F.lit(True) if years is None else F.coalesce(directory_year.between(*years), F.lit(True))


def _pieces(source: str, languages: Sequence[str], spark: SparkSession) -> list[Piece]:
    try:
        return pieces_of(source, languages, enough=4 * cores(spark))
    except FileNotFoundError as error:
        raise InputError(f"{source} does not exist: correct subtitles.sources") from error
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"{source} cannot be listed ({message_line(error)}): correct subtitles.sources") from error


def _listed(spark: SparkSession, pieces: Sequence[Piece], languages: list[str], release_default: str) -> DataFrame:
    schema = to_arrow_schema(MANIFEST.schema)

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        return manifest_batches(iter(batches), languages, release_default, schema)

    tasks = max(1, min(len(pieces), 4 * cores(spark)))
    planned = spark.createDataFrame(
        [(piece.source, piece.path, piece.kind) for piece in pieces], "source string, path string, kind string"
    )
    return planned.repartition(tasks).mapInArrow(rows, MANIFEST.schema)


def _with_unique_paths(listed: DataFrame, sources: Sequence[str]) -> DataFrame:
    """Make ``source_path`` unique by prefixing the name of the later source where two have the same path.

    If a source is inside another, its files belong to the one that is listed first: ``_same_file`` numbers the rows of
    a file, and those above 1 are left out of the manifest.
    """
    if len(sources) == 1:
        return listed.withColumn(_SAME_FILE, F.lit(1))
    order = source_order(F.col("source"), sources)
    same_file = Window.partitionBy("container", "member").orderBy(order)
    same_path = Window.partitionBy("source_path", _SAME_FILE).orderBy(order)
    return (
        listed.withColumn(_SAME_FILE, F.row_number().over(same_file))
        .withColumn("_copy", F.row_number().over(same_path))
        .withColumn(
            "source_path",
            F.when(F.col("_copy") == 1, F.col("source_path")).otherwise(F.concat_ws("//", "source", "source_path")),
        )
    )


def source_order(source: Column, sources: Sequence[str]) -> Column:
    """Return a source's 1-based position in the list; 0 for a source that is not in it."""
    places = (F.when(source == valid(name), F.lit(place)) for place, name in enumerate(sources, start=1))
    return F.coalesce(*places, F.lit(0))


def shown_sources(sources: Sequence[str]) -> list[str]:
    """Return the sources as tables name them, in the same order.

    Raises:
        InputError: two sources differ only in their secrets.
    """
    shown = [without_user_info(source) for source in sources]
    for name, source in zip(shown, sources, strict=True):
        if source != next(other for other, known in zip(sources, shown, strict=True) if known == name):
            raise InputError(f"subtitles.sources names {name} twice with different keys: keep one")
    return shown


def with_secrets_again(files: DataFrame, sources: Sequence[str]) -> DataFrame:
    """Return rows of ``subtitles.manifest`` whose column source is the address as the settings have it.

    The addresses are joined as data, because Spark shows the constants of a query on its pages.
    """
    secret = [(name, source) for name, source in zip(shown_sources(sources), sources, strict=True) if name != source]
    if not secret:
        return files
    known = files.sparkSession.createDataFrame(list(dict.fromkeys(secret)), "source string, address string")
    joined = files.join(F.broadcast(known), "source", "left")
    return joined.withColumn("source", F.coalesce("address", "source")).select(*files.columns)
