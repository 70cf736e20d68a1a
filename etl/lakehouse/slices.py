"""Slices: work between two commits, bounded in cost, told apart by the hash of the key."""

import math
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.lakehouse.stage import Sliced

MOST_SLICES = 1_000
_BUCKETS = 20_000


@dataclass(frozen=True)
class SlicePlan:
    """How pending work is cut.

    Attributes:
        slices: how many there are, empty ones included.
        pending: slice number to (units, cost) of those with work, in order.
    """

    slices: int
    pending: dict[int, tuple[int, float]]

    def number_of(self, key: str) -> Column:
        """The slice of a unit, from its key alone."""
        return F.floor(_bucket(key) * self.slices / _BUCKETS).cast("int")


def plan_slices(pending: DataFrame, sliced: Sliced, minutes: float, cores: int, slices: int | None = None) -> SlicePlan:
    """Cut pending work so that a slice takes about ``minutes`` on ``cores``.

    Args:
        pending: one row for each unit of work.
        sliced: names key and cost.
        minutes: ``pipeline.slice_minutes``.
        cores: that work at once.
        slices: the cut of a run that goes on, which must not change under it.
    """
    buckets = pending.groupBy(_bucket(sliced.key).alias("bucket")).agg(
        F.count("*").alias("units"), F.expr(sliced.cost).cast("double").alias("cost")
    )
    found = [(row.bucket, row.units, row.cost or 0.0) for row in buckets.collect()]
    if slices is None:
        cost = sum(cost for _, _, cost in found)
        slices = min(MOST_SLICES, max(1, math.ceil(cost / (sliced.cost_per_minute * minutes * cores))))
    work: dict[int, tuple[int, float]] = {}
    for bucket, units, cost in sorted(found):
        number = bucket * slices // _BUCKETS
        before = work.get(number, (0, 0.0))
        work[number] = (before[0] + units, before[1] + cost)
    return SlicePlan(slices, work)


def _bucket(key: str) -> Column:
    """Where a unit stands among equal shares of the keys' hashes; slices are runs of neighbouring shares."""
    return F.pmod(F.xxhash64(key), F.lit(_BUCKETS))
