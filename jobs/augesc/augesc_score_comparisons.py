"""Count wins, losses and ties of the bot tuned on AugESC, with the sign test (AugESC Table 4)."""

from pyspark.sql import DataFrame

from etl.augesc.comparisons import comparison_scores
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc_evaluation import COMPARISON_SCORES, COMPARISONS


@stage(reads=(COMPARISONS,), writes=COMPARISON_SCORES, units=Units("figures"), on_request=True)
def augesc_score_comparisons(comparisons: DataFrame, run: StageRun) -> Outcome:
    found = comparison_scores(row.asDict() for row in comparisons.select("aspect", "outcome").toLocalIterator())
    return Outcome(run.spark.createDataFrame(found, COMPARISON_SCORES.schema), rows_in=len(found))


if __name__ == "__main__":
    augesc_score_comparisons.main()
