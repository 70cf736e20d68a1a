"""Choose the N dialogues with the most confident weak labels: EDOS (initial) (EDOS 3.1)."""

from pyspark.sql import DataFrame

from etl.edos.choosing import choose_emotional
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import INITIAL, WEAK_LABELS
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


@stage(
    reads=(CLEAN_DIALOGUES, WEAK_LABELS),
    writes=INITIAL,
    settings=("edos.top_n", "edos.dialogue_confidence"),
    units=Units("dialogues"),
)
def select_emotional(dialogues: DataFrame, weak_labels: DataFrame, run: StageRun) -> Outcome:
    edos = run.settings.edos
    return choose_emotional(dialogues, weak_labels, edos.top_n, edos.dialogue_confidence)


if __name__ == "__main__":
    select_emotional.main()
