"""The dialogue emotion classifier: trained, compared, and asked for the finished EDOS rows (EDOS 3.3, C)."""

from pyspark.sql import DataFrame

from etl.edos.texts import distinct_histories, labelled_dialogues
from etl.lakehouse.asking import asks_once, history_scores
from etl.lakehouse.families import trains
from etl.lakehouse.outcome import Outcome, Trained
from etl.lakehouse.stage import Sliced, StageRun, manual_stage, stage, under
from etl.lakehouse.tables.edos import CLASSIFIER_TRIALS, DIALOGUE_SCORES, DIALOGUES, INITIAL, TRAINING_DIALOGUES

CLASSIFIER = "emotion_classifier"


@trains(CLASSIFIER, "training.processes", "models.encoder", "edos.taxonomy", units="turns", reads=(TRAINING_DIALOGUES,),
        asks=("weak_labeler",), on_request=False)  # fmt: skip
def train_emotion_classifier(training_dialogues: DataFrame, run: StageRun) -> Trained:
    """Train the dialogue emotion classifier on labelled turns with their history (EDOS 3.3.1)."""
    from etl.lakehouse.trainings.classifiers import train_and_register_emotion_classifier

    return train_and_register_emotion_classifier(training_dialogues, run)


def _trials(training_dialogues: DataFrame, run: StageRun) -> DataFrame:
    from etl.lakehouse.trainings.trials import planned_trials

    return planned_trials(training_dialogues, run)


@manual_stage(
    reads=(TRAINING_DIALOGUES,),
    writes=CLASSIFIER_TRIALS,
    asks=("weak_labeler",),
    settings=(
        *under("training", "emotion_classifier", "processes", "comparison"),
        *under("models", "encoder", "training_threads"),
        "edos.taxonomy",
    ),
    sliced=Sliced("trial", cost_per_minute=1e-6, prepare=_trials, plans=True),  # a slice is one training
    units="trials",
)
def compare_classifiers(trials: DataFrame, training_dialogues: DataFrame, run: StageRun) -> DataFrame:
    """Compare classifiers, weighted or not, each origin of rows added in turn, by seed; only when named (EDOS C)."""
    from etl.lakehouse.trainings.trials import run_trials

    return run_trials(trials, training_dialogues, run)


@asks_once(history_scores, CLASSIFIER, 6_000, reads=(INITIAL,), writes=DIALOGUE_SCORES, units="histories")
def score_dialogues(initial: DataFrame, run: StageRun) -> DataFrame:
    """Ask the dialogue classifier about each distinct turn with its history, once per model."""
    return distinct_histories(initial)


@stage(reads=(INITIAL, DIALOGUE_SCORES), writes=DIALOGUES, asks=(CLASSIFIER,), units="dialogues")
def annotate_dialogues(initial: DataFrame, scores: DataFrame, run: StageRun) -> Outcome:
    """Label every turn of every chosen dialogue, with confidence: the finished EDOS rows (EDOS 3.3)."""
    return labelled_dialogues(initial, scores, run.models[CLASSIFIER].identity)
