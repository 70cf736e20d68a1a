"""Compare classifiers, weighted or not, each origin of rows added in turn, by seed; only when named (EDOS C)."""

from pyspark.sql import DataFrame

from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.edos import CLASSIFIER_TRIALS, TRAINING_DIALOGUES


def trials_to_do(training_dialogues: DataFrame, run: StageRun) -> DataFrame:
    from etl.lakehouse.trainings.trials import planned_trials

    return planned_trials(training_dialogues, run)


@stage(
    reads=(TRAINING_DIALOGUES,),
    writes=CLASSIFIER_TRIALS,
    asks=(Model("weak_labeler"),),
    settings=(
        "training.emotion_classifier", "training.comparison", "training.processes", "models.encoder",
        "models.training_threads",
    ),
    sliced=Sliced("trial", cost_per_minute=1e-6, prepare=trials_to_do, plans=True),  # a slice is one training
    units=Units("trials"),
    on_request=True,
)  # fmt: skip
def compare_classifiers(trials: DataFrame, training_dialogues: DataFrame, run: StageRun) -> DataFrame:
    from etl.lakehouse.trainings.trials import run_trials

    return run_trials(trials, training_dialogues, run)


if __name__ == "__main__":
    compare_classifiers.main()
