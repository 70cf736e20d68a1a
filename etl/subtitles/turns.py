"""Turns of a file, separated by marks, by the turn segmenter and by long silences (EDOS 3.1)."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

from etl.subtitles.turn_marks import NEW_TURN, SAME_TURN, UNMARKED, spoken, without_dash
from etl.subtitles.turn_sentences import UNKNOWN_MS, Sentences

_compute: Any = pc
_NUMBERS = ("start_ms", "end_ms", "sentence_first", "sentence_last")
OPENING_DASH_MARGIN = -0.2
"""Ours, chosen on one film: right for 70% of these dashes in the others, where a turn at each is right for 58%."""
_TURNS = ArrayType(StructType([StructField("text", StringType()), *(StructField(n, IntegerType()) for n in _NUMBERS)]))


def turn_starts(
    sentences: Sentences,
    margins: np.ndarray,
    carried: np.ndarray | None = None,
    *,
    explicit_marks: bool,
    silence_ends_turn_ms: int | None,
    opening_dash_margin: float = OPENING_DASH_MARGIN,
) -> np.ndarray:
    """Return whether each sentence opens a turn.

    Args:
        sentences: the sentences of several files.
        margins: the segmenter's score before each sentence; ignored for a file's first sentence.
        carried: the marks of other uploads before each sentence, NEW_TURN, SAME_TURN or UNMARKED; they decide where
            the file's own marks do not (``Spoken.certain``).
        explicit_marks: whether a dash or speaker label overrides the segmenter.
        silence_ends_turn_ms: a longer silence ends a turn (ours); None disables the rule.
        opening_dash_margin: where nothing else decides, a score above it opens a turn at a ``Spoken.opening_dash``.
    """
    lines = spoken(sentences)
    decided = lines.certain if explicit_marks else np.full(len(lines.file), UNMARKED, dtype=np.int8)
    if carried is not None:
        decided = np.where(decided == UNMARKED, carried[lines.opens_at], decided)
    limit = np.where(explicit_marks & lines.opening_dash, opening_dash_margin, 0.0)
    by_margin = (margins[lines.opens_at] > limit) & lines.pairable
    starts = np.zeros(len(sentences), dtype=bool)
    starts[lines.opens_at] = (decided == NEW_TURN) | ((decided != SAME_TURN) & by_margin)
    if silence_ends_turn_ms is not None:
        starts |= sentences.silence_ms > silence_ends_turn_ms
    return starts | sentences.first


def turn_lists(sentences: Sentences, starts: np.ndarray) -> pa.Array:
    """Return each file's turns as an Arrow list of structs.

    A turn's text is its sentences, joined by a blank, without dialogue dashes but with speaker labels. It starts with
    its first sentence and ends with its last; a missing time is null. Turns without text are dropped.
    """
    texts = without_dash(sentences.text)
    first = np.flatnonzero(starts)
    last = np.concatenate([first[1:], [len(sentences)]])[: len(first)] - 1
    some = np.asarray(_compute.not_equal(texts, ""), dtype=bool)
    through = np.concatenate([[0], np.cumsum(some)])
    bounds = through[np.concatenate([first, [len(sentences)]])]
    words = pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), texts.filter(pa.array(some)))
    kept = np.diff(bounds) > 0
    first, last = first[kept], last[kept]
    file = sentences.file[first]
    offset = sentences.offsets[file]
    start_ms, end_ms = sentences.start_ms[first], sentences.end_ms[last]
    turns = pa.StructArray.from_arrays(
        [
            _compute.binary_join(words.filter(pa.array(kept)), " "),
            pa.array(start_ms, pa.int64(), mask=start_ms == UNKNOWN_MS).cast(pa.int32()),
            pa.array(end_ms, pa.int64(), mask=end_ms == UNKNOWN_MS).cast(pa.int32()),
            pa.array(first - offset, pa.int32()),
            pa.array(last - offset, pa.int32()),
        ],
        names=["text", *_NUMBERS],
    )
    per_file = np.bincount(file, minlength=len(sentences.offsets) - 1)
    return pa.ListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(per_file)]), pa.int32()), turns)


def flat_values(column: pa.Array, sentences: Sentences, missing: float) -> np.ndarray:
    """Return the value before each sentence of several files, from lists with one value for each adjacent pair.

    Args:
        column: a nullable list of numbers or booleans; nulls are missing, surplus values are ignored.
        sentences: the files' sentences.
        missing: the value without one.
    """
    values = np.full(len(sentences), missing, dtype=np.float64)
    sizes = np.diff(sentences.offsets)
    given = np.asarray(_compute.fill_null(_compute.list_value_length(column), 0), dtype=np.int64)
    numbers = column.flatten()
    if pa.types.is_boolean(numbers.type):
        numbers = _compute.cast(numbers, pa.int8())
    flat = np.asarray(_compute.fill_null(_compute.cast(numbers, pa.float64()), missing), dtype=np.float64)
    at = np.arange(len(flat)) - np.repeat(np.cumsum(given) - given, given) + 1
    fits = at < np.repeat(sizes, given)
    values[(np.repeat(sentences.offsets[:-1], given) + at)[fits]] = flat[fits]
    return values


def turns_of(
    scored: DataFrame,
    *,
    explicit_marks: bool,
    silence_ends_turn_ms: int | None,
    carried_marks: bool = True,
    opening_dash_margin: float = OPENING_DASH_MARGIN,
) -> DataFrame:
    """Replace ``sentences``, ``scores`` and ``carried`` by ``turns`` (EDOS 3.1: sentences share a turn or not).

    Args:
        scored: ``subtitles.files`` with ``scores`` of ``subtitles.turn_scores``, and its ``carried`` where it has any.
        explicit_marks, silence_ends_turn_ms, opening_dash_margin: see :func:`turn_starts`.
        carried_marks: whether the marks of a film's other uploads override the segmenter, if explicit marks do.

    Returns:
        turns is array<struct<text, start_ms, end_ms, sentence_first, sentence_last>>; the sentence indices start at 0
        in each file and are inclusive.
    """

    def segment(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            sentences = Sentences.of(batch.column("sentences"))
            margins = flat_values(batch.column("scores"), sentences, 0.0)
            carried = flat_values(batch.column("carried"), sentences, UNMARKED) if others else None
            starts = turn_starts(
                sentences, margins, carried, explicit_marks=explicit_marks,
                silence_ends_turn_ms=silence_ends_turn_ms, opening_dash_margin=opening_dash_margin,
            )  # fmt: skip
            columns = [batch.column(name) for name in kept]
            yield pa.RecordBatch.from_arrays([*columns, turn_lists(sentences, starts)], [*kept, "turns"])

    others = explicit_marks and carried_marks and "carried" in scored.columns
    kept = [name for name in scored.columns if name not in ("sentences", "scores", "carried")]
    schema = StructType([scored.schema[name] for name in kept]).add("turns", _TURNS)
    return scored.mapInArrow(segment, schema)
