"""Take the label that two of three workers agree on (EDOS 3.2)."""

from pyspark.sql import DataFrame

from conf.taxonomy import edos_labels
from etl.edos.votes import agree
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import ANNOTATIONS, CROWD_LABELS


@stage(
    reads=(ANNOTATIONS,),
    writes=CROWD_LABELS,
    units=Units("turns", "count(DISTINCT dialogue_id, turn)"),
)
def agree_labels(annotations: DataFrame, run: StageRun) -> Outcome:
    return agree(annotations, edos_labels())


if __name__ == "__main__":
    agree_labels.main()
