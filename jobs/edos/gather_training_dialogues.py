"""Gather the labelled turns for training, a fifth of each class held out first (EDOS 3.3)."""

from pyspark.sql import DataFrame

from etl.edos.training_rows import training_rows
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import CROWD_LABELS, TRAINING_DIALOGUES


@stage(
    reads=(CROWD_LABELS,),
    writes=TRAINING_DIALOGUES,
    settings=("edos.test_share", "edos.validation_share"),
    units=Units("turns"),
)
def gather_training_dialogues(crowd_labels: DataFrame, run: StageRun) -> Outcome:
    edos = run.settings.edos
    return training_rows(crowd_labels, edos.test_share, edos.validation_share)


if __name__ == "__main__":
    gather_training_dialogues.main()
