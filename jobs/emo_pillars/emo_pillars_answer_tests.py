"""Ask each model of the synthetic data about its test sets, with contexts and without (Emo Pillars 5.1.1, 5.2.1)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import CONTEXTUAL_EXAMPLES, EXAMPLES, TEST_ANSWERS

LEARNERS = ("contextless", "contextless_rewritten", "contextual", "contextual_rewritten")


@stage(
    reads=(EXAMPLES, CONTEXTUAL_EXAMPLES),
    writes=TEST_ANSWERS,
    asks=tuple(Model(f"emo_pillars_{learner}") for learner in LEARNERS),
    units=Units("answers"),
    on_request=True,
)
def emo_pillars_answer_tests(examples: DataFrame, contextual_examples: DataFrame, run: StageRun) -> Outcome:
    from etl.lakehouse.trainings.multi_label_answers import answers_on_tests

    return answers_on_tests(examples, contextual_examples, run)


if __name__ == "__main__":
    emo_pillars_answer_tests.main()
