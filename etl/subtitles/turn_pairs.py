"""Adjacent sentence pairs with the truth that the subtitles' own marks give (training data for EDOS 3.1, turns).

Three sources, told apart because each is blind to something else:

``dashes``: both sentences in one block of a film that uses dialogue dashes; a dash opens a new turn, none goes on.
``labels``: in a film that labels its speakers (SDH), a label opens a new turn, and within a block a mark does and
nothing else; between blocks only changes are known, so the training does not see whether the block is shared.
``carried``: two sentences that one upload of a film shows in one block and another upload in two; the dashes of
the first are the truth for the second.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType, StructType

from etl.subtitles.transcripts import PAIR_COLUMNS
from etl.subtitles.turn_marks import NEW_TURN, spoken
from etl.subtitles.turn_sentences import UNKNOWN_MS, Sentences

_compute: Any = pc

DASHES, LABELS, CARRIED = "dashes", "labels", "carried"
MIN_LABELS = 10
"""A file with fewer labelled sentences does not label its speakers."""
MIN_DASHES, MIN_DASH_SHARE = 20, 0.05
"""A file with fewer sentences that open with a dash does not use dashes for turns: their absence says nothing."""
MIN_CARRIED = 12
"""Two sentences of no more characters stand in many places of a film: the truth of one is not the other's."""

PAIRS = (
    StructType()
    .add("source", "string")
    .add("split_group", "string")
    .add("left_text", "string")
    .add("right_text", "string")
    .add("label", "integer")
    .add("same_block", "boolean")
    .add("genres", ArrayType(StringType()))
    .add("density", "double")
    .add("silence_ms", "long")
    .add("mark", "boolean")
)
"""A pair of adjacent sentences with its truth, see :func:`marked_pairs`."""
_CANDIDATES = StructType([*PAIRS.fields, *StructType().add("source_path", "string").add("is_dash", "boolean").fields])


def density(sentence_count: np.ndarray, duration_ms: np.ndarray) -> np.ndarray:
    """Sentences a minute of subtitle duration (EDOS 3.1: number of sentences / subtitle duration).

    Not a number where the duration is unknown or none.
    """
    minutes = np.where(duration_ms > 0, duration_ms, np.nan) / 60_000
    return sentence_count / minutes


