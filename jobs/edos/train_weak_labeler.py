"""Train the weak labeler: 41 classes, one sentence at a time, on labelled sentences (EDOS 3.1)."""

from etl.lakehouse.outcome import Trained
from etl.lakehouse.stage import Model, StageRun, Units, stage


@stage(
    writes=Model("weak_labeler"),
    settings=("training.weak_labeler", "models.weak_encoder", "models.training_threads"),
    inputs=("edos.weak_label_examples",),
    units=Units("sentences"),
)
def train_weak_labeler(run: StageRun) -> Trained:
    from etl.lakehouse.trainings.classifiers import train_and_register_weak_labeler

    return train_and_register_weak_labeler(run)


if __name__ == "__main__":
    train_weak_labeler.main()
