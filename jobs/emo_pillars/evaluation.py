"""Evaluate the labels by people: draw examples, write a questionnaire, score its answers (Emo Pillars I)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.taxonomy import GOEMOTIONS, GOEMOTIONS_GROUPS
from etl.annotation.form_stages import form_answers_stage, form_stage
from etl.emo_pillars.label_form import LABEL_FORM, REQUIRED, chosen_examples, label_tasks, questions
from etl.emo_pillars.label_scores import WHOLE, label_scores, too_few_raters
from etl.emo_pillars.samples import evaluated
from etl.pipeline import RowAccounting, StageRun, manual_stage, under
from etl.tables import emo_pillars_analysis as tables
from etl.tables.emo_pillars import CONTEXTUAL_EXAMPLES
from etl.tables.outcome import Outcome

SECTION = "emo_pillars.evaluation"
SHARES = ("neutral_alone", "neutral_beside", "ranked_share", "rewritten_share")


@manual_stage(
    reads=(CONTEXTUAL_EXAMPLES,),
    writes=tables.EVALUATION_TASKS,
    resources=(GOEMOTIONS_GROUPS,),
    units="items",
    settings=under(SECTION, "examples", "items_per_hit", "seed", *SHARES),
)
def emo_pillars_prepare_evaluation(contextual: DataFrame, run: StageRun) -> Outcome:
    """Draw the examples whose labels people check, with options as in the paper (Emo Pillars I.1)."""
    settings = run.settings.emo_pillars.evaluation
    rows = evaluated(contextual.where(F.col("split") == "train"), settings.examples, settings.seed)
    candidates = (row.asDict(recursive=True) for row in rows.orderBy("nth", "utterance_id").collect())
    examples = chosen_examples(candidates, settings.examples, settings.neutral_alone, settings.neutral_beside)
    shares = {"ranked_share": settings.ranked_share, "rewritten_share": settings.rewritten_share}
    tasks = label_tasks(examples, per_hit=settings.items_per_hit, seed=settings.seed, **shares)
    return Outcome(run.spark.createDataFrame(tasks, tables.EVALUATION_TASKS.schema), rows_in=len(examples))


@form_stage(LABEL_FORM, SECTION, tables.EVALUATION_TASKS, tables.EVALUATION_FILES, GOEMOTIONS, GOEMOTIONS_GROUPS)
def emo_pillars_export_evaluation() -> None:
    """Write the questionnaire on labels as a page with a key (Emo Pillars I.1)."""


@form_answers_stage(LABEL_FORM, SECTION, questions, REQUIRED, tables.EVALUATION_ANSWERS, GOEMOTIONS_GROUPS)
def emo_pillars_collect_evaluation(counted: Outcome) -> Outcome:
    """Collect the raters' valid answers on labels (Emo Pillars I)."""
    return counted


@manual_stage(
    reads=(tables.EVALUATION_ANSWERS,),
    writes=tables.EVALUATION_SCORES,
    settings=(f"{SECTION}.raters",),
    units=RowAccounting("examples", rows_out=f"coalesce(sum(number) FILTER (WHERE measure = '{WHOLE}'), 0)"),
)
def emo_pillars_score_evaluation(answers: DataFrame, run: StageRun) -> Outcome:
    """Score the labels by the raters' answers: accuracy, neutral, agreement, contexts (Emo Pillars I.2, Table 14)."""
    raters = run.settings.emo_pillars.evaluation.raters
    scores = label_scores((row.asDict() for row in answers.toLocalIterator()), raters)
    examples = answers.select("utterance_id").distinct().count()
    rows = run.spark.createDataFrame(scores, tables.EVALUATION_SCORES.schema)
    return Outcome(rows, too_few_raters(answers, raters), rows_in=examples)
