"""Find the faults of the sampled texts: inconsistency, topic shifts, toxicity apart (AugESC 6.4)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.augesc.faults import faults, looked_at
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.augesc import MEASURED_TEXTS
from etl.lakehouse.tables.augesc_faults import (
    CONTRADICTION_SCORES,
    FAULTS,
    STATEMENT_PAIRS,
    TOPIC_SCORES,
    TOXICITY_SCORES,
)

SETTINGS = ("sampled", "near", "toxic", "contradicts")


@stage(
    reads=(MEASURED_TEXTS, TOPIC_SCORES, TOXICITY_SCORES, STATEMENT_PAIRS, CONTRADICTION_SCORES),
    writes=FAULTS,
    asks=(Model("toxicity"), Model("contradiction")),
    settings=tuple(f"augesc.faults.{name}" for name in SETTINGS),
    units=Units("texts"),
    on_request=True,
)
def augesc_find_faults(
    measured: DataFrame, topics: DataFrame, toxicity: DataFrame, pairs: DataFrame, contradictions: DataFrame,
    run: StageRun,
) -> Outcome:  # fmt: skip
    wanted = run.settings.augesc.faults
    texts = looked_at(measured, wanted.sampled).cache()
    own = (
        scores.where(F.col("model") == run.models[name].identity)
        for name, scores in (("toxicity", toxicity), ("contradiction", contradictions))
    )
    poison, against = own
    rows = faults(
        texts, topics, poison, pairs, against, near=wanted.near, toxic=wanted.toxic, contradicts=wanted.contradicts
    )
    return Outcome(rows, rows_in=texts.count())


if __name__ == "__main__":
    augesc_find_faults.main()
