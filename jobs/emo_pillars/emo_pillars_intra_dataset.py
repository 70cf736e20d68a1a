"""Score models on the data set's own test sets, and test whether contexts help (Emo Pillars Tables 1 and 5)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.intra_dataset import class_scores, significance
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import INTRA_DATASET, TEST_ANSWERS


@stage(
    reads=(TEST_ANSWERS,),
    writes=INTRA_DATASET,
    units=Units("test sets", "count(DISTINCT learner, tested_on)", "count_if(class = 'macro')"),
    on_request=True,
)
def emo_pillars_intra_dataset(answers: DataFrame, run: StageRun) -> Outcome:
    tested = significance(answers).selectExpr("*", "'macro' AS class")
    return Outcome(class_scores(answers).join(tested, ["learner", "tested_on", "class"], "left"))


if __name__ == "__main__":
    emo_pillars_intra_dataset.main()
