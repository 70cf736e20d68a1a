"""Compare the chatbots by how well they foretell what supporters say in held-out sessions of ESConv (AugESC 7.1)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.augesc import CHATBOTS, SESSIONS, TRAINING_SESSIONS


@stage(
    reads=(TRAINING_SESSIONS, SESSIONS),
    writes=CHATBOTS,
    asks=(Model("chatbot"), Model("augmented_chatbot")),
    settings=("training.chatbot",),
    units=Units("chatbots"),
    on_request=True,
)
def augesc_compare_chatbots(drawn: DataFrame, sessions: DataFrame, run: StageRun) -> Outcome:
    from etl.lakehouse.trainings.dialogue_models import compared_chatbots

    return compared_chatbots(drawn, sessions, run)


if __name__ == "__main__":
    augesc_compare_chatbots.main()
