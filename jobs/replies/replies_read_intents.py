"""Ask the emotion classifier which intent it reads in each steered reply, once per model (ours, EDOS 6)."""

from pyspark.sql import DataFrame

from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.replies import INTENT_READINGS, STEERED
from etl.replies.measures import distinct_answers


def pending_answers(steered: DataFrame, run: StageRun) -> DataFrame:
    return distinct_answers(steered)


@stage(
    reads=(STEERED,),
    writes=INTENT_READINGS,
    asks=(Model("emotion_classifier"),),
    sliced=Sliced("history_hash", cost_per_minute=6_000, prepare=pending_answers, cache=True),
    units=Units("replies"),
    on_request=True,
)
def replies_read_intents(histories: DataFrame, run: StageRun) -> DataFrame:
    from udfs.predict import score_histories

    return score_histories(histories, **run.asking("emotion_classifier"))


if __name__ == "__main__":
    replies_read_intents.main()
