"""Slices: work between two commits, bounded in cost, told apart by the hash of the key."""

import math
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.lakehouse.stage import Sliced

MOST_SLICES = 1_000


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
        return F.pmod(F.xxhash64(key), F.lit(self.slices))


def plan_slices(pending: DataFrame, sliced: Sliced, minutes: float, cores: int, slices: int | None = None) -> SlicePlan:
    """Cut pending work so that a slice takes about ``minutes`` on ``cores``.

    Args:
        pending: one row for each unit of work.
        sliced: names key and cost.
        minutes: ``pipeline.slice_minutes``.
        cores: that work at once.
        slices: the cut of a run that goes on, which must not change under it.
    """
    if slices is None:
        row = pending.agg(F.expr(sliced.cost)).first()
        cost = float(row[0] or 0) if row is not None else 0.0
        slices = min(MOST_SLICES, max(1, math.ceil(cost / (sliced.cost_per_minute * minutes * cores))))
    plan = SlicePlan(slices, {})
    counted = pending.groupBy(plan.number_of(sliced.key).alias("number")).agg(
        F.count("*").alias("units"), F.expr(sliced.cost).cast("double").alias("cost")
    )
    found = {row.number: (row.units, row.cost) for row in counted.collect()}
    return SlicePlan(slices, dict(sorted(found.items())))
