"""Read EmpatheticDialogues with its labels, to compare EDOS with (EDOS 4); no rows where no files are named."""

from conf.taxonomy import edos_labels
from etl.edos.empathetic import COLUMNS, DROPPED, TURNS, labelled_utterances
from etl.lakehouse.files.outside import csv_rows
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import EMPATHETIC_TURNS


@stage(writes=EMPATHETIC_TURNS, inputs=("edos.empathetic_dialogues",), units=Units("utterances"), on_request=True)
def read_empathetic_dialogues(run: StageRun) -> Outcome:
    path = run.settings.edos.empathetic_dialogues
    rows = csv_rows(path, COLUMNS, "edos.empathetic_dialogues") if path else ()
    found = labelled_utterances(rows, edos_labels())
    turns = run.spark.createDataFrame(found.turns, TURNS)
    return Outcome(turns, run.spark.createDataFrame(found.dropped, DROPPED), rows_in=found.rows_in)


if __name__ == "__main__":
    read_empathetic_dialogues.main()
