"""Train and compare the dialogue emotion classifier, and label the finished EDOS rows (EDOS 3.3, C)."""

from typing import Annotated

from pyspark.sql import DataFrame

from conf.taxonomy import Taxonomy
from etl.edos import published
from etl.edos.label_thresholds import held_out_answers, held_out_histories, label_thresholds
from etl.edos.settings import ComparisonSettings, EmotionClassifierSettings, EmotionStudentSettings
from etl.edos.tables import (
    CLASSIFIER_TRIALS,
    DIALOGUE_SCORES,
    DIALOGUES,
    HELD_OUT_SCORES,
    INITIAL,
    LABEL_THRESHOLDS,
    TRAINING_DIALOGUES,
)
from etl.edos.turn_labels import distinct_histories, labelled_dialogues
from etl.llm.model_stages import history_scores, model_stage
from etl.pipeline import At, FromFiles, Incremental, Model, RowAccounting, StageRun, Units, stage
from etl.pipeline.outcome import Outcome, Trained

CLASSIFIER = "emotion_classifier"
Encoder = Annotated[str, At("models.encoder")]


@stage(
    writes=Model(CLASSIFIER),
    counts=("training.processes",),
    units="turns",
    reads=(TRAINING_DIALOGUES,),
    models=("weak_labeler",),
)
def train_emotion_classifier(
    training_dialogues: DataFrame,
    options: EmotionClassifierSettings,
    encoder: Encoder,
    labels: Taxonomy,
    transcripts: Annotated[tuple[str, ...], At("edos.emotion_transcripts")],
    run: StageRun,
) -> Trained:
    """Train the dialogue emotion classifier on labelled turns with their history (EDOS 3.3.1)."""
    from etl.edos.training.classifiers import train_and_register_emotion_classifier

    return train_and_register_emotion_classifier(training_dialogues, run, options, labels, encoder, transcripts)


@stage(
    writes=Model("emotion_student"),
    manual=True,
    counts=("training.processes",),
    units="turns",
    reads=(TRAINING_DIALOGUES, INITIAL),
    models=(CLASSIFIER, "weak_labeler"),
)
def distil_emotion_classifier(
    labelled: DataFrame,
    initial: DataFrame,
    options: EmotionStudentSettings,
    encoder: Annotated[str, At("models.student_encoder")],
    labels: Taxonomy,
    run: StageRun,
) -> Trained:
    """Train a small classifier on the labels and on the dialogue classifier's answers to unlabelled turns (ours)."""
    from etl.edos.training.distillation import train_and_register_emotion_student

    histories = distinct_histories(initial)
    return train_and_register_emotion_student(labelled, histories, run, options, labels, encoder)


def _trials(
    training_dialogues: DataFrame,
    comparison: ComparisonSettings,
    options: EmotionClassifierSettings,
    encoder: Encoder,
    run: StageRun,
) -> DataFrame:
    from etl.edos.training.trials import planned_trials

    return planned_trials(training_dialogues, run, comparison, options, encoder)


@stage(
    manual=True,
    reads=(TRAINING_DIALOGUES,),
    writes=CLASSIFIER_TRIALS,
    models=("weak_labeler",),
    units="trials",
    counts=("training.processes",),
    # The cost makes each training a batch.
    incremental=Incremental("trial", cost_per_minute=1e-6, prepare=_trials, units=Units.PLANNED),
)
def compare_classifiers(
    trials: DataFrame,
    training_dialogues: DataFrame,
    options: EmotionClassifierSettings,
    encoder: Encoder,
    labels: Taxonomy,
    run: StageRun,
) -> DataFrame:
    """Compare classifiers by token weights, added origins of rows, and seed; only when named (EDOS C)."""
    from etl.edos.training.trials import run_trials

    return run_trials(trials, training_dialogues, run, options, labels, encoder)


@model_stage(history_scores, CLASSIFIER, 6_000, reads=(INITIAL,), writes=DIALOGUE_SCORES, units="histories")
def score_dialogues(initial: DataFrame) -> DataFrame:
    """Score each distinct turn with its history by the dialogue classifier, once per model."""
    return distinct_histories(initial)


@model_stage(history_scores, CLASSIFIER, 6_000, reads=(TRAINING_DIALOGUES,), writes=HELD_OUT_SCORES, units="histories")
def score_held_out(training_dialogues: DataFrame) -> DataFrame:
    """Score the held-out turns that people labelled by the dialogue classifier, once per model (ours)."""
    return held_out_histories(training_dialogues)


@stage(
    reads=(TRAINING_DIALOGUES, HELD_OUT_SCORES),
    writes=LABEL_THRESHOLDS,
    models=(CLASSIFIER,),
    units=RowAccounting("validation rows", "count_if(split = 'validation')", "sum(predicted)"),
    version=2,
)
def choose_label_thresholds(
    training_dialogues: DataFrame,
    scores: DataFrame,
    accuracy: Annotated[float, At("edos.accepted_accuracy")],
    labels: Taxonomy,
    run: StageRun,
) -> Outcome:
    """Choose each label's lowest accepted confidence on validation rows (ours)."""
    model = run.model(CLASSIFIER).identity
    answers = held_out_answers(training_dialogues, scores, model)
    return label_thresholds(answers.where("split = 'validation'"), labels.names, accuracy, model)


def read_published(
    paths: Annotated[tuple[str, ...], At("edos.published_dialogues")], labels: Taxonomy, run: StageRun
) -> Outcome:
    """Read EDOS as its authors published it, in place of one's own labels (EDOS, footnote 1)."""
    return published.published_edos(run.spark, paths, labels.names)


@stage(
    reads=(INITIAL, DIALOGUE_SCORES, LABEL_THRESHOLDS),
    writes=DIALOGUES,
    models=(CLASSIFIER,),
    units="dialogues",
    from_files=FromFiles(published.SETTING, read_published, RowAccounting("turns", rows_out="sum(size(turns))")),
)
def annotate_dialogues(initial: DataFrame, scores: DataFrame, thresholds: DataFrame, run: StageRun) -> Outcome:
    """Label every turn of every chosen dialogue with a confidence: the finished EDOS rows (EDOS 3.3)."""
    return labelled_dialogues(initial, scores, thresholds, run.model(CLASSIFIER).identity)
