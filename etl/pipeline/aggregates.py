"""Collect aggregates over several tables in one query."""

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

Aggregates = Mapping[str, tuple[DataFrame, Sequence[Column]]]
"""By name: a frame, and aggregates of whole numbers over it."""


def collected(aggregates: Aggregates) -> dict[str, list[int]]:
    """Return the aggregates' values by name; a sum of no rows is 0."""
    parts = [
        frame.agg(F.array(*(F.coalesce(one.cast("bigint"), F.lit(0)) for one in columns)).alias("numbers")).select(
            F.lit(name).alias("name"), "numbers"
        )
        for name, (frame, columns) in aggregates.items()
    ]
    return {row["name"]: row["numbers"] for row in reduce(DataFrame.union, parts).collect()}
