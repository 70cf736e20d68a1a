"""Score the sets by their ratings: means by aspect, tested against the best (AugESC Table 3)."""

from pyspark.sql import DataFrame

from etl.augesc.ratings import rating_scores
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc_evaluation import RATING_SCORES, RATINGS

SETTINGS = "augesc.evaluation.ratings"


@stage(
    reads=(RATINGS,),
    writes=RATING_SCORES,
    settings=(f"{SETTINGS}.significance", f"{SETTINGS}.tested"),
    units=Units("figures"),
    on_request=True,
)
def augesc_score_ratings(ratings: DataFrame, run: StageRun) -> Outcome:
    wanted = run.settings.augesc.evaluation.ratings
    columns = ratings.select("method", "source", "text_id", "aspect", "score")
    rows = (row.asDict() for row in columns.toLocalIterator())
    found = rating_scores(rows, significance=wanted.significance, tested=wanted.tested)
    return Outcome(run.spark.createDataFrame(found, RATING_SCORES.schema), rows_in=len(found))


if __name__ == "__main__":
    augesc_score_ratings.main()
