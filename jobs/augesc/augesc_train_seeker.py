"""Tune a model on what seekers say, for talks of two models (AugESC 6.1)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Trained
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.augesc import SESSIONS, TRAINING_SESSIONS


@stage(
    reads=(TRAINING_SESSIONS, SESSIONS),
    writes=Model("seeker"),
    settings=("training.seeker", "models.dialogue_base", "models.training_threads"),
    units=Units("sessions"),
    on_request=True,
    when="augesc.generation.plays_roles",
)
def augesc_train_seeker(drawn: DataFrame, sessions: DataFrame, run: StageRun) -> Trained:
    from etl.lakehouse.trainings.dialogue_models import train_and_register_speaker

    return train_and_register_speaker("seeker", "seeker", drawn, sessions, run)


if __name__ == "__main__":
    augesc_train_seeker.main()
