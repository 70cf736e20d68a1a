"""Collect aggregates over several tables in one query."""

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.pipeline.session import configured

Aggregates = Mapping[str, tuple[DataFrame, Sequence[Column]] | int]
"""By name: a frame, and aggregates of whole numbers over it; or a number that is known."""


def collected(aggregates: Aggregates) -> dict[str, list[int]]:
    """Return the aggregates' values by name; a sum of no rows is 0. A frame given twice is read once."""
    known = {name: [given] for name, given in aggregates.items() if isinstance(given, int)}
    asked = {name: given for name, given in aggregates.items() if not isinstance(given, int)}
    frames = {id(frame): frame for frame, _ in asked.values()}
    if not frames:
        return known
    parts = []
    for frame in frames.values():
        columns = {name: columns for name, (other, columns) in asked.items() if other is frame}
        numbers = (
            F.array(*(F.coalesce(one.cast("bigint"), F.lit(0)) for one in wanted)).alias(name)
            for name, wanted in columns.items()
        )
        empty = (F.lit(None).cast("array<bigint>").alias(name) for name in asked if name not in columns)
        parts.append(frame.agg(*numbers).select("*", *empty).select(*asked))
    query = reduce(lambda one, other: one.union(other), parts)
    # Adaptive execution would run a job for each of the many small parts.
    with configured(query.sparkSession, "spark.sql.adaptive.enabled", "false"):
        rows = query.collect()
    return known | {name: next(row[name] for row in rows if row[name] is not None) for name in asked}
