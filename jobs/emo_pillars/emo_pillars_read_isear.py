"""Read ISEAR's reports with their emotions, in folds; those that say nothing go (Emo Pillars 5.1.3)."""

from etl.emo_pillars.transfer_sets import DROPPED, isear_reports
from etl.emo_pillars.transfer_sets import ISEAR as ROWS
from etl.lakehouse.files.labelled_files import one_file
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import ISEAR


@stage(
    writes=ISEAR,
    inputs=("emo_pillars.isear",),
    settings=("emo_pillars.transfer.folds",),
    units=Units("reports"),
    on_request=True,
)
def emo_pillars_read_isear(run: StageRun) -> Outcome:
    own = run.settings.emo_pillars
    lines = one_file(own.isear, ("isear.csv", "isear.csv.gz"), "emo_pillars.isear")
    found = isear_reports(lines, own.transfer.folds)
    rows = run.spark.createDataFrame(found.rows, ROWS)
    return Outcome(rows, run.spark.createDataFrame(found.dropped, DROPPED), rows_in=found.rows_in)


if __name__ == "__main__":
    emo_pillars_read_isear.main()
