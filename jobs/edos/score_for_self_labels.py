"""Ask the self-labeler about each distinct unlabelled dialogue, once per model (EDOS 3.3)."""

from pyspark.sql import DataFrame

from etl.edos.labelled_rows import pool_of
from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.edos import SELF_LABEL_SCORES
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


def pending_dialogues(clean: DataFrame, run: StageRun) -> DataFrame:
    expansion = run.settings.edos.expansion
    asked = expansion.enabled and run.asks("self_labeler")
    return pool_of(clean, asked, expansion.pool_share).select("history_hash", "turns").dropDuplicates(["history_hash"])


@stage(
    reads=(CLEAN_DIALOGUES,),
    writes=SELF_LABEL_SCORES,
    asks=(Model("self_labeler"),),
    settings=("edos.expansion.enabled", "edos.expansion.pool_share"),
    sliced=Sliced("history_hash", cost_per_minute=6_000, prepare=pending_dialogues, cache=True),
    units=Units("dialogues"),
    when="edos.expands",
)
def score_for_self_labels(histories: DataFrame, run: StageRun) -> DataFrame:
    from udfs.predict import score_histories

    return score_histories(histories, **run.asking("self_labeler"))


if __name__ == "__main__":
    score_for_self_labels.main()
