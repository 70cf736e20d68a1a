"""Cut an incremental stage's pending work into batches, each bounded in cost and committed by itself."""

import math
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.pipeline.stages import Incremental

MAX_BATCHES = 1_000
_BUCKETS = 20_000


@dataclass(frozen=True)
class BatchPlan:
    """Batches of pending work: their number, empty ones included, and the (units, cost) of those with work."""

    count: int
    work: dict[int, tuple[int, float]]

    def number_of(self, incremental: Incremental) -> Column:
        """Return the batch of a unit, from its key, its version or ``together`` alone."""
        return F.floor(_bucket(incremental) * self.count / _BUCKETS).cast("int")


def plan_batches(
    pending: DataFrame,
    incremental: Incremental,
    core_minutes: float,
    count: int | None = None,
    a_minute: float | None = None,
) -> BatchPlan:
    """Cut pending work so that a batch takes about ``core_minutes``.

    Args:
        pending: one row for each unit of work.
        incremental: names key and cost.
        core_minutes: ``pipeline.slice_minutes`` times the cores that work at once.
        count: the batches of the run that is resumed; None: computed from the cost.
        a_minute: the cost that one core processes in a minute; None: ``incremental.cost_per_minute``.
    """
    buckets = pending.groupBy(_bucket(incremental).alias("bucket")).agg(
        F.count("*").alias("units"), F.expr(incremental.cost).cast("double").alias("cost")
    )
    found = [(row.bucket, row.units, row.cost or 0.0) for row in buckets.collect()]
    if count is None:
        cost = sum(cost for _, _, cost in found)
        count = min(MAX_BATCHES, max(1, math.ceil(cost / ((a_minute or incremental.cost_per_minute) * core_minutes))))
    work: dict[int, tuple[int, float]] = {}
    for bucket, units, cost in sorted(found):
        number = bucket * count // _BUCKETS
        before = work.get(number, (0, 0.0))
        work[number] = (before[0] + units, before[1] + cost)
    return BatchPlan(count, work)


def _bucket(incremental: Incremental) -> Column:
    """Return a unit's bucket, from a hash of what units have in common; a batch is a range of neighbouring buckets."""
    return F.pmod(F.xxhash64(incremental.together or incremental.unit[-1]), F.lit(_BUCKETS))
