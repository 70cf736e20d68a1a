"""Search again, for dialogues similar to the self-labelled ones alone (EDOS 3.3, the second round)."""

from pyspark.sql import DataFrame

from etl.edos.labelled_rows import pool_of
from etl.edos.similar import matched_units, queries_of, self_targets
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.edos import DIALOGUE_EMBEDDINGS, SELF_LABELLED, SIMILAR_SELF_MATCHES
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


@stage(
    reads=(CLEAN_DIALOGUES, SELF_LABELLED, DIALOGUE_EMBEDDINGS),
    writes=SIMILAR_SELF_MATCHES,
    asks=(Model("sentence_encoder"),),
    settings=(
        "edos.expansion.enabled", "edos.expansion.pool_share", "edos.expansion.floor", "edos.expansion.matches",
    ),
    units=Units("dialogues", rows_out="count(DISTINCT dialogue_id, turn)"),
    when="edos.expands",
)  # fmt: skip
def search_similar_again(clean: DataFrame, self_labelled: DataFrame, embeddings: DataFrame, run: StageRun) -> Outcome:
    from udfs.similarity import find_similar

    expansion, model = run.settings.edos.expansion, run.models["sentence_encoder"].identity
    targets, threads = self_targets(self_labelled), run.all_settings.models.threads
    found = find_similar(embeddings, targets, expansion.floor, expansion.matches, model=model, threads=threads)
    queries = queries_of(pool_of(clean, expansion.enabled, expansion.pool_share))
    return matched_units(found, queries, targets, expansion.matches, expansion.floor)


if __name__ == "__main__":
    search_similar_again.main()
