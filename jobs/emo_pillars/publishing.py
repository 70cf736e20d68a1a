"""Publish the examples: a judge of their labels, a gate that keeps the fitting ones, and the export (Emo Pillars 4)."""

from typing import Annotated

from pyspark.sql import DataFrame

from conf.emo_pillars_settings import EmoPillarsPublishing
from conf.llm_settings import DecodingSettings
from conf.taxonomy import GOEMOTIONS, GOEMOTIONS_MAPPING, EmotionTaxonomy
from etl.emo_pillars import judges
from etl.emo_pillars.step import Wording
from etl.emo_pillars.steps import judge
from etl.llm.model_stages import model_stage, passage_scores, prompt_stage
from etl.llm.requests import with_answers
from etl.pipeline import At, StageRun, stage
from etl.pipeline.outcome import Outcome
from etl.tables import emo_pillars as tables
from etl.tables import llm
from etl.tables.emo_pillars import CONTEXTUAL_EXAMPLES, EXAMPLES
from etl.tables.emo_pillars_analysis import GATED_EXAMPLES, JUDGE_SCORES, VERDICTS

JUDGE = "emo_pillars_judge"
GIVEN = f"models.{JUDGE}"
NAMES = (GOEMOTIONS, GOEMOTIONS_MAPPING)
Others = Annotated[int, At("emo_pillars.judge.others")]
Decoding = Annotated[DecodingSettings, At("emo_pillars.steps.judge")]
Files = Annotated[dict[str, str], At("emo_pillars.prompts.judge")]


@prompt_stage(
    (EXAMPLES, CONTEXTUAL_EXAMPLES),
    llm.JUDGE,
    JUDGE,
    resources=judge.STEP.prompt_files,
    optional=(CONTEXTUAL_EXAMPLES,),
    enabled_if=GIVEN,
)
def emo_pillars_ask_judge(
    examples: DataFrame,
    contextual: DataFrame,
    others: Others,
    decoding: Decoding,
    taxonomy: EmotionTaxonomy,
    files: Files,
    run: StageRun,
) -> DataFrame:
    """Ask the judge, if it is a language model, which of the offered labels fit each text (ours)."""
    texts = judges.judged_texts(examples, contextual, others, taxonomy)
    requests = judge.requests(texts, decoding, Wording(taxonomy, files))
    return requests.limit(0) if judges.is_classifier(run.model(JUDGE), taxonomy) else requests


@model_stage(
    passage_scores,
    JUDGE,
    12_000,
    reads=(EXAMPLES, CONTEXTUAL_EXAMPLES),
    optional=(CONTEXTUAL_EXAMPLES,),
    writes=JUDGE_SCORES,
    units="texts",
    manual=True,
    resources=(GOEMOTIONS,),
    enabled_if=GIVEN,
)
def emo_pillars_score_judge(
    examples: DataFrame, contextual: DataFrame, others: Others, taxonomy: EmotionTaxonomy, run: StageRun
) -> DataFrame:
    """Apply the judge, if it is a classifier, to each text with its context (ours)."""
    texts = judges.judged_texts(examples, contextual, others, taxonomy)
    passages = texts.select("text_hash", "utterance", "context").dropDuplicates(["text_hash"])
    return passages if judges.is_classifier(run.model(JUDGE), taxonomy) else passages.limit(0)


@stage(
    manual=True,
    reads=(EXAMPLES, CONTEXTUAL_EXAMPLES, llm.JUDGE, JUDGE_SCORES),
    optional=(CONTEXTUAL_EXAMPLES,),
    writes=VERDICTS,
    models=(JUDGE,),
    units="texts",
    resources=(*NAMES, *judge.STEP.prompt_files),
    enabled_if=GIVEN,
)
def emo_pillars_judge(
    examples: DataFrame,
    contextual: DataFrame,
    answers: DataFrame,
    scores: DataFrame,
    others: Others,
    decoding: Decoding,
    taxonomy: EmotionTaxonomy,
    files: Files,
    run: StageRun,
) -> Outcome:
    """Read the judge's verdict on each text: which of the offered labels fit (ours)."""
    texts = judges.judged_texts(examples, contextual, others, taxonomy)
    model = run.model(JUDGE)
    if judges.is_classifier(model, taxonomy):
        return judges.verdicts_of_scores(texts, scores, model.identity, taxonomy)
    wording = Wording(taxonomy, files)
    asked = judge.requests(texts, decoding, wording)
    return judges.verdicts_of_answers(with_answers(asked, answers, model.identity), wording)


@stage(
    manual=True,
    reads=(EXAMPLES, CONTEXTUAL_EXAMPLES, VERDICTS),
    optional=(CONTEXTUAL_EXAMPLES,),
    writes=GATED_EXAMPLES,
    models=(JUDGE,),
    units="examples",
    enabled_if="emo_pillars.judge.gate",
)
def emo_pillars_gate_examples(
    examples: DataFrame, contextual: DataFrame, verdicts: DataFrame, run: StageRun
) -> Outcome:
    """Keep the labels that the judge finds fitting, and the examples with some, for the export (ours)."""
    return judges.gated(examples, contextual, verdicts.where(verdicts["model"] == run.model(JUDGE).required.identity))


@stage(
    manual=True,
    reads=(
        tables.EXAMPLES,
        tables.CONTEXTUAL_EXAMPLES,
        tables.UTTERANCES,
        tables.SOFT_LABELS,
        tables.ACTORS,
        tables.CONTEXTS,
        tables.CLEAN_CONTEXTS,
        tables.REWRITES,
        tables.PLOTS,
        GATED_EXAMPLES,
    ),
    optional=(tables.CONTEXTUAL_EXAMPLES, tables.CONTEXTS, tables.CLEAN_CONTEXTS, tables.REWRITES, GATED_EXAMPLES),
    writes=None,
    shows="files under `emo_pillars.publishing.folder`",
    resources=NAMES,
)
def emo_pillars_export(
    *made: DataFrame,
    publishing: EmoPillarsPublishing,
    gate: Annotated[bool, At("emo_pillars.judge.gate")],
    taxonomy: EmotionTaxonomy,
    run: StageRun,
) -> None:
    """Export both data sets as Parquet and JSON Lines, with the origin of each label and a card (Emo Pillars 4)."""
    from etl.publishing.emo_pillars_export import Made, publish_emo_pillars

    *tables_of, gated = made
    tables_made = Made(*tables_of)._replace(gated=gated if gate else None)
    publish_emo_pillars(tables_made, run, publishing, taxonomy)
