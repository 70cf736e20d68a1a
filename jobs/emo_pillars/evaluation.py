"""Evaluate the labels by people: draw examples, write a questionnaire, score its answers (Emo Pillars I)."""

from typing import Annotated

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.form_settings import FormAnswers, FormPosting
from conf.taxonomy import GOEMOTIONS, GOEMOTIONS_GROUPS, EmotionTaxonomy
from etl.annotation.form_files import read_form, write_form
from etl.emo_pillars import tables
from etl.emo_pillars.label_form import REQUIRED, chosen_examples, label_form, label_tasks, questions
from etl.emo_pillars.label_scores import WHOLE, label_scores, too_few_raters
from etl.emo_pillars.samples import evaluated
from etl.emo_pillars.settings import LabelDraw
from etl.emo_pillars.tables import CONTEXTUAL_EXAMPLES
from etl.pipeline import At, RowAccounting, StageRun, stage
from etl.pipeline.outcome import Outcome

SECTION = "emo_pillars.evaluation"


@stage(
    manual=True,
    reads=(CONTEXTUAL_EXAMPLES,),
    writes=tables.EVALUATION_TASKS,
    resources=(GOEMOTIONS_GROUPS,),
    units="items",
)
def emo_pillars_prepare_evaluation(
    contextual: DataFrame,
    draw: LabelDraw,
    seed: Annotated[int, At("emo_pillars.evaluation.seed")],
    taxonomy: EmotionTaxonomy,
    run: StageRun,
) -> Outcome:
    """Draw the examples whose labels people check, with options as in the paper (Emo Pillars I.1)."""
    rows = evaluated(contextual.where(F.col("split") == "train"), draw.examples, seed, taxonomy.neutral)
    candidates = (row.asDict(recursive=True) for row in rows.orderBy("nth", "utterance_id").collect())
    examples = chosen_examples(candidates, draw.examples, draw.neutral_alone, draw.neutral_beside, taxonomy.neutral)
    shares = {"ranked_share": draw.ranked_share, "rewritten_share": draw.rewritten_share}
    tasks = label_tasks(examples, per_hit=draw.items_per_hit, seed=seed, taxonomy=taxonomy, **shares)
    return Outcome(run.spark.createDataFrame(tasks, tables.EVALUATION_TASKS.schema), rows_in=len(examples))


@stage(
    manual=True,
    reads=(tables.EVALUATION_TASKS,),
    writes=tables.EVALUATION_FILES,
    units=RowAccounting("items", rows_out="coalesce(max(items), 0)"),
    resources=(GOEMOTIONS, GOEMOTIONS_GROUPS),
)
def emo_pillars_export_evaluation(
    tasks: DataFrame, posting: Annotated[FormPosting, At(SECTION)], taxonomy: EmotionTaxonomy, run: StageRun
) -> Outcome:
    """Write the questionnaire on labels as a page with a key (Emo Pillars I.1)."""
    return write_form(tasks, label_form(taxonomy), posting, run)


@stage(manual=True, writes=tables.EVALUATION_ANSWERS, units="answers", resources=(GOEMOTIONS_GROUPS,))
def emo_pillars_collect_evaluation(
    rules: Annotated[FormAnswers, At(SECTION)], taxonomy: EmotionTaxonomy, run: StageRun
) -> Outcome:
    """Collect the raters' valid answers on labels (Emo Pillars I)."""
    return read_form(label_form(taxonomy), questions(taxonomy), REQUIRED, rules, SECTION, run)


@stage(
    manual=True,
    reads=(tables.EVALUATION_ANSWERS,),
    writes=tables.EVALUATION_SCORES,
    units=RowAccounting("examples", rows_out=f"coalesce(sum(number) FILTER (WHERE measure = '{WHOLE}'), 0)"),
    version=2,
)
def emo_pillars_score_evaluation(
    answers: DataFrame, raters: Annotated[int, At("emo_pillars.evaluation.raters")], run: StageRun
) -> Outcome:
    """Score the labels by the raters' answers: accuracy, neutral, agreement, contexts (Emo Pillars I.2, Table 14)."""
    scores = label_scores((row.asDict() for row in answers.toLocalIterator()), raters)
    examples = answers.select("utterance_id").distinct().count()
    rows = run.spark.createDataFrame(scores, tables.EVALUATION_SCORES.schema)
    return Outcome(rows, too_few_raters(answers, raters), rows_in=examples)
