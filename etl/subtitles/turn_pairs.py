"""Adjacent sentence pairs labelled by the subtitles' marks (training data for the turns of EDOS 3.1).

There are three sources with different blind spots:

``dashes``: two sentences in one block of an upload that marks its turns by dashes. Only a dash opens a new turn.
``labels``: two sentences of a film that labels its speakers (SDH). A label opens a new turn. Within a block, only a
mark opens one. Between blocks only changes are known, so training masks whether the block is shared.
``carried``: two sentences that one upload of a film shows in one block and another upload in two. The dashes of the
first give the label for the second.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DoubleType, StringType, StructField, StructType

from etl.subtitles.border_features import spoken_speeds
from etl.subtitles.turn_marks import NEW_TURN, spoken
from etl.subtitles.turn_sentences import UNKNOWN_MS, Sentences

_compute: Any = pc

DASHES = "dashes"
LABELS = "labels"
CARRIED = "carried"
MARKS = (DASHES, LABELS, CARRIED)
"""The sources that the subtitles' own marks label."""
MIN_CARRIED = 12
"""Two sentences with at most this many characters occur in many places of a film, so no label is carried over."""

_KEY = ("source", "split_group", "left_text", "right_text")
PAIRS = (
    StructType([StructField(name, StringType()) for name in _KEY])
    .add("label", "integer")
    .add("same_block", "boolean")
    .add("genres", ArrayType(StringType()))
    .add("density", "double")
    .add("silence_ms", "long")
    .add("mark", "boolean")
    .add("left_speed", "double")
    .add("right_speed", "double")
    .add("language", "string")
    .add("place", "long")
)
"""Columns of a labelled pair of adjacent sentences, see :func:`marked_pairs`."""
_CANDIDATES = StructType([*PAIRS.fields]).add("source_path", "string").add("is_dash", "boolean")


def density(sentence_count: np.ndarray, duration_ms: np.ndarray) -> np.ndarray:
    """Return sentences per minute of subtitle duration (EDOS 3.1); NaN for an unknown or zero duration."""
    minutes = np.where(duration_ms > 0, duration_ms, np.nan) / 60_000
    return sentence_count / minutes


