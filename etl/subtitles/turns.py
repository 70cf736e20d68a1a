"""Turns of a file: where the marks, the turn segmenter and long silences part two sentences (EDOS 3.1)."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, StructType

from etl.subtitles.turn_marks import NEW_TURN, SAME_TURN, UNMARKED, Spoken, spoken, without_dash
from etl.subtitles.turn_sentences import UNKNOWN_MS, Sentences

_compute: Any = pc
_TURN = pa.struct(
    [
        ("text", pa.string()),
        ("start_ms", pa.int32()),
        ("end_ms", pa.int32()),
        ("sentence_first", pa.int32()),
        ("sentence_last", pa.int32()),
    ]
)


def turn_starts(
    sentences: Sentences, margins: np.ndarray, *, explicit_marks: bool, silence_ends_turn_ms: int | None
) -> np.ndarray:
    """Whether each sentence opens a turn, for the sentences of several files laid end to end.

    Args:
        sentences: flattened.
        margins: the segmenter's score before each sentence; those that open a file are not looked at.
        explicit_marks: a dash or speaker label decides, and the segmenter only where the marks say nothing.
        silence_ends_turn_ms: nobody's turn goes on over a longer silence; None: silence ends none (ours, the
            paper does not say).
    """
    said = spoken(sentences)
    decided = said.decided if explicit_marks else np.full(len(said.file), UNMARKED, dtype=np.int8)
    starts = np.zeros(len(sentences), dtype=bool)
    starts[said.opens_at] = _decisions(said, decided, margins[said.opens_at])
    if silence_ends_turn_ms is not None:
        starts |= sentences.silence_ms > silence_ends_turn_ms
    return starts | sentences.first


def _decisions(said: Spoken, decided: np.ndarray, margins: np.ndarray) -> np.ndarray:
    by_margin = (margins > 0) & said.pairable
    return np.where(decided == NEW_TURN, True, np.where(decided == SAME_TURN, False, by_margin))


def turn_lists(sentences: Sentences, starts: np.ndarray) -> pa.Array:
    """Each file's turns as an Arrow list of structs.

    A turn's text is its sentences with one blank between, without the dashes that mark turns; speaker labels
    stay. Its start is its first sentence's, its end its last one's, null where the file gives none. Turns
    without any text go.
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
        fields=list(_TURN),
    )
    per_file = np.bincount(file, minlength=len(sentences.offsets) - 1)
    return pa.ListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(per_file)]), pa.int32()), turns)


def flat_margins(scores: pa.Array, sentences: Sentences) -> np.ndarray:
    """The scores of several files as the margin before each sentence; 0 before a file's first.

    Scores that are missing or too few count as 0, more than there are pairs are not looked at.
    """
    margins = np.zeros(len(sentences))
    sizes = np.diff(sentences.offsets)
    given = np.asarray(_compute.fill_null(_compute.list_value_length(scores), 0), dtype=np.int64)
    flat = np.asarray(_compute.fill_null(scores.flatten(), 0.0), dtype=np.float64)
    at = np.arange(len(flat)) - np.repeat(np.cumsum(given) - given, given) + 1
    fits = at < np.repeat(sizes, given)
    margins[(np.repeat(sentences.offsets[:-1], given) + at)[fits]] = flat[fits]
    return margins


def turns_of(scored: DataFrame, *, explicit_marks: bool, silence_ends_turn_ms: int | None) -> DataFrame:
    """Each file's turns (EDOS 3.1: two consecutive sentences are of one turn or not).

    Args:
        scored: ``subtitles.files`` with the ``scores`` of ``subtitles.turn_scores``.
        explicit_marks: a dash or speaker label decides, and the segmenter the rest.
        silence_ends_turn_ms: a longer silence ends a turn; None for never.

    Returns:
        The files' columns without ``sentences`` and ``scores``, and ``turns``: array of struct(text, start_ms, end_ms,
        sentence_first, sentence_last), indices from 0 within the file, both inclusive.
    """

    def segment(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            sentences = Sentences.of(batch.column("sentences"))
            margins = flat_margins(batch.column("scores"), sentences)
            starts = turn_starts(
                sentences, margins, explicit_marks=explicit_marks, silence_ends_turn_ms=silence_ends_turn_ms
            )
            columns = [batch.column(name) for name in kept]
            yield pa.RecordBatch.from_arrays([*columns, turn_lists(sentences, starts)], [*kept, "turns"])

    kept = [name for name in scored.columns if name not in ("sentences", "scores")]
    schema = StructType([scored.schema[name] for name in kept]).add("turns", _turns_type())
    return scored.mapInArrow(segment, schema)


def _turns_type() -> ArrayType:
    turn = StructType().add("text", "string").add("start_ms", "integer").add("end_ms", "integer")
    return ArrayType(turn.add("sentence_first", "integer").add("sentence_last", "integer"))


__all__ = ["flat_margins", "turn_lists", "turn_starts", "turns_of"]
