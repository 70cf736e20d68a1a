"""Score how easily each confidently labelled turn reads with its history (EDOS 3.2, A)."""

from pyspark.sql import DataFrame

from etl.edos.readability import readability_of_turns, reading_of
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import READABILITY, WEAK_LABELS
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


@stage(
    reads=(WEAK_LABELS, CLEAN_DIALOGUES),
    writes=READABILITY,
    settings=(
        "edos.annotation.bands", "edos.annotation.readability_alpha", "edos.annotation.distinct_weight",
        "edos.annotation.frequencies", "edos.annotation.distinct",
    ),
    units=Units("turns"),
    on_request=True,
)  # fmt: skip
def score_readability(weak_labels: DataFrame, dialogues: DataFrame, run: StageRun) -> Outcome:
    annotation = run.settings.edos.annotation
    return readability_of_turns(weak_labels, dialogues, annotation.bands, reading_of(annotation))


if __name__ == "__main__":
    score_readability.main()
