"""Read EmoContext's dialogues of three turns with the last one's emotion (Emo Pillars 5.2.2)."""

from etl.emo_pillars.transfer_sets import DROPPED, emocontext_dialogues
from etl.emo_pillars.transfer_sets import EMOCONTEXT as ROWS
from etl.lakehouse.files.labelled_files import parts_of
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import EMOCONTEXT


@stage(
    writes=EMOCONTEXT,
    inputs=("emo_pillars.emocontext",),
    settings=("emo_pillars.transfer.validation_share", "emo_pillars.transfer.held_out_share"),
    units=Units("dialogues"),
    on_request=True,
)
def emo_pillars_read_emocontext(run: StageRun) -> Outcome:
    own = run.settings.emo_pillars
    parts = parts_of(own.emocontext, (".txt",), ("train",), ("dev",), "emo_pillars.emocontext")
    found = emocontext_dialogues(parts, own.transfer.validation_share, own.transfer.held_out_share)
    rows = run.spark.createDataFrame(found.rows, ROWS)
    return Outcome(rows, run.spark.createDataFrame(found.dropped, DROPPED), rows_in=found.rows_in)


if __name__ == "__main__":
    emo_pillars_read_emocontext.main()
