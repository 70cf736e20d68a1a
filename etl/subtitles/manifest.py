"""Sources -> ``subtitles.manifest``: every subtitle file that is there, none of them opened but zips' directories."""

import hashlib
from collections.abc import Iterable, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from conf.errors import InputError
from etl.tables.subtitles import MANIFEST
from udfs.opus.listing import Piece, fingerprint, manifest_batches, pieces_of

_SHARES = 1_000_000


def find_subtitles(
    spark: SparkSession, sources: Sequence[str], languages: Sequence[str], release_default: str
) -> DataFrame:
    """List the sources in tasks (one a zip or folder) and give the manifest, persisted.

    Languages are chosen by path, ``[.../]xml/<language>/<year>/<film>/<upload>.xml[.gz]``, wherever in that
    layout a source points. A file whose path names no language is listed too: its ``<meta>`` decides later.

    Args:
        sources: folders of ``.xml`` and ``.xml.gz``, zips, folders with zips; local paths or URIs.
        languages: codes to keep, such as ``en`` or ``pt_br``; all when empty.
        release_default: OPUS release of sources whose path names none.

    Raises:
        InputError: no source, one that cannot be reached, or one without a file.
    """
    if not sources:
        raise InputError("subtitles.sources is empty: name a folder of .xml or .xml.gz files, or an OPUS zip")
    unique = list(dict.fromkeys(sources))
    pieces = [piece for source in unique for piece in _pieces(source, languages, spark)]
    listed = _listed(spark, pieces, list(languages), release_default)
    manifest = _told_apart(listed, unique).persist()
    found = {row.source for row in manifest.select("source").distinct().collect()}
    for source in unique:
        if source not in found:
            manifest.unpersist()
            chosen = f" in {', '.join(languages)}" if languages else ""
            raise InputError(
                f"no .xml or .xml.gz file{chosen} under {source}: check subtitles.sources and subtitles.languages"
            )
    return manifest


def sources_fingerprint(sources: Sequence[str], languages: Sequence[str]) -> str:
    """What tells changed sources: a hash of their files' paths, sizes and modification times.

    Runs on the driver in bounded memory and opens no file: a zip costs one look at its folder.
    """
    text = "\n".join(f"{source}\t{fingerprint(source, languages)}" for source in dict.fromkeys(sources))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def in_film_sample(movie_id: Column, share: float) -> Column:
    """Whether a film is in the sample: by hash of its id, so that a smaller share is part of a larger."""
    return F.pmod(F.xxhash64(movie_id), F.lit(_SHARES)) < F.lit(round(share * _SHARES))


def _pieces(source: str, languages: Sequence[str], spark: SparkSession) -> list[Piece]:
    try:
        return pieces_of(source, languages, enough=4 * spark.sparkContext.defaultParallelism)
    except FileNotFoundError as error:
        raise InputError(f"{source} is not there: correct subtitles.sources") from error
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{source} cannot be listed ({reason}): correct subtitles.sources") from error


def _listed(spark: SparkSession, pieces: Sequence[Piece], languages: list[str], release_default: str) -> DataFrame:
    schema = to_arrow_schema(MANIFEST.schema)

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        return manifest_batches(iter(batches), languages, release_default, schema)

    tasks = max(1, min(len(pieces), 4 * spark.sparkContext.defaultParallelism))
    planned = spark.createDataFrame(
        [(piece.source, piece.path, piece.kind) for piece in pieces], "source string, path string, kind string"
    )
    return planned.repartition(tasks).mapInArrow(rows, MANIFEST.schema)


def _told_apart(listed: DataFrame, sources: Sequence[str]) -> DataFrame:
    """Make ``source_path`` unique: where two sources hold the same path, a later source's name goes in front.

    A source may also lie within another: then a container's files belong to the first one named.
    """
    order = source_order(F.col("source"), sources)
    if len(sources) == 1:
        return listed
    same_file = Window.partitionBy("container", "offset").orderBy(order)
    same_path = Window.partitionBy("source_path").orderBy(order)
    return (
        listed.withColumn("_copy", F.row_number().over(same_file))
        .where("_copy = 1")
        .withColumn("_copy", F.row_number().over(same_path))
        .withColumn(
            "source_path",
            F.when(F.col("_copy") == 1, F.col("source_path")).otherwise(F.concat_ws("//", "source", "source_path")),
        )
        .select(*MANIFEST.columns)
    )


def source_order(source: Column, sources: Sequence[str]) -> Column:
    """A source's place in the settings' list, from 1; 0 for one that is not in it."""
    places = (F.when(source == name, F.lit(place)) for place, name in enumerate(sources, start=1))
    return F.coalesce(*places, F.lit(0))
