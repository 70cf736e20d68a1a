"""Runs of turns that are right with a given probability and say most: data sets that one can trust (ours)."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.columns import with_computed
from etl.common.dialogue_content import Said, best_spans, span_worth

_compute: Any = pc

SPAN = "struct<first: int, size: int, certainty: float>"
"""A run of kept turns: the place of its first among the kept turns, how many, and its certainty."""


MOST_TURNS = 10
"""Of a span that is chosen by its worth."""


def worthiest_spans(
    texts: Sequence[str],
    certainties: Sequence[float],
    opening: Sequence[float],
    least: float,
    function_words: Collection[str],
    *,
    places: Sequence[int] | None = None,
    min_turns: int = 2,
) -> list[tuple[int, int, float]]:
    """Return the runs of turns that are worth most, none of which overlap (``dialogue_content.span_worth``).

    The sum of the squares of their worths is the largest.

    A run is right if every decision about its borders is: the one before its first turn, those within it, and the one
    after its last turn. They are counted as independent, so that its probability is ``opening`` of its first turn times
    ``certainties`` of all its turns, rounded to 4 decimals.

    Args:
        texts: of the turns that stay.
        certainties: of each raw turn of a dialogue, that it is one speaker's and ends where the speaker changes.
        opening: of each raw turn, that it begins where the speaker changes.
        least: the probability asked of a run.
        function_words: words that say little by themselves.
        places: of the turns that stay, in order, among the raw ones; None: all stay. The borders of a turn that went
            alone count in a run that reaches over it.
        min_turns: of a run, which has ``MOST_TURNS`` at most.

    Returns:
        (first, size, probability) of each run in order; first counts the turns that stay.
    """
    kept = list(range(len(certainties))) if places is None else list(places)
    said = [Said.of(text, function_words) for text in texts]
    found: dict[tuple[int, int], float] = {}

    def worths() -> Iterator[tuple[int, int, float]]:
        for end in range(1, len(kept) + 1):
            together = 1.0
            after = kept[end - 1] + 1
            for first in range(end - 1, max(-1, end - 1 - MOST_TURNS), -1):
                for raw in range(kept[first], after):
                    together *= certainties[raw]
                after = kept[first]
                if round(together, 4) < least:
                    break
                probability = round(together * opening[kept[first]], 4)
                if end - first >= min_turns and probability >= least:
                    found[first, end] = probability
                    # Squares, since one good span is chosen later where two poor ones are not.
                    yield first, end, span_worth(said[first:end], probability) ** 2

    return [(first, end - first, found[first, end]) for first, end in best_spans(worths())]


def with_spans(dialogues: DataFrame, least: float, min_turns: int, function_words: Collection[str]) -> DataFrame:
    """Add column ``spans``, array<struct<first, size, certainty>>, of :func:`worthiest_spans`.

    Args:
        dialogues: certainties and border_certainties of the raw turns, and places of the turns that stay among them.
            Without certainties (tables of older runs) all turns are one span of unknown certainty.
        least, min_turns, function_words: see :func:`worthiest_spans`.
    """

    rules: dict[str, Any] = {"least": least, "min_turns": min_turns, "function_words": function_words}
    kind = pa.list_(pa.struct([("first", pa.int32()), ("size", pa.int32()), ("certainty", pa.float32())]))

    def spans(batch: pa.RecordBatch) -> list[pa.Array]:
        lists = [batch.column(name).to_pylist() for name in ("certainties", "border_certainties", "places")]
        found = [_spans(*row, **rules) for row in zip(*lists, _texts(batch), strict=True)]
        return [pa.array(found, kind)]

    return with_computed(dialogues, {"spans": f"array<{SPAN}>"}, spans)


def _texts(batch: pa.RecordBatch) -> list[list[str]]:
    turns = batch.column("turns")
    texts = _compute.struct_field(turns.flatten(), "text")
    bounds = np.concatenate([[0], np.cumsum(np.asarray(_compute.list_value_length(turns)))])
    return pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), texts).to_pylist()


def _spans(
    certainties: list[float] | None,
    opening: list[float] | None,
    places: list[int],
    texts: list[str],
    *,
    least: float,
    min_turns: int,
    function_words: Collection[str],
) -> list[dict[str, float | None]]:
    if certainties is None:
        return [{"first": 0, "size": len(places), "certainty": None}] if places else []
    opening = [1.0] * len(certainties) if opening is None else opening
    found = worthiest_spans(texts, certainties, opening, least, function_words, places=places, min_turns=min_turns)
    return [{"first": first, "size": size, "certainty": probability} for first, size, probability in found]


def certainty_of(places: Column) -> Column:
    """Return the probability that all borders of a dialogue are right, from its raw certainties and kept places.

    It is that of a run from its first to its last turn, see :func:`worthiest_spans`, as float with 4 decimals; null
    without certainties.
    """
    first = F.get(places, F.lit(0))
    last = F.element_at(places, -1)
    within = F.slice("certainties", first + 1, last - first + 1)
    opening = F.coalesce(F.get("border_certainties", first), F.lit(1.0))
    product = F.aggregate(within, opening.cast("double"), lambda right, turn: right * turn)
    return F.when(F.size(places) > 0, F.round(product, 4).cast("float"))
