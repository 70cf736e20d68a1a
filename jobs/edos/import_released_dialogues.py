"""Import the released dialogues that a machine labelled: similar, self-labelled, similar to those (EDOS 3.3)."""

from functools import reduce

from pyspark.sql import DataFrame

from conf.taxonomy import edos_labels
from etl.edos.released import no_released_rows, released_dialogues, released_rows
from etl.lakehouse.files.outside import read_csv
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import RELEASED_DIALOGUES


@stage(writes=RELEASED_DIALOGUES, inputs=("edos.released_labels",), units=Units("dialogues"), when="edos.expands")
def import_released_dialogues(run: StageRun) -> Outcome:
    names = run.settings.edos.released_labels
    files = [released_rows(read_csv(run.spark, [name], "edos.released_labels"), name) for name in names]
    rows = reduce(DataFrame.unionByName, files, no_released_rows(run.spark))
    outcome = released_dialogues(rows, edos_labels())
    return Outcome(outcome.rows, outcome.dropped, rows_in=rows.count())


if __name__ == "__main__":
    import_released_dialogues.main()
