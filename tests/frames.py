"""Frames that are computed once, however often a test asks them: planning the cleaning costs more than its rows."""

from dataclasses import replace

from pyspark.sql import DataFrame

from etl.pipeline.outcome import Outcome
from etl.pipeline.session import configured


def computed(frame: DataFrame) -> DataFrame:
    """Return the frame's rows without the plan that made them."""
    # A checkpoint of a plan that is not adaptive has a partitioning that self joins cannot rename (Spark 3.5).
    with configured(frame.sparkSession, "spark.sql.adaptive.enabled", "true"):
        return frame.localCheckpoint()


def outcome_computed(outcome: Outcome) -> Outcome:
    """Return an outcome whose rows and ledger are computed."""
    dropped = None if outcome.dropped is None else computed(outcome.dropped)
    return replace(outcome, rows=computed(outcome.rows), dropped=dropped)