def _candidates(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Every pair whose truth a mark gives, or that may take it from another upload."""
    for batch in batches:
        sentences = Sentences.of(batch.column("sentences"))
        said = spoken(sentences)
        decided = said.decided
        sizes = np.diff(sentences.offsets)
        dashes = np.bincount(said.file[said.dash], minlength=batch.num_rows)
        dashed = (dashes >= MIN_DASHES) & (dashes >= MIN_DASH_SHARE * sizes)
        labels = np.bincount(said.file[said.label >= 0], minlength=batch.num_rows)
        labelled = (labels >= MIN_LABELS)[said.file]
        is_label = labelled & (((said.label >= 0) & (decided == NEW_TURN)) | said.same_block)
        is_dash = said.same_block & dashed[said.file] & ~labelled
        kept = np.flatnonzero(said.pairable & (is_label | is_dash | ~said.same_block))
        file, silence, mark = said.file[kept], said.silence_ms[kept], decided[kept]
        source = np.where(is_label[kept], LABELS, np.where(is_dash[kept], DASHES, CARRIED))
        durations = np.asarray(_compute.fill_null(batch.column("subtitle_duration_ms"), 0), dtype=np.int64)
        per_minute = density(sizes, durations)[file]
        rows = pa.array(file)
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(source),
                _compute.take(batch.column("movie_id"), rows),
                _compute.take(said.texts, pa.array(kept - 1)),
                _compute.take(said.texts, pa.array(kept)),
                pa.array((mark == NEW_TURN).astype(np.int32)),
                pa.array(said.same_block[kept]),
                _compute.take(batch.column("genres"), rows),
                pa.array(per_minute, mask=np.isnan(per_minute)),
                pa.array(silence, mask=silence == UNKNOWN_MS),
                pa.array(mark == NEW_TURN, mask=mark < 0),
                _compute.take(batch.column("source_path"), rows),
                pa.array(is_dash[kept]),
            ],
            names=_CANDIDATES.names,
        )


def films_by_hash(files: DataFrame, films: int) -> DataFrame:
    """All uploads of so many films, the first in order of their name's hash: enough to learn from."""
    order = F.sha2("movie_id", 256)
    chosen = files.select("movie_id").distinct().orderBy(order, "movie_id").limit(films)
    return files.join(F.broadcast(chosen), "movie_id", "left_semi")


def transcript_rows(pairs: pd.DataFrame, spark: SparkSession) -> DataFrame:
    """Pairs of transcripts as rows of ``PAIRS``; what a transcript does not know is null.

    Args:
        pairs: from ``transcripts.transcript_pairs``.
        spark: the session.
    """
    rows = spark.createDataFrame(
        list(pairs[list(PAIR_COLUMNS)].itertuples(index=False, name=None)),
        "source string, split_group string, left_text string, right_text string, label int",
    )
    return rows.select(
        *(
            F.col(field.name) if field.name in PAIR_COLUMNS else F.lit(None).cast(field.dataType).alias(field.name)
            for field in PAIRS
        )
    )


def marked_pairs(files: DataFrame) -> DataFrame:
    """Pairs of adjacent sentences whose truth the subtitles' marks give, one row a distinct pair of a film.

    Args:
        files: ``subtitles.files``, every upload (source_path, movie_id, genres, subtitle_duration_ms,
            sentences).

    Returns:
        The columns of ``PAIRS``: source (dashes, labels, carried), split_group (the film), left_text and
        right_text without marks, label (1: a new turn), same_block, genres, density
        (sentences a minute, null when unknown), silence_ms (for the gap rule only, null when unknown), mark
        (what the marks say: true a new turn, false the same, null nothing).
    """
    columns = ("source_path", "movie_id", "genres", "subtitle_duration_ms", "sentences")
    candidates = files.select(*columns).mapInArrow(_candidates, _CANDIDATES)
    # One scan and one shuffle: the truth of a pair in one block stands beside its copies in two.
    copies = Window.partitionBy("split_group", F.lower("left_text"), F.lower("right_text"))
    truth = F.when(F.col("is_dash"), F.col("label"))
    to_carry = F.col("source") == CARRIED
    known = candidates.withColumns({"low": F.min(truth).over(copies), "high": F.max(truth).over(copies)})
    told = (F.col("low") == F.col("high")) & (F.length("left_text") + F.length("right_text") > MIN_CARRIED)
    pairs = known.filter(~to_carry | told)
    return _distinct_pairs(pairs.withColumn("label", F.when(to_carry, F.col("low")).otherwise(F.col("label"))))


def without_leaks(pairs: DataFrame, held_out: DataFrame, *, max_repeats: int = 1) -> DataFrame:
    """The pairs without the films that hold scenes of held-out pairs: a series' transcript may be among them.

    Args:
        pairs, held_out: rows of ``PAIRS``.
        max_repeats: a film that has more than so many of the held-out adjacent pairs, of 6 words and up, goes.
    """

    def keyed(rows: DataFrame) -> DataFrame:
        both = F.lower(F.concat_ws(" ", "left_text", "right_text"))
        words = F.regexp_extract_all(F.regexp_replace(both, " ?'", ""), F.lit("[a-z0-9]+"), 0)
        return rows.select("split_group", F.array_join(words, " ").alias("said"), F.size(words).alias("words"))

    known = keyed(held_out).filter("words >= 6").select("said").distinct()
    repeats = keyed(pairs).distinct().join(F.broadcast(known), "said").groupBy("split_group").count()
    leaking = repeats.filter(F.col("count") > max_repeats)
    return pairs.join(leaking, "split_group", "left_anti").select(*pairs.columns)


def _distinct_pairs(pairs: DataFrame) -> DataFrame:
    """One row for a pair that several uploads of a film repeat; pairs with two truths say nothing and go."""
    names = PAIRS.names
    key = ["source", "split_group", "left_text", "right_text"]
    rest = [name for name in names if name not in key]
    first = F.min_by(F.struct(*rest), F.col("source_path")).alias("row")
    return (
        pairs.groupBy(*key)
        .agg(first, F.min("label").alias("low"), F.max("label").alias("high"))
        .filter(F.col("low") == F.col("high"))
        .select(*key, *(F.col(f"row.{name}").alias(name) for name in rest))
        .select(*names)
    )


__all__ = [
    "CARRIED",
    "DASHES",
    "LABELS",
    "PAIRS",
    "density",
    "films_by_hash",
    "marked_pairs",
    "transcript_rows",
    "without_leaks",
]
