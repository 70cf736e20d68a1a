"""Train the dialogue emotion classifier on labelled turns with their history (EDOS 3.3.1)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Trained
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.edos import TRAINING_DIALOGUES


@stage(
    reads=(TRAINING_DIALOGUES,),
    writes=Model("emotion_classifier"),
    asks=(Model("weak_labeler"),),
    settings=("training.emotion_classifier", "training.processes", "models.encoder", "models.training_threads"),
    units=Units("turns"),
)
def train_emotion_classifier(training_dialogues: DataFrame, run: StageRun) -> Trained:
    from etl.lakehouse.trainings.classifiers import train_and_register_emotion_classifier

    return train_and_register_emotion_classifier(training_dialogues, run)


if __name__ == "__main__":
    train_emotion_classifier.main()
