"""Ask the dialogue classifier about each distinct turn with its history, once per model."""

from pyspark.sql import DataFrame

from etl.edos.texts import distinct_histories
from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.edos import DIALOGUE_SCORES, INITIAL


def pending_histories(initial: DataFrame, run: StageRun) -> DataFrame:
    return distinct_histories(initial)


@stage(
    reads=(INITIAL,),
    writes=DIALOGUE_SCORES,
    asks=(Model("emotion_classifier"),),
    sliced=Sliced("history_hash", cost_per_minute=6_000, prepare=pending_histories, cache=True),
    units=Units("histories"),
)
def score_dialogues(histories: DataFrame, run: StageRun) -> DataFrame:
    from udfs.predict import score_histories

    return score_histories(histories, **run.asking("emotion_classifier"))


if __name__ == "__main__":
    score_dialogues.main()
