"""Clean the dialogues: names, repetitions, lengths, letters, documentaries, duplicates (EDOS 3.1)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES, DIALOGUES
from etl.subtitles.cleaning import clean_dialogues as cleaned
from etl.subtitles.cleaning_settings import rules_of


@stage(
    reads=(DIALOGUES,),
    writes=CLEAN_DIALOGUES,
    settings=("subtitles.cleaning",),
    units=Units("turns", "sum(size(turns))", "sum(size(turns))"),
    version=2,
)
def clean_dialogues(dialogues: DataFrame, run: StageRun) -> Outcome:
    return cleaned(dialogues, rules_of(run.settings.subtitles.cleaning), DataFrame.persist)


if __name__ == "__main__":
    clean_dialogues.main()
