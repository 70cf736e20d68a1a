"""Tune a chatbot on what supporters say in ESConv (AugESC 7.1)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Trained
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.augesc import SESSIONS, TRAINING_SESSIONS


@stage(
    reads=(TRAINING_SESSIONS, SESSIONS),
    writes=Model("chatbot"),
    settings=("training.chatbot", "models.dialogue_base", "models.training_threads"),
    units=Units("sessions"),
    on_request=True,
)
def augesc_train_chatbot(drawn: DataFrame, sessions: DataFrame, run: StageRun) -> Trained:
    from etl.lakehouse.trainings.dialogue_models import train_and_register_speaker

    return train_and_register_speaker("chatbot", "supporter", drawn, sessions, run)


if __name__ == "__main__":
    augesc_train_chatbot.main()
