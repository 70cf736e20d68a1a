"""Train models on the synthetic data, with and without contexts, and apply them to tests (Emo Pillars 5)."""

from pyspark.sql import DataFrame

from conf.taxonomy import GOEMOTIONS, EmotionTaxonomy
from etl.emo_pillars import intra_dataset, tables
from etl.emo_pillars.training.stages import passage_stage
from etl.pipeline import RowAccounting, StageRun, stage
from etl.pipeline.outcome import Outcome

CONTEXTLESS = "emo_pillars_contextless"
CONTEXTLESS_REWRITTEN = "emo_pillars_contextless_rewritten"
CONTEXTUAL = "emo_pillars_contextual"
CONTEXTUAL_REWRITTEN = "emo_pillars_contextual_rewritten"
LEARNERS = (CONTEXTLESS, CONTEXTLESS_REWRITTEN, CONTEXTUAL, CONTEXTUAL_REWRITTEN)


@passage_stage(CONTEXTLESS, tables.EXAMPLES)
def emo_pillars_train_contextless(examples: DataFrame) -> DataFrame:
    """Train the context-less model on original utterances (Emo Pillars 5.1.1)."""
    from etl.emo_pillars.training.multi_label import contextless

    return contextless(examples)


@passage_stage(CONTEXTLESS_REWRITTEN, tables.CONTEXTUAL_EXAMPLES)
def emo_pillars_train_contextless_rewritten(examples: DataFrame) -> DataFrame:
    """Train the context-less model on rewritten utterances without contexts (Emo Pillars 5.1.1)."""
    from etl.emo_pillars.training.multi_label import contextual

    return contextual(examples, rewritten=True, with_context=False)


@passage_stage(CONTEXTUAL, tables.CONTEXTUAL_EXAMPLES)
def emo_pillars_train_contextual(examples: DataFrame) -> DataFrame:
    """Train the context-aware model on original utterances with their contexts (Emo Pillars 5.2.1)."""
    from etl.emo_pillars.training.multi_label import contextual

    return contextual(examples, rewritten=False)


@passage_stage(CONTEXTUAL_REWRITTEN, tables.CONTEXTUAL_EXAMPLES)
def emo_pillars_train_contextual_rewritten(examples: DataFrame) -> DataFrame:
    """Train the context-aware model on rewritten utterances with their contexts (Emo Pillars 5.2.1)."""
    from etl.emo_pillars.training.multi_label import contextual

    return contextual(examples, rewritten=True)


@stage(
    manual=True,
    reads=(tables.EXAMPLES, tables.CONTEXTUAL_EXAMPLES),
    writes=tables.TEST_ANSWERS,
    models=LEARNERS,
    units="answers",
    resources=(GOEMOTIONS,),
)
def emo_pillars_answer_tests(
    examples: DataFrame, contextual_examples: DataFrame, taxonomy: EmotionTaxonomy, run: StageRun
) -> Outcome:
    """Apply each model to the test sets, with and without contexts (Emo Pillars 5.1.1, 5.2.1)."""
    from etl.emo_pillars.training.multi_label import answers_on_tests

    return answers_on_tests(examples, contextual_examples, taxonomy.names, run)


@stage(
    manual=True,
    reads=(tables.TEST_ANSWERS,),
    writes=tables.INTRA_DATASET,
    units=RowAccounting("test sets", "count(DISTINCT learner, tested_on)", "count_if(class = 'macro')"),
)
def emo_pillars_intra_dataset(answers: DataFrame) -> Outcome:
    """Score models on the data set's test sets, and test whether contexts help (Emo Pillars Tables 1 and 5)."""
    tested = intra_dataset.significance(answers).selectExpr("*", "'macro' AS class")
    scores = intra_dataset.class_scores(answers)
    return Outcome(scores.join(tested, ["learner", "tested_on", "class"], "left"))
