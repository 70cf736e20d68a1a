"""Read GoEmotions' comments with their labels and original splits (Emo Pillars 5.1.2)."""

from etl.emo_pillars.transfer_sets import DROPPED, goemotions_comments
from etl.emo_pillars.transfer_sets import GOEMOTIONS as ROWS
from etl.lakehouse.files.labelled_files import parts_of
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import GOEMOTIONS


@stage(
    writes=GOEMOTIONS,
    inputs=("emo_pillars.goemotions",),
    settings=("emo_pillars.transfer.validation_share",),
    units=Units("comments"),
    on_request=True,
)
def emo_pillars_read_goemotions(run: StageRun) -> Outcome:
    own = run.settings.emo_pillars
    parts = parts_of(own.goemotions, (".tsv",), ("train", "dev"), ("test",), "emo_pillars.goemotions")
    found = goemotions_comments(parts, own.transfer.validation_share)
    rows = run.spark.createDataFrame(found.rows, ROWS)
    return Outcome(rows, run.spark.createDataFrame(found.dropped, DROPPED), rows_in=found.rows_in)


if __name__ == "__main__":
    emo_pillars_read_goemotions.main()
