"""Give similar dialogues the label of the crowd's, from the threshold on, away from all held-out rows (EDOS 3.3)."""

from pyspark.sql import DataFrame

from etl.edos.labelled_rows import pool_of
from etl.edos.similar import expanded
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import RELEASED_DIALOGUES, SEEDS, SIMILAR_DIALOGUES, SIMILAR_MATCHES
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


@stage(
    reads=(SIMILAR_MATCHES, CLEAN_DIALOGUES, SEEDS, RELEASED_DIALOGUES),
    writes=SIMILAR_DIALOGUES,
    settings=(
        "edos.expansion.enabled", "edos.expansion.pool_share",
        "edos.expansion.threshold", "edos.expansion.held_out_threshold",
    ),
    units=Units("dialogues"),
    when="edos.expands",
)  # fmt: skip
def expand_labels(
    matches: DataFrame, clean: DataFrame, seeds: DataFrame, released: DataFrame, run: StageRun
) -> Outcome:
    expansion = run.settings.edos.expansion
    pool = pool_of(clean, expansion.enabled, expansion.pool_share)
    return expanded(matches, pool, seeds, released, clean, expansion.threshold, expansion.held_out_threshold)


if __name__ == "__main__":
    expand_labels.main()
