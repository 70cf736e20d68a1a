"""Score the labels by what raters chose: accuracy, neutral, agreement, contexts (Emo Pillars I.2, Table 14)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.label_scores import label_scores
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars_analysis import EVALUATION_ANSWERS, EVALUATION_SCORES


@stage(
    reads=(EVALUATION_ANSWERS,),
    writes=EVALUATION_SCORES,
    settings=("emo_pillars.evaluation.raters",),
    units=Units("figures"),
    on_request=True,
)
def emo_pillars_score_evaluation(answers: DataFrame, run: StageRun) -> Outcome:
    rows = (row.asDict() for row in answers.toLocalIterator())
    found = label_scores(rows, run.settings.emo_pillars.evaluation.raters)
    return Outcome(run.spark.createDataFrame(found, EVALUATION_SCORES.schema), rows_in=len(found))


if __name__ == "__main__":
    emo_pillars_score_evaluation.main()
