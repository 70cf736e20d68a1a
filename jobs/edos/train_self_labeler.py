"""Train the first dialogue classifier, which labels for its successor, on crowd and similar alone (EDOS 3.3)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Trained
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.edos import SEEDS, SIMILAR_DIALOGUES


@stage(
    reads=(SEEDS, SIMILAR_DIALOGUES),
    writes=Model("self_labeler"),
    asks=(Model("weak_labeler"),),
    settings=("training.self_labeler", "models.encoder", "models.training_threads"),
    units=Units("turns"),
    when="edos.expands",
)
def train_self_labeler(seeds: DataFrame, similar: DataFrame, run: StageRun) -> Trained:
    from etl.lakehouse.trainings.self_labeler import train_and_register_self_labeler

    return train_and_register_self_labeler(seeds, similar, run)


if __name__ == "__main__":
    train_self_labeler.main()
