"""Whether people agree with the labels: examples drawn, a questionnaire, its answers scored (Emo Pillars I)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.emo_pillars.label_form import LABEL_FORM, QUESTIONS, REQUIRED, chosen_examples, label_tasks
from etl.emo_pillars.label_scores import label_scores
from etl.emo_pillars.samples import evaluated
from etl.lakehouse.families import collects_form, writes_form
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, manual_stage, under
from etl.lakehouse.tables.emo_pillars import CONTEXTUAL_EXAMPLES
from etl.lakehouse.tables.emo_pillars_analysis import (
    EVALUATION_ANSWERS,
    EVALUATION_FILES,
    EVALUATION_SCORES,
    EVALUATION_TASKS,
)

SECTION = "emo_pillars.evaluation"
DRAW = (
    "examples", "items_per_hit", "neutral_alone", "neutral_beside", "ranked_share", "rewritten_share", "seed",
)  # fmt: skip


@manual_stage(reads=(CONTEXTUAL_EXAMPLES,), writes=EVALUATION_TASKS, settings=under(SECTION, *DRAW), units="items")
def emo_pillars_prepare_evaluation(contextual: DataFrame, run: StageRun) -> Outcome:
    """Draw the examples whose labels people check, with options as the paper builds them (Emo Pillars I.1)."""
    wanted = run.settings.emo_pillars.evaluation
    rows = evaluated(contextual.where(F.col("split") == "train"), wanted.examples, wanted.seed)
    examples = chosen_examples(
        (row.asDict(recursive=True) for row in rows.orderBy("nth", "utterance_id").collect()),
        examples=wanted.examples, alone=wanted.neutral_alone, beside=wanted.neutral_beside,
    )  # fmt: skip
    tasks = label_tasks(
        examples, per_hit=wanted.items_per_hit, ranked_share=wanted.ranked_share,
        rewritten_share=wanted.rewritten_share, seed=wanted.seed,
    )  # fmt: skip
    return Outcome(run.spark.createDataFrame(tasks, EVALUATION_TASKS.schema), rows_in=len(tasks))


@writes_form(LABEL_FORM, SECTION, EVALUATION_TASKS, EVALUATION_FILES)
def emo_pillars_export_evaluation() -> None:
    """Write the questionnaire on labels as a page, with the key to its answers (Emo Pillars I.1)."""


@collects_form(LABEL_FORM, SECTION, QUESTIONS, REQUIRED, EVALUATION_ANSWERS)
def emo_pillars_collect_evaluation(counted: Outcome) -> Outcome:
    """Collect the raters' answers on labels: which count (Emo Pillars I)."""
    return counted


@manual_stage(reads=(EVALUATION_ANSWERS,), writes=EVALUATION_SCORES, settings=(f"{SECTION}.raters",), units="figures")
def emo_pillars_score_evaluation(answers: DataFrame, run: StageRun) -> Outcome:
    """Score the labels by what raters chose: accuracy, neutral, agreement, contexts (Emo Pillars I.2, Table 14)."""
    rows = (row.asDict() for row in answers.toLocalIterator())
    found = label_scores(rows, run.settings.emo_pillars.evaluation.raters)
    return Outcome(run.spark.createDataFrame(found, EVALUATION_SCORES.schema), rows_in=len(found))
