"""Turns of a file, separated by marks, by the turn segmenter and by long silences (EDOS 3.1)."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, FloatType, IntegerType, StringType, StructField, StructType

from etl.subtitles.borders import OPENING_DASH_MARGIN, Borders
from etl.subtitles.settings import TurnCertainty
from etl.subtitles.turn_marks import UNMARKED, Spoken, speaker_names, with_closed_songs, without_dash
from etl.subtitles.turn_sentences import UNKNOWN_MS, Sentences

_compute: Any = pc
_NUMBERS = ("start_ms", "end_ms", "sentence_first", "sentence_last")
DEFAULT_RATES = TurnCertainty()
_TURN = StructType([StructField("text", StringType()), *(StructField(name, IntegerType()) for name in _NUMBERS)])
SCORED = ("scores", "carried")
"""What decides about a file's borders, as columns beside its sentences."""
TURN_LISTS = {
    "turns": ArrayType(_TURN),
    "certainties": ArrayType(FloatType()),
    "borders": ArrayType(StringType()),
    "border_certainties": ArrayType(FloatType()),
    "speakers": ArrayType(StringType()),
}
"""A file's turns, and what is known about each, as lists of equal length."""


def turn_lists(borders: Borders, certainty: np.ndarray) -> list[pa.Array]:
    """Return each file's turns and what is known about them, as the Arrow lists of :data:`TURN_LISTS`.

    A turn's text is its sentences, joined by a blank, without dialogue dashes but with speaker labels, and with a note
    on both sides of a song. It starts with its first sentence and ends with its last; a missing time is null. Turns
    without text are dropped.

    Args:
        borders: of several files.
        certainty: the probability that the decision before each sentence is right.

    Returns:
        turns; certainties, of each turn the product of ``certainty`` after its first sentence up to the decision that
        ends it; borders, what decided that it opens; border_certainties, how certain that is; speakers, the name of
        the label that it opens with, in capitals, or null.
    """
    sentences = borders.sentences
    starts = borders.starts
    texts = with_closed_songs(sentences, without_dash(sentences.text), borders.lines.labels)
    first = np.flatnonzero(starts)
    last = np.concatenate([first[1:], [len(sentences)]])[: len(first)] - 1
    some = np.asarray(_compute.not_equal(texts, ""), dtype=bool)
    through = np.concatenate([[0], np.cumsum(some)])
    bounds = through[np.concatenate([first, [len(sentences)]])]
    words = pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), texts.filter(pa.array(some)))
    kept = np.diff(bounds) > 0
    through_logs = np.cumsum(np.log(np.append(certainty, 1.0)))
    all_right = np.exp(through_logs[last + 1] - through_logs[first])[kept]
    first = first[kept]
    last = last[kept]
    file = sentences.file[first]
    offset = sentences.offsets[file]
    start_ms = sentences.start_ms[first]
    end_ms = sentences.end_ms[last]
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
    lengths = pa.array(np.concatenate([[0], np.cumsum(per_file)]), pa.int32())
    columns = [
        turns,
        pa.array(np.round(all_right, 4), pa.float32()),
        pa.array(borders.sources[first], pa.string()),
        pa.array(np.round(certainty[first], 4), pa.float32()),
        _compute.take(label_names(sentences, borders.lines), pa.array(first)),
    ]
    return [pa.ListArray.from_arrays(lengths, column) for column in columns]


def label_names(sentences: Sentences, lines: Spoken) -> pa.Array:
    """Return the name of the speaker label before each sentence, in capitals; null without a label of its file."""
    names = speaker_names(sentences.text)
    group = np.zeros(len(sentences), dtype=np.int64)
    group[lines.opens_at] = 1
    group = np.cumsum(group) - 1
    # A label may stand in a sentence of its own before the words: the merged sentences share it.
    places = np.where(lines.labels >= 0, np.arange(len(sentences)), -1)
    first = np.maximum.reduceat(places, lines.opens_at) if len(sentences) else places
    at = first[group]
    return _compute.take(names, pa.array(at, pa.int64(), mask=at < 0))


def flat_values(column: pa.Array, sentences: Sentences, missing: float) -> np.ndarray:
    """Return the value before each sentence of several files, from lists with one value for each adjacent pair.

    Args:
        column: a nullable list of numbers or booleans; nulls are missing, surplus values are ignored.
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


def batch_borders(
    batch: pa.RecordBatch,
    *,
    explicit_marks: bool,
    silence_ends_turn_ms: int | None,
    carried_marks: bool,
    opening_dash_margin: float,
) -> Borders:
    """Return the borders of a batch of files with their scores.

    Args:
        batch: sentences, scores, and ``carried`` where it is there, as :func:`turns_of` takes them.
        explicit_marks, silence_ends_turn_ms, opening_dash_margin: see :meth:`Borders.of`.
        carried_marks: see :func:`turns_of`.
    """
    names = batch.schema.names
    sentences = Sentences.of(batch.column("sentences"))
    others = explicit_marks and carried_marks and "carried" in names
    return Borders.of(
        sentences,
        flat_values(batch.column("scores"), sentences, 0.0),
        flat_values(batch.column("carried"), sentences, UNMARKED) if others else None,
        explicit_marks=explicit_marks,
        silence_ends_turn_ms=silence_ends_turn_ms,
        opening_dash_margin=opening_dash_margin,
    )


def turns_of(
    scored: DataFrame,
    *,
    explicit_marks: bool,
    silence_ends_turn_ms: int | None,
    carried_marks: bool = True,
    opening_dash_margin: float = OPENING_DASH_MARGIN,
    rates: TurnCertainty = DEFAULT_RATES,
) -> DataFrame:
    """Replace the columns ``sentences`` and :data:`SCORED` by the turns and what is known about them.

    EDOS 3.1: sentences share a turn or not.

    Args:
        scored: ``subtitles.files`` with ``scores`` of ``subtitles.turn_scores``, and its ``carried`` where it has any.
        explicit_marks, silence_ends_turn_ms, opening_dash_margin: see :meth:`Borders.of`.
        carried_marks: whether the marks of a film's other uploads override the segmenter, if explicit marks do.
        rates: how often each kind of decision is right.

    Returns:
        turns is array<struct<text, start_ms, end_ms, sentence_first, sentence_last>>; the sentence indices start at 0
        in each file and are inclusive. certainties, borders, border_certainties and speakers have one value for each
        turn, see :func:`turn_lists`.
    """

    def segment(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            borders = batch_borders(
                batch,
                explicit_marks=explicit_marks,
                silence_ends_turn_ms=silence_ends_turn_ms,
                carried_marks=carried_marks,
                opening_dash_margin=opening_dash_margin,
            )
            columns = [batch.column(name) for name in kept]
            lists = turn_lists(borders, borders.certainty(rates))
            yield pa.RecordBatch.from_arrays([*columns, *lists], [*kept, *TURN_LISTS])

    kept = [name for name in scored.columns if name not in ("sentences", *SCORED)]
    schema = StructType([*(scored.schema[name] for name in kept)])
    for name, kind in TURN_LISTS.items():
        schema = schema.add(name, kind)
    return scored.mapInArrow(segment, schema)
