"""Scoring of adjacent sentences by any model, for rows of pairs and for whole files (turns of EDOS 3.1)."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import with_computed
from etl.pipeline.rows_among import is_named, rows_among
from etl.pipeline.tables.ops import WORK_VERSION
from etl.subtitles.border_features import spoken_speeds
from etl.subtitles.borders import Borders
from etl.subtitles.turn_features import PairContext, hashed_genres
from etl.subtitles.turn_marks import NEW_TURN, SAME_TURN, UNMARKED, spoken
from etl.subtitles.turn_pairs import density
from etl.subtitles.turn_sentences import UNKNOWN_MS, Sentences

_compute: Any = pc
CARRIED = "array<struct<sentence: int, new_turn: boolean>>"
"""Type of the marks of other uploads: the index of the right sentence, and whether it opens a turn."""
_CHUNK = 4096
"""Pairs scored at once: their 900,000 or so SVM features fit into the processor's cache."""


class PairScorer(Protocol):
    """A model that workers call. It is pickled with the task, so it loads large data when it is called."""

    def __call__(self, texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext) -> np.ndarray:
        """Return margins; above 0 the right sentence opens a new turn.

        Args:
            texts: sentences without marks.
            left, right: positions in texts of each pair's sentences.
            context: other attributes of the pairs.
        """


def pairs_of(batch: pa.RecordBatch) -> tuple[pa.Array, np.ndarray, np.ndarray, PairContext]:
    """Return the arguments of a scorer for a batch of rows of ``turn_pairs.PAIRS``.

    A pair whose left sentence is the right one of the row before shares it with that row.
    """
    count = batch.num_rows
    group, place = batch.column("split_group"), batch.column("place")
    goes_on = _compute.and_kleene(
        _compute.equal(group[1:], group[:-1]), _compute.equal(_compute.subtract(place[1:], place[:-1]), 1)
    )
    goes_on = _compute.and_kleene(
        goes_on, _compute.equal(batch.column("left_text")[1:], batch.column("right_text")[:-1])
    )
    left, right = np.arange(count), np.arange(count) + count
    left[1:] = np.where(np.asarray(_compute.fill_null(goes_on, False), dtype=bool), right[:-1], left[1:])
    block = _compute.fill_null(_compute.cast(batch.column("same_block"), pa.int8()), -1)

    def numbers(name: str) -> np.ndarray:
        values = _compute.fill_null(_compute.cast(batch.column(name), pa.float64()), np.nan)
        return np.asarray(values, dtype=np.float64)

    context = PairContext(
        same_block=np.asarray(block, dtype=np.int8),
        genres=hashed_genres(batch.column("genres")),
        density=numbers("density"),
        gap_ms=numbers("silence_ms"),
        left_speed=numbers("left_speed"),
        right_speed=numbers("right_speed"),
        language=np.array(batch.column("language").to_pylist(), dtype=object),
    )
    texts = pa.concat_arrays([batch.column("left_text"), batch.column("right_text")])
    return texts, left, right, context


def with_margins(pairs: DataFrame, scorer: PairScorer) -> DataFrame:
    """Add column ``margin`` to rows of ``turn_pairs.PAIRS``; above 0 the scorer predicts a new turn."""
    in_order = pairs.repartition("split_group").sortWithinPartitions("split_group", "place", "source", "left_text")
    return with_computed(
        in_order, {"margin": "double"}, lambda batch: [pa.array(scorer(*pairs_of(batch)), pa.float64())]
    )


