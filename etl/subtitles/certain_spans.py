"""Runs of turns whose borders are right with a given probability: data sets that one can trust (ours)."""

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

SPAN = "struct<first: int, size: int, certainty: float>"
"""A run of kept turns: the place of its first among the kept turns, how many, and its certainty."""


def certain_spans(
    certainties: Sequence[float],
    opening: Sequence[float],
    least: float,
    *,
    places: Sequence[int] | None = None,
    min_turns: int = 2,
) -> list[tuple[int, int, float]]:
    """Return the runs of turns that are right with at least the probability ``least``, none of which overlap.

    A run is right if every decision about its borders is: the one before its first turn, those within it, and the one
    after its last turn. They are counted as independent, so that its probability is ``opening`` of its first turn times
    ``certainties`` of all its turns, rounded to 4 decimals. Whatever is right stays so when turns are left out at its
    ends.

    Among all choices of runs the one with the most turns is taken; of those the one with the fewest runs; of those the
    most probable one (the product of its runs); of those the one whose last run begins first.

    Args:
        certainties: of each raw turn of a dialogue, that it is one speaker's and ends where the speaker changes.
        opening: of each raw turn, that it begins where the speaker changes.
        least: the probability asked of a run.
        places: of the turns that stay, in order, among the raw ones; None: all stay. The borders of a turn that went
            alone count in a run that reaches over it.
        min_turns: of a run.

    Returns:
        (first, size, probability) of each run in order; first counts the turns that stay.
    """
    kept = list(range(len(certainties))) if places is None else list(places)
    # The best choice among the first n turns: turns, fewer runs, probability; and the size of the run that ends it.
    best: list[tuple[int, int, float]] = [(0, 0, 1.0)]
    ending: list[tuple[int, float]] = [(0, 1.0)]
    for end, place in enumerate(kept):
        choice = best[end]
        run = (0, 1.0)
        together = 1.0
        after = place + 1
        for first in range(end, -1, -1):
            for raw in range(kept[first], after):
                together *= certainties[raw]
            after = kept[first]
            if round(together, 4) < least:
                break
            probability = round(together * opening[kept[first]], 4)
            size = end - first + 1
            if size < min_turns or probability < least:
                continue
            turns, runs, right = best[first]
            found = (turns + size, runs - 1, right * probability)
            if found >= choice:
                choice = found
                run = (size, probability)
        best.append(choice)
        ending.append(run)
    spans = []
    end = len(kept)
    while end > 0:
        size, probability = ending[end]
        if size:
            spans.append((end - size, size, probability))
        end -= size or 1
    return spans[::-1]


def with_spans(dialogues: DataFrame, least: float, min_turns: int, *, opening_counts: bool = True) -> DataFrame:
    """Add column ``spans``, array<struct<first, size, certainty>>, of :func:`certain_spans`.

    Args:
        dialogues: certainties and border_certainties of the raw turns, and places of the turns that stay among them.
            Without certainties (tables of older runs) all turns are one span of unknown certainty.
        least, min_turns: see :func:`certain_spans`.
        opening_counts: whether the border before a run's first turn counts; otherwise that turn may lack its beginning,
            and more runs are found.
    """

    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            lists = [batch.column(name).to_pylist() for name in ("certainties", "border_certainties", "places")]
            if not opening_counts:
                lists[1] = [None] * batch.num_rows
            found = [_spans(*row, least=least, min_turns=min_turns) for row in zip(*lists, strict=True)]
            yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(found, kind)], [*batch.schema.names, "spans"])

    kind = pa.list_(pa.struct([("first", pa.int32()), ("size", pa.int32()), ("certainty", pa.float32())]))
    columns = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in dialogues.schema)
    return dialogues.mapInArrow(add, f"{columns}, spans array<{SPAN}>")


def _spans(
    certainties: list[float] | None, opening: list[float] | None, places: list[int], *, least: float, min_turns: int
) -> list[dict[str, float | None]]:
    if certainties is None:
        return [{"first": 0, "size": len(places), "certainty": None}] if places else []
    opening = [1.0] * len(certainties) if opening is None else opening
    found = certain_spans(certainties, opening, least, places=places, min_turns=min_turns)
    return [{"first": first, "size": size, "certainty": probability} for first, size, probability in found]


def certainty_of(places: Column) -> Column:
    """Return the probability that all borders of a dialogue are right, from its raw certainties and kept places.

    It is that of a run from its first to its last turn, see :func:`certain_spans`, as float with 4 decimals; null
    without certainties.
    """
    first = F.get(places, F.lit(0))
    last = F.element_at(places, -1)
    within = F.slice("certainties", first + 1, last - first + 1)
    opening = F.coalesce(F.get("border_certainties", first), F.lit(1.0))
    product = F.aggregate(within, opening.cast("double"), lambda right, turn: right * turn)
    return F.when(F.size(places) > 0, F.round(product, 4).cast("float"))
