"""Let a language model label turns that the crowd labelled, and compare it with people (ours; EDOS 3.2)."""

from typing import Annotated

from pyspark.sql import DataFrame

from conf.edos_settings import AnnotatorWay
from conf.llm_settings import DecodingSettings
from conf.taxonomy import Taxonomy
from etl.edos import llm_annotator as annotator
from etl.edos.annotator_agreement import agreement
from etl.llm.model_stages import answer_stage, history_scores, model_stage, prompt_stage, text_scores
from etl.pipeline import At, StageRun, stage
from etl.pipeline.outcome import Outcome
from etl.tables import edos_annotation as tables
from etl.tables import llm
from etl.tables.edos import CROWD_LABELS, SEEDS

ANNOTATOR = "llm_annotator"
GIVEN = f"models.{ANNOTATOR}"
WEAK_LABELER = "weak_labeler"
CLASSIFIER = "emotion_classifier"
Ways = Annotated[tuple[AnnotatorWay, ...], At("edos.llm_annotator.ways")]
Files = Annotated[dict[str, str], At("edos.llm_annotator.prompts")]


@stage(
    manual=True,
    reads=(SEEDS, CROWD_LABELS),
    writes=tables.LLM_ANNOTATOR_TURNS,
    models=(WEAK_LABELER,),
    units="turns",
    enabled_if=GIVEN,
)
def draw_llm_annotator_turns(
    seeds: DataFrame,
    crowd_labels: DataFrame,
    sample: Annotated[int, At("edos.llm_annotator.sample")],
    run: StageRun,
) -> Outcome:
    """Draw held-out turns of the crowd for a language model, with three labels to offer (ours; EDOS 3.2)."""
    drawn = annotator.drawn_turns(seeds, crowd_labels, sample).persist()
    texts = drawn.select("text_hash", "text").dropDuplicates(["text_hash"])
    return annotator.offered_turns(drawn, text_scores(texts, run, WEAK_LABELER))


@prompt_stage(
    (tables.LLM_ANNOTATOR_TURNS,), llm.ANNOTATOR, ANNOTATOR, resources=annotator.PROMPT_FILES, enabled_if=GIVEN
)
def ask_llm_annotator(
    turns: DataFrame,
    ways: Ways,
    decoding: Annotated[DecodingSettings, At("edos.llm_annotator.decoding")],
    labels: Taxonomy,
    files: Files,
) -> DataFrame:
    """Ask a language model for the label of each drawn turn, as the crowd was asked and without offers (ours)."""
    return annotator.label_requests(turns, ways, labels, decoding, files)


@answer_stage(ask_llm_annotator, tables.LLM_ANNOTATIONS, "answers")
def read_llm_annotations(answers: DataFrame, labels: Taxonomy) -> Outcome:
    """Read the label in each answer of the language model (ours)."""
    return annotator.read_labels(answers, labels)


@model_stage(
    history_scores,
    CLASSIFIER,
    6_000,
    reads=(tables.LLM_ANNOTATOR_TURNS,),
    writes=tables.LLM_ANNOTATOR_SCORES,
    units="turns",
    manual=True,
    enabled_if=GIVEN,
)
def score_llm_annotator_turns(turns: DataFrame) -> DataFrame:
    """Score the turns that a language model is asked about by the dialogue classifier, to compare them (ours)."""
    return turns.select("history_hash", "turns").dropDuplicates(["history_hash"])


@stage(
    manual=True,
    reads=(tables.LLM_ANNOTATOR_TURNS, tables.LLM_ANNOTATIONS, tables.LLM_ANNOTATOR_SCORES),
    optional=(tables.LLM_ANNOTATOR_SCORES,),
    writes=tables.LLM_ANNOTATOR_AGREEMENT,
    models=(ANNOTATOR,),
    units="raters",
    enabled_if=GIVEN,
)
def compare_llm_annotator(
    turns: DataFrame,
    annotations: DataFrame,
    scores: DataFrame,
    ways: Ways,
    labels: Taxonomy,
    run: StageRun,
) -> Outcome:
    """Compare the language model with the crowd, beside people, classifiers and floors (ours; EDOS 3.2)."""
    return agreement(turns, annotations, scores, ways, run.model(ANNOTATOR).identity, labels.names)
