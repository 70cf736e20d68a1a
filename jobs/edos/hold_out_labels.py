"""Hold out a fifth of the crowd's labels in each class, before anything is expanded from them (EDOS 3.3)."""

from pyspark.sql import DataFrame

from etl.edos.training_rows import seeds_of
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import CROWD_LABELS, SEEDS


@stage(
    reads=(CROWD_LABELS,),
    writes=SEEDS,
    settings=("edos.test_share", "edos.validation_share"),
    units=Units("turns"),
)
def hold_out_labels(crowd_labels: DataFrame, run: StageRun) -> Outcome:
    edos = run.settings.edos
    return seeds_of(crowd_labels, edos.test_share, edos.validation_share)


if __name__ == "__main__":
    hold_out_labels.main()
