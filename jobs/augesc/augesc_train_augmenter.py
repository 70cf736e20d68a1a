"""Tune a language model on a few sessions, so that it goes on from a query as people do (AugESC 4.1)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Trained
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.augesc import SESSIONS, TRAINING_SESSIONS


@stage(
    reads=(TRAINING_SESSIONS, SESSIONS),
    writes=Model("augmenter"),
    settings=("training.augmenter", "models.augmenter_base", "models.training_threads"),
    units=Units("sessions"),
    on_request=True,
    when="augesc.generation.augments",
)
def augesc_train_augmenter(drawn: DataFrame, sessions: DataFrame, run: StageRun) -> Trained:
    from etl.lakehouse.trainings.augesc import train_and_register_augmenter

    return train_and_register_augmenter(drawn, sessions, run)


if __name__ == "__main__":
    augesc_train_augmenter.main()
