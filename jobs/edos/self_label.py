"""Take the first classifier's confident answers as labels: self-labelling (EDOS 3.3)."""

from pyspark.sql import DataFrame

from etl.edos.labelled_rows import pool_of
from etl.edos.self_labels import self_labels
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.edos import (
    RELEASED_DIALOGUES,
    SEEDS,
    SELF_LABEL_SCORES,
    SELF_LABELLED,
    SIMILAR_DIALOGUES,
)
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


@stage(
    reads=(CLEAN_DIALOGUES, SELF_LABEL_SCORES, SEEDS, SIMILAR_DIALOGUES, RELEASED_DIALOGUES),
    writes=SELF_LABELLED,
    asks=(Model("self_labeler"),),
    settings=("edos.expansion.enabled", "edos.expansion.pool_share", "edos.self_labels"),
    units=Units("dialogues"),
    when="edos.expands",
)
def self_label(
    clean: DataFrame, scores: DataFrame, seeds: DataFrame, similar: DataFrame, released: DataFrame, run: StageRun
) -> Outcome:
    edos, model = run.settings.edos, run.models["self_labeler"].identity
    pool = pool_of(clean, edos.expansion.enabled and run.asks("self_labeler"), edos.expansion.pool_share)
    rules = edos.self_labels
    return self_labels(pool, scores, model, seeds, similar, released, rules.confidence, rules.per_class)


if __name__ == "__main__":
    self_label.main()
