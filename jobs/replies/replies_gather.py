"""Gather turns as replies to the turns before them: OpenSubtitles without EDOS, EDOS, EmpatheticDialogues (EDOS 5)."""

from pyspark.sql import DataFrame

from conf.taxonomy import edos_labels
from etl.lakehouse.files.outside import csv_rows
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import DIALOGUES
from etl.lakehouse.tables.replies import EXAMPLES
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES
from etl.replies.pairs import reply_examples
from etl.replies.talks import COLUMNS, empathetic_talks, subtitle_talks


@stage(
    reads=(CLEAN_DIALOGUES, DIALOGUES),
    writes=EXAMPLES,
    settings=("replies.rows", "replies.network.max_tokens"),
    inputs=("edos.empathetic_dialogues",),
    units=Units("replies"),
    on_request=True,
)
def replies_gather(clean: DataFrame, edos: DataFrame, run: StageRun) -> Outcome:
    path, replies = run.settings.edos.empathetic_dialogues, run.settings.replies
    rows = csv_rows(path, COLUMNS, "edos.empathetic_dialogues") if path else ()
    talks = subtitle_talks(clean, edos).unionByName(empathetic_talks(run.spark, rows, edos_labels()))
    return reply_examples(talks, max_tokens=replies.network.max_tokens, **replies.rows.model_dump())


if __name__ == "__main__":
    replies_gather.main()
