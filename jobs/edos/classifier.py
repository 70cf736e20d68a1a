"""Train and compare the dialogue emotion classifier, and label the finished EDOS rows (EDOS 3.3, C)."""

from pyspark.sql import DataFrame

from etl.edos.texts import distinct_histories, labelled_dialogues
from etl.llm.model_stages import history_scores, model_stage
from etl.pipeline import Incremental, StageRun, manual_stage, stage, under
from etl.tables.edos import CLASSIFIER_TRIALS, DIALOGUE_SCORES, DIALOGUES, INITIAL, TRAINING_DIALOGUES
from etl.tables.outcome import Outcome, Trained
from etl.training.stages import training_stage

CLASSIFIER = "emotion_classifier"


@training_stage(
    CLASSIFIER,
    "training.processes",
    "models.encoder",
    "edos.taxonomy",
    units="turns",
    reads=(TRAINING_DIALOGUES,),
    models=("weak_labeler",),
    manual=False,
)
def train_emotion_classifier(training_dialogues: DataFrame, run: StageRun) -> Trained:
    """Train the dialogue emotion classifier on labelled turns with their history (EDOS 3.3.1)."""
    from etl.training.recipes.classifiers import train_and_register_emotion_classifier

    return train_and_register_emotion_classifier(training_dialogues, run)


@training_stage(
    "emotion_student",
    "training.processes",
    "models.student_encoder",
    "edos.taxonomy",
    units="turns",
    reads=(TRAINING_DIALOGUES, INITIAL),
    models=(CLASSIFIER, "weak_labeler"),
)
def distil_emotion_classifier(labelled: DataFrame, initial: DataFrame, run: StageRun) -> Trained:
    """Train a small classifier on the labels and on the dialogue classifier's answers to unlabelled turns (ours)."""
    from etl.training.recipes.distillation import train_and_register_emotion_student

    return train_and_register_emotion_student(labelled, distinct_histories(initial), run)


def _trials(training_dialogues: DataFrame, run: StageRun) -> DataFrame:
    from etl.training.recipes.trials import planned_trials

    return planned_trials(training_dialogues, run)


@manual_stage(
    reads=(TRAINING_DIALOGUES,),
    writes=CLASSIFIER_TRIALS,
    models=("weak_labeler",),
    units="trials",
    settings=(
        *under("training", "emotion_classifier", "processes", "comparison"),
        *under("models", "encoder", "training_threads"),
        "edos.taxonomy",
    ),
    # The cost makes each training a slice.
    incremental=Incremental("trial", cost_per_minute=1e-6, prepare=_trials, content_keyed=True),
)
def compare_classifiers(trials: DataFrame, training_dialogues: DataFrame, run: StageRun) -> DataFrame:
    """Compare classifiers by token weights, added origins of rows, and seed; only when named (EDOS C)."""
    from etl.training.recipes.trials import run_trials

    return run_trials(trials, training_dialogues, run)


@model_stage(history_scores, CLASSIFIER, 6_000, reads=(INITIAL,), writes=DIALOGUE_SCORES, units="histories")
def score_dialogues(initial: DataFrame, run: StageRun) -> DataFrame:
    """Score each distinct turn with its history by the dialogue classifier, once per model."""
    return distinct_histories(initial)


@stage(reads=(INITIAL, DIALOGUE_SCORES), writes=DIALOGUES, models=(CLASSIFIER,), units="dialogues")
def annotate_dialogues(initial: DataFrame, scores: DataFrame, run: StageRun) -> Outcome:
    """Label every turn of every chosen dialogue with a confidence: the finished EDOS rows (EDOS 3.3)."""
    return labelled_dialogues(initial, scores, run.models[CLASSIFIER].identity)