def pair_candidates(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the pairs that a mark labels, or that another upload may label."""
    for batch in batches:
        sentences = Sentences.of(batch.column("sentences"))
        lines = spoken(sentences)
        decided = lines.decided
        sizes = np.diff(sentences.offsets)
        labelled = lines.labelled[lines.file]
        is_label = labelled & (((lines.label >= 0) & (decided == NEW_TURN)) | lines.same_block)
        is_dash = lines.same_block & lines.dashed[lines.file] & ~labelled
        kept = np.flatnonzero(lines.pairable & (is_label | is_dash | ~lines.same_block))
        file = lines.file[kept]
        silence = lines.silence_ms[kept]
        speed = spoken_speeds(lines)
        mark = decided[kept]
        source = np.where(is_label[kept], LABELS, np.where(is_dash[kept], DASHES, CARRIED))
        durations = np.asarray(_compute.fill_null(batch.column("subtitle_duration_ms"), 0), dtype=np.int64)
        per_minute = density(sizes, durations)[file]
        rows = pa.array(file)
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(source),
                _compute.take(batch.column("movie_id"), rows),
                _compute.take(lines.text, pa.array(kept - 1)),
                _compute.take(lines.text, pa.array(kept)),
                pa.array((mark == NEW_TURN).astype(np.int32)),
                pa.array(lines.same_block[kept]),
                _compute.take(batch.column("genres"), rows),
                pa.array(per_minute, mask=np.isnan(per_minute)),
                pa.array(silence, mask=silence == UNKNOWN_MS),
                pa.array(mark == NEW_TURN, mask=mark < 0),
                *(pa.array(one, mask=np.isnan(one)) for one in (speed[kept - 1], speed[kept])),
                _compute.take(batch.column("language"), rows),
                pa.array(kept),
                _compute.take(batch.column("source_path"), rows),
                pa.array(is_dash[kept]),
            ],
            names=_CANDIDATES.names,
        )


def films_by_hash(files: DataFrame, films: int) -> DataFrame:
    """Return all uploads of ``films`` films, the first by the hash of their id.

    The hash is another than that of ``turn_evaluation.split_held_out``, which would hold all of them out of a large
    corpus.
    """
    place = F.sha2(F.concat(F.lit("films read "), "movie_id"), 256)
    chosen = files.select("movie_id").distinct().orderBy(place, "movie_id").limit(films)
    return files.join(F.broadcast(chosen), "movie_id", "left_semi")


def pair_rows(pairs: pd.DataFrame, spark: SparkSession) -> DataFrame:
    """Return pairs as rows of ``PAIRS``, with null for what is not a number and for the columns that they lack."""
    there = [field for field in PAIRS if field.name in pairs.columns]
    values = pairs[[field.name for field in there]].astype(object)
    columns = StructType(
        [StructField(one.name, DoubleType() if one.name == "silence_ms" else one.dataType) for one in there]
    )
    rows = spark.createDataFrame(values.where(values.notna(), None), columns)
    none = [F.lit(None).cast(field.dataType).alias(field.name) for field in PAIRS if field not in there]
    return rows.select("*", *none).select(*(F.col(field.name).cast(field.dataType) for field in PAIRS))


def marked_pairs(files: DataFrame) -> DataFrame:
    """Return the distinct pairs of adjacent sentences of each film that the subtitles' marks label.

    Args:
        files: ``subtitles.files``, every upload (source_path, movie_id, genres, subtitle_duration_ms, sentences).

    Returns:
        The columns of ``PAIRS``: source (dashes, labels, carried), split_group (the film), left_text and right_text
        without marks, label (1: a new turn), same_block, genres, density (sentences per minute, nullable),
        silence_ms (nullable), mark (true: a new turn, false: the same turn, null: no mark), left_speed and
        right_speed (characters a second, nullable), language, place (number of the right sentence).
    """
    columns = ("source_path", "movie_id", "language", "genres", "subtitle_duration_ms", "sentences")
    candidates = files.select(*columns).mapInArrow(pair_candidates, _CANDIDATES)
    # A window needs one scan and one shuffle, where a join of the labelled pairs with their copies needs two.
    copies = Window.partitionBy("split_group", F.lower("left_text"), F.lower("right_text"))
    label = F.when(F.col("is_dash"), F.col("label"))
    to_carry = F.col("source") == CARRIED
    known = candidates.withColumns({"low": F.min(label).over(copies), "high": F.max(label).over(copies)})
    agreed = (F.col("low") == F.col("high")) & (F.length("left_text") + F.length("right_text") > MIN_CARRIED)
    pairs = known.filter(~to_carry | agreed)
    return _distinct_pairs(pairs.withColumn("label", F.when(to_carry, F.col("low")).otherwise(F.col("label"))))


def without_leaks(pairs: DataFrame, held_out: DataFrame) -> DataFrame:
    """Drop the films that repeat two or more held-out pairs of at least 6 words.

    The series of the transcripts may be among the films, which would then have the answers to held-out pairs. Both
    arguments are rows of ``PAIRS``.
    """

    def keyed(rows: DataFrame) -> DataFrame:
        both = F.lower(F.concat_ws(" ", "left_text", "right_text"))
        words = F.regexp_extract_all(F.regexp_replace(both, " ?'", ""), F.lit("[a-z0-9]+"), 0)
        return rows.select("split_group", F.array_join(words, " ").alias("key"), F.size(words).alias("words"))

    known = keyed(held_out).filter("words >= 6").select("key").distinct()
    repeats = keyed(pairs).distinct().join(F.broadcast(known), "key").groupBy("split_group").count()
    leaking = repeats.filter(F.col("count") > 1)
    return pairs.join(leaking, "split_group", "left_anti").select(*pairs.columns)


def _distinct_pairs(pairs: DataFrame) -> DataFrame:
    """Return one row per pair of a film and source; pairs with contradicting labels are dropped."""
    rest = [name for name in PAIRS.names if name not in _KEY]
    first = F.min(F.struct("source_path", *rest)).alias("row")
    return (
        pairs.groupBy(*_KEY)
        .agg(first, F.min("label").alias("low"), F.max("label").alias("high"))
        .filter(F.col("low") == F.col("high"))
        .select(*_KEY, "row.*")
        .select(*PAIRS.names)
    )
