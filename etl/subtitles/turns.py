"""Turns of a file, separated by marks, by the turn segmenter and by long silences (EDOS 3.1)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, FloatType, IntegerType, StringType, StructField, StructType

from conf.subtitle_settings import TurnCertainty
from etl.subtitles.turn_marks import NEW_TURN, SAME_TURN, UNMARKED, Spoken, spoken, without_dash
from etl.subtitles.turn_sentences import UNKNOWN_MS, Sentences

_compute: Any = pc
_NUMBERS = ("start_ms", "end_ms", "sentence_first", "sentence_last")
OPENING_DASH_MARGIN = -0.2
"""Ours, chosen on one film: right for 70% of these dashes in the others, where a turn at each is right for 58%."""
DEFAULT_RATES = TurnCertainty()
_TURNS = ArrayType(StructType([StructField("text", StringType()), *(StructField(n, IntegerType()) for n in _NUMBERS)]))


@dataclass(frozen=True)
class Decisions:
    """What marks and the segmenter say about the sentences of several files.

    Attributes:
        sentences: the sentences.
        lines: the spoken ones.
        own: the decision before each spoken sentence by the file's own marks: NEW_TURN, SAME_TURN or UNMARKED.
        marked: the same by own or carried marks.
        margin: how far the segmenter's score is above its limit.
    """

    sentences: Sentences
    lines: Spoken
    own: np.ndarray
    marked: np.ndarray
    margin: np.ndarray

    @classmethod
    def of(
        cls,
        sentences: Sentences,
        scores: np.ndarray,
        carried: np.ndarray | None = None,
        *,
        explicit_marks: bool = True,
        opening_dash_margin: float = OPENING_DASH_MARGIN,
    ) -> "Decisions":
        """Return the decisions; the arguments are those of :func:`turn_starts`."""
        lines = spoken(sentences)
        own = lines.certain if explicit_marks else np.full(len(lines.file), UNMARKED, dtype=np.int8)
        marked = own if carried is None else np.where(own == UNMARKED, carried[lines.opens_at], own)
        limit = np.where(explicit_marks & lines.opening_dash, opening_dash_margin, 0.0)
        return cls(sentences, lines, own, marked, scores[lines.opens_at] - limit)

    def starts(self, silence_ends_turn_ms: int | None) -> np.ndarray:
        """Return whether each sentence opens a turn; a longer silence ends one (ours), None disables that rule."""
        by_margin = (self.margin > 0) & self.lines.pairable
        starts = np.zeros(len(self.sentences), dtype=bool)
        starts[self.lines.opens_at] = (self.marked == NEW_TURN) | ((self.marked != SAME_TURN) & by_margin)
        if silence_ends_turn_ms is not None:
            starts |= self.sentences.silence_ms > silence_ends_turn_ms
        return starts | self.sentences.first

    def certainty(self, silence_ends_turn_ms: int | None, rates: TurnCertainty) -> np.ndarray:
        """Return the probability that the decision before each sentence is right; 1 where there is nothing to decide.

        Args:
            silence_ends_turn_ms: see :meth:`starts`; nobody decides at such a silence.
            rates: how often each kind of decision is right.
        """
        a, b = rates.model
        model = 1 / (1 + np.exp(-(a + b * np.abs(self.margin))))
        marks = np.where(self.own != UNMARKED, rates.mark, rates.carried)
        found = np.ones(len(self.sentences))
        found[self.lines.opens_at] = np.where(self.marked != UNMARKED, marks, model)
        found[self.lines.opens_at[~self.lines.pairable]] = 1.0
        if silence_ends_turn_ms is not None:
            found[self.sentences.silence_ms > silence_ends_turn_ms] = 1.0
        return found


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
    decisions = Decisions.of(
        sentences, margins, carried, explicit_marks=explicit_marks, opening_dash_margin=opening_dash_margin
    )
    return decisions.starts(silence_ends_turn_ms)


def turn_lists(sentences: Sentences, starts: np.ndarray, certainty: np.ndarray) -> tuple[pa.Array, pa.Array]:
    """Return each file's turns as an Arrow list of structs, and a list of their certainties.

    A turn's text is its sentences, joined by a blank, without dialogue dashes but with speaker labels. It starts with
    its first sentence and ends with its last; a missing time is null. Turns without text are dropped. A turn's
    certainty is the product of ``certainty``, the probability of each decision, after its first sentence up to the
    decision that ends it.
    """
    texts = without_dash(sentences.text)
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
    rounded = pa.array(np.round(all_right, 4), pa.float32())
    return pa.ListArray.from_arrays(lengths, turns), pa.ListArray.from_arrays(lengths, rounded)


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
    rates: TurnCertainty = DEFAULT_RATES,
) -> DataFrame:
    """Replace ``sentences``, ``scores`` and ``carried`` by ``turns`` and ``certainties``.

    EDOS 3.1: sentences share a turn or not.

    Args:
        scored: ``subtitles.files`` with ``scores`` of ``subtitles.turn_scores``, and its ``carried`` where it has any.
        explicit_marks, silence_ends_turn_ms, opening_dash_margin: see :func:`turn_starts`.
        carried_marks: whether the marks of a film's other uploads override the segmenter, if explicit marks do.
        rates: how often each kind of decision is right.

    Returns:
        turns is array<struct<text, start_ms, end_ms, sentence_first, sentence_last>>; the sentence indices start at 0
        in each file and are inclusive. certainties is array<float>, one for each turn, see :func:`turn_lists`.
    """

    def segment(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            sentences = Sentences.of(batch.column("sentences"))
            scores = flat_values(batch.column("scores"), sentences, 0.0)
            carried = flat_values(batch.column("carried"), sentences, UNMARKED) if others else None
            decisions = Decisions.of(
                sentences, scores, carried, explicit_marks=explicit_marks, opening_dash_margin=opening_dash_margin
            )
            certainty = decisions.certainty(silence_ends_turn_ms, rates)
            turns = turn_lists(sentences, decisions.starts(silence_ends_turn_ms), certainty)
            columns = [batch.column(name) for name in kept]
            yield pa.RecordBatch.from_arrays([*columns, *turns], [*kept, "turns", "certainties"])

    others = explicit_marks and carried_marks and "carried" in scored.columns
    kept = [name for name in scored.columns if name not in ("sentences", "scores", "carried")]
    schema = StructType([scored.schema[name] for name in kept]).add("turns", _TURNS)
    return scored.mapInArrow(segment, schema.add("certainties", ArrayType(FloatType())))
