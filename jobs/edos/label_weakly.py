"""Give every turn of the clean dialogues its weak label, from the texts' scores (EDOS 3.1)."""

from pyspark.sql import DataFrame

from etl.edos.texts import weak_labels_of_turns
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.edos import WEAK_LABELS, WEAK_SCORES
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


@stage(
    reads=(CLEAN_DIALOGUES, WEAK_SCORES),
    writes=WEAK_LABELS,
    asks=(Model("weak_labeler"),),
    units=Units("turns", "sum(size(turns))"),
)
def label_weakly(dialogues: DataFrame, scores: DataFrame, run: StageRun) -> Outcome:
    return weak_labels_of_turns(dialogues, scores, run.models["weak_labeler"].identity)


if __name__ == "__main__":
    label_weakly.main()
