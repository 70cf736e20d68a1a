"""Label every turn of every chosen dialogue, with confidence: the finished EDOS rows (EDOS 3.3)."""

from pyspark.sql import DataFrame

from etl.edos.texts import labelled_dialogues
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.edos import DIALOGUE_SCORES, DIALOGUES, INITIAL


@stage(
    reads=(INITIAL, DIALOGUE_SCORES),
    writes=DIALOGUES,
    asks=(Model("emotion_classifier"),),
    units=Units("dialogues"),
)
def annotate_dialogues(initial: DataFrame, scores: DataFrame, run: StageRun) -> Outcome:
    return labelled_dialogues(initial, scores, run.models["emotion_classifier"].identity)


if __name__ == "__main__":
    annotate_dialogues.main()
