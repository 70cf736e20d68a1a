"""Give every turn a weak label, and choose the emotional dialogues: EDOS (initial) (EDOS 3.1)."""

from typing import Annotated

from pyspark.sql import DataFrame

from conf.edos_settings import DialogueConfidence
from conf.taxonomy import Taxonomy
from conf.training_settings import WeakLabelerSettings
from etl.common.hashes import distinct_texts
from etl.edos.choosing import choose_emotional
from etl.edos.texts import weak_labels_of_turns
from etl.llm.model_stages import model_stage, text_scores
from etl.pipeline import At, RowAccounting, StageRun, stage
from etl.tables.edos import INITIAL, WEAK_LABELS, WEAK_SCORES
from etl.tables.outcome import Outcome, Trained
from etl.tables.subtitles import CLEAN_DIALOGUES
from etl.training.stages import Threads, training_stage, with_threads


@training_stage(
    "weak_labeler",
    units="sentences",
    manual=False,
)
def train_weak_labeler(
    options: WeakLabelerSettings,
    threads: Threads,
    encoder: Annotated[str, At("models.weak_encoder")],
    labels: Taxonomy,
    examples: Annotated[str | None, At("edos.weak_label_examples")],
    run: StageRun,
) -> Trained:
    """Train the weak labeler of 41 classes on labelled sentences (EDOS 3.1)."""
    from etl.training.recipes.classifiers import train_and_register_weak_labeler

    return train_and_register_weak_labeler(run, with_threads(options, threads), labels, encoder, examples)


@model_stage(text_scores, "weak_labeler", 12_000, reads=(CLEAN_DIALOGUES,), writes=WEAK_SCORES, units="texts")
def score_weakly(dialogues: DataFrame) -> DataFrame:
    """Score each distinct turn text by the weak labeler, once per model."""
    return distinct_texts(dialogues, "turns.text")


@stage(
    reads=(CLEAN_DIALOGUES, WEAK_SCORES),
    writes=WEAK_LABELS,
    models=("weak_labeler",),
    units=RowAccounting("turns", "sum(size(turns))"),
)
def label_weakly(dialogues: DataFrame, scores: DataFrame, run: StageRun) -> Outcome:
    """Give every turn of the clean dialogues the weak label of its text (EDOS 3.1)."""
    return weak_labels_of_turns(dialogues, scores, run.models["weak_labeler"].identity)


@stage(
    reads=(CLEAN_DIALOGUES, WEAK_LABELS),
    writes=INITIAL,
    units="dialogues",
)
def select_emotional(
    dialogues: DataFrame,
    weak_labels: DataFrame,
    top_n: Annotated[int, At("edos.top_n")],
    confidence: Annotated[DialogueConfidence, At("edos.dialogue_confidence")],
) -> Outcome:
    """Choose the N dialogues with the most confident weak labels: EDOS (initial) (EDOS 3.1)."""
    return choose_emotional(dialogues, weak_labels, top_n, confidence)
