"""Weak labels of every turn, and the dialogues chosen by them as emotional: EDOS (initial) (EDOS 3.1)."""

from pyspark.sql import DataFrame

from etl.edos.choosing import choose_emotional
from etl.edos.texts import distinct_texts, weak_labels_of_turns
from etl.lakehouse.asking import asks_once, text_scores
from etl.lakehouse.families import trains
from etl.lakehouse.outcome import Outcome, Trained
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import INITIAL, WEAK_LABELS, WEAK_SCORES
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


@trains("weak_labeler", "models.weak_encoder", "edos.taxonomy", units="sentences", on_request=False,
        inputs=("edos.weak_label_examples",))  # fmt: skip
def train_weak_labeler(run: StageRun) -> Trained:
    """Train the weak labeler: 41 classes, one sentence at a time, on labelled sentences (EDOS 3.1)."""
    from etl.lakehouse.trainings.classifiers import train_and_register_weak_labeler

    return train_and_register_weak_labeler(run)


@asks_once(text_scores, "weak_labeler", 12_000, reads=(CLEAN_DIALOGUES,), writes=WEAK_SCORES, units="texts")
def score_weakly(dialogues: DataFrame, run: StageRun) -> DataFrame:
    """Ask the weak labeler about each distinct turn text, once per model."""
    return distinct_texts(dialogues)


@stage(
    reads=(CLEAN_DIALOGUES, WEAK_SCORES),
    writes=WEAK_LABELS,
    asks=("weak_labeler",),
    units=Units("turns", "sum(size(turns))"),
)
def label_weakly(dialogues: DataFrame, scores: DataFrame, run: StageRun) -> Outcome:
    """Give every turn of the clean dialogues its weak label, from the texts' scores (EDOS 3.1)."""
    return weak_labels_of_turns(dialogues, scores, run.models["weak_labeler"].identity)


@stage(
    reads=(CLEAN_DIALOGUES, WEAK_LABELS),
    writes=INITIAL,
    settings=("edos.top_n", "edos.dialogue_confidence"),
    units="dialogues",
)
def select_emotional(dialogues: DataFrame, weak_labels: DataFrame, run: StageRun) -> Outcome:
    """Choose the N dialogues with the most confident weak labels: EDOS (initial) (EDOS 3.1)."""
    edos = run.settings.edos
    return choose_emotional(dialogues, weak_labels, edos.top_n, edos.dialogue_confidence)
