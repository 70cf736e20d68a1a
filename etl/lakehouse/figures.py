"""Several numbers about several tables, in one query."""

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

Figures = Mapping[str, tuple[DataFrame, Sequence[Column]]]
"""By name: a frame, and aggregates of whole numbers over it."""


def collected(figures: Figures) -> dict[str, list[int]]:
    """Collect the aggregates, by name in their order; a sum of no rows is 0."""
    parts = [
        frame.agg(F.array(*(F.coalesce(one.cast("bigint"), F.lit(0)) for one in aggregates)).alias("numbers")).select(
            F.lit(name).alias("name"), "numbers"
        )
        for name, (frame, aggregates) in figures.items()
    ]
    return {row["name"]: row["numbers"] for row in reduce(DataFrame.union, parts).collect()}
