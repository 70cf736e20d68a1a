"""Give dialogues similar to the self-labelled ones their label, at a threshold of its own (EDOS 3.3)."""

from pyspark.sql import DataFrame

from etl.edos.labelled_rows import pool_of
from etl.edos.similar import expanded_again
from etl.edos.training_rows import crowd_rows
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import (
    RELEASED_DIALOGUES,
    SEEDS,
    SELF_LABELLED,
    SIMILAR_DIALOGUES,
    SIMILAR_SELF_DIALOGUES,
    SIMILAR_SELF_MATCHES,
)
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


@stage(
    reads=(SIMILAR_SELF_MATCHES, CLEAN_DIALOGUES, SEEDS, SIMILAR_DIALOGUES, SELF_LABELLED, RELEASED_DIALOGUES),
    writes=SIMILAR_SELF_DIALOGUES,
    settings=("edos.expansion.enabled", "edos.expansion.pool_share", "edos.expansion.again_threshold"),
    units=Units("dialogues"),
    when="edos.expands",
)
def expand_again(
    matches: DataFrame, clean: DataFrame, seeds: DataFrame, similar: DataFrame, self_labelled: DataFrame,
    released: DataFrame, run: StageRun,
) -> Outcome:  # fmt: skip
    expansion = run.settings.edos.expansion
    pool = pool_of(clean, expansion.enabled, expansion.pool_share)
    before = [crowd_rows(seeds), similar, self_labelled]
    return expanded_again(matches, pool, before, released, expansion.again_threshold)


if __name__ == "__main__":
    expand_again.main()
