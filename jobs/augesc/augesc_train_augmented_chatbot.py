"""Tune the chatbot further, on what supporters say in AugESC (AugESC 7.1)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Trained
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.augesc import CONVERSATIONS, SESSIONS, TRAINING_SESSIONS


@stage(
    reads=(CONVERSATIONS, TRAINING_SESSIONS, SESSIONS),
    writes=Model("augmented_chatbot"),
    asks=(Model("chatbot"),),
    settings=("training.augmented_chatbot", "models.training_threads"),
    units=Units("sessions"),
    on_request=True,
)
def augesc_train_augmented_chatbot(
    conversations: DataFrame, drawn: DataFrame, sessions: DataFrame, run: StageRun
) -> Trained:
    from etl.lakehouse.trainings.dialogue_models import train_and_register_augmented_chatbot

    return train_and_register_augmented_chatbot(conversations, drawn, sessions, run)


if __name__ == "__main__":
    augesc_train_augmented_chatbot.main()