def score_turns(files: DataFrame, scorer: PairScorer, model: str, carried: DataFrame | None = None) -> DataFrame:
    """Score all adjacent sentences of each file, and say what decides about each.

    Args:
        files: source_path, subtitle_id, genres, subtitle_duration_ms, sentences.
        model: the model's identity.
        carried: the marks of other uploads, from ``carried_marks.marks_of_other_uploads``; None: there are none.

    Returns:
        ``subtitles.turn_scores``: scores[i] is the margin that sentence i + 1 opens a new turn, rounded to 4
        decimals, or 0 without a pair. Sentences without words belong to the turn of the next spoken sentence; the
        first of them gets the margin, the mark from other uploads and the source.
    """

    def score(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            models = pa.array([model] * batch.num_rows, pa.string())
            keys = [batch.column("source_path"), batch.column("subtitle_id")]
            yield pa.RecordBatch.from_arrays([*keys, models, *file_scores(batch, scorer)], names)

    names = ["source_path", "subtitle_id", "model", "scores", "carried", "sources"]
    columns = ("source_path", "subtitle_id", "language", "genres", "subtitle_duration_ms", "sentences", "carried")
    none = F.lit(None).cast(CARRIED).alias("carried")
    # The marks go to the sentences: they are a thousandth of them.
    marks = None if carried is None else F.broadcast(carried)
    with_marks = files.select("*", none) if marks is None else files.join(marks, "source_path", "left")
    ddl = (
        "source_path string, subtitle_id string, model string, scores array<float>, carried array<boolean>, "
        "sources array<string>"
    )
    return with_marks.select(*columns).mapInArrow(score, ddl)


def with_film_version(chosen: DataFrame, files: DataFrame, model: str) -> DataFrame:
    """Add ``sentence_count`` and ``work_version``: a hash of the file, of all uploads of its film, and of the model.

    No sentence is read for it.

    Args:
        chosen: source_path of the uploads to score.
        files: ``subtitles.files``, every upload, whose marks may count in the chosen ones.
        model: the model's identity.
    """
    film = F.expr("bit_xor(xxhash64(source_path, content_hash))").over(Window.partitionBy("language", "movie_id"))
    version = F.xxhash64("content_hash", film, F.lit(model)).alias(WORK_VERSION)
    return chosen.join(files.select("source_path", "sentence_count", version), "source_path")


def file_scores(batch: pa.RecordBatch, scorer: PairScorer) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Return the scores, the marks from other uploads and the sources of a batch of files, as Arrow lists."""
    sentences = Sentences.of(batch.column("sentences"))
    lines = spoken(sentences)
    sizes = np.diff(sentences.offsets)
    right = np.flatnonzero(lines.pairable)
    file = lines.file[right]
    durations = np.asarray(_compute.fill_null(batch.column("subtitle_duration_ms"), 0), dtype=np.int64)
    speed = spoken_speeds(lines)
    gap = lines.silence_ms[right]
    context = PairContext(
        lines.same_block[right].astype(np.int8),
        hashed_genres(batch.column("genres")).rows(file),
        density(sizes, durations)[file],
        np.where(gap == UNKNOWN_MS, np.nan, gap),
        speed[right - 1],
        speed[right],
        np.array(batch.column("language").to_pylist(), dtype=object)[file],
    )
    flat = np.zeros(len(sentences), dtype=np.float32)
    for start in range(0, len(right), _CHUNK):
        part = slice(start, start + _CHUNK)
        low = int(right[part][0]) - 1
        high = int(right[part][-1]) + 1
        places = right[part] - low
        texts = lines.text.slice(low, high - low)
        flat[lines.opens_at[right[part]]] = np.round(scorer(texts, places - 1, places, context.part(part)), 4)
    carried = flat_carried(batch.column("carried"), sentences)
    deciders = Borders.of(sentences, flat, carried, lines=lines).deciders
    lengths = pa.array(np.concatenate([[0], np.cumsum(np.maximum(sizes - 1, 0))]), pa.int32())
    later = ~sentences.first

    def lists(values: pa.Array) -> pa.Array:
        return pa.ListArray.from_arrays(lengths, values)

    marks = pa.array(carried[later] == NEW_TURN, mask=carried[later] == UNMARKED)
    decided = pa.array(deciders[later], pa.string(), mask=deciders[later] == "")
    return lists(pa.array(flat[later])), lists(marks), lists(decided)


def scored_files(chosen: DataFrame, files: DataFrame, turn_scores: DataFrame) -> DataFrame:
    """Return the chosen rows of ``subtitles.files`` with scores and carried, as ``turns.turns_of`` takes them.

    Args:
        chosen: source_path of the files.
        files: ``subtitles.files``.
        turn_scores: ``subtitles.turn_scores``.
    """
    rows = rows_among(turn_scores, "source_path", chosen)
    scores = rows.select("source_path", "scores", "carried")
    # A score has four bytes where its sentence has a hundred, so the scores go to the sentences.
    scores = F.broadcast(scores) if is_named(chosen) else scores
    return rows_among(files, "source_path", chosen).drop(WORK_VERSION).join(scores, "source_path")


def flat_carried(column: pa.Array, sentences: Sentences) -> np.ndarray:
    """Return other uploads' mark before each sentence of several files as int8: NEW_TURN, SAME_TURN or UNMARKED.

    Args:
        column: list<struct<sentence, new_turn>>, nullable; sentence counts within the file, and those that it has not
            are ignored.
    """
    marks = np.full(len(sentences), UNMARKED, dtype=np.int8)
    counts = np.asarray(_compute.fill_null(_compute.list_value_length(column), 0), dtype=np.int64)
    each = column.flatten()
    at = np.asarray(_compute.struct_field(each, "sentence"), dtype=np.int64)
    new = np.asarray(_compute.struct_field(each, "new_turn"), dtype=bool)
    fits = at < np.repeat(np.diff(sentences.offsets), counts)
    marks[(np.repeat(sentences.offsets[:-1], counts) + at)[fits]] = np.where(new, NEW_TURN, SAME_TURN)[fits]
    return marks
