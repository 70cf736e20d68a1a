"""Ask a model of entailment, where one is named, if a speaker's statements contradict each other (AugESC 6.4)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.augesc_faults import CONTRADICTION_SCORES, STATEMENT_PAIRS


def pending(pairs: DataFrame, run: StageRun) -> DataFrame:
    asked = run.where_asked("contradiction", pairs)
    return asked.select("text_hash", F.col("first").alias("text"), F.col("second").alias("other")).dropDuplicates(
        ["text_hash"]
    )


@stage(
    reads=(STATEMENT_PAIRS,),
    writes=CONTRADICTION_SCORES,
    asks=(Model("contradiction"),),
    sliced=Sliced("text_hash", cost_per_minute=1_000, prepare=pending, cache=True),
    units=Units("pairs"),
    on_request=True,
)
def augesc_score_contradictions(pairs: DataFrame, run: StageRun) -> DataFrame:
    from udfs.predict import label_scores

    return label_scores(pairs, ("contradiction",), **run.asking("contradiction"))


if __name__ == "__main__":
    augesc_score_contradictions.main()
