"""Gather the labelled turns of all origins for training, nothing near a held-out one among them (EDOS 3.3)."""

from pyspark.sql import DataFrame

from etl.edos.training_rows import gathered
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import (
    SEEDS,
    SELF_LABELLED,
    SIMILAR_DIALOGUES,
    SIMILAR_MATCHES,
    SIMILAR_SELF_DIALOGUES,
    TRAINING_DIALOGUES,
)
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


@stage(
    reads=(SEEDS, SIMILAR_DIALOGUES, SELF_LABELLED, SIMILAR_SELF_DIALOGUES, SIMILAR_MATCHES, CLEAN_DIALOGUES),
    writes=TRAINING_DIALOGUES,
    settings=("edos.expansion.held_out_threshold",),
    units=Units("turns"),
    version=2,
)
def gather_training_dialogues(
    seeds: DataFrame, similar: DataFrame, self_labelled: DataFrame, similar_self: DataFrame, matches: DataFrame,
    clean: DataFrame, run: StageRun,
) -> Outcome:  # fmt: skip
    found = [similar, self_labelled, similar_self]
    return gathered(seeds, found, matches, clean, run.settings.edos.expansion.held_out_threshold)


if __name__ == "__main__":
    gather_training_dialogues.main()
