"""Search all unlabelled dialogues for those similar to a crowd-labelled one, by exact cosine (EDOS 3.3)."""

from pyspark.sql import DataFrame

from etl.edos.labelled_rows import pool_of
from etl.edos.similar import matched_units, queries_of, seed_targets
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.edos import DIALOGUE_EMBEDDINGS, RELEASED_DIALOGUES, SEEDS, SIMILAR_MATCHES
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


@stage(
    reads=(CLEAN_DIALOGUES, SEEDS, RELEASED_DIALOGUES, DIALOGUE_EMBEDDINGS),
    writes=SIMILAR_MATCHES,
    asks=(Model("sentence_encoder"),),
    settings=(
        "edos.expansion.enabled", "edos.expansion.pool_share", "edos.expansion.floor", "edos.expansion.matches",
    ),
    units=Units("dialogues", rows_out="count(DISTINCT dialogue_id, turn)"),
    when="edos.expands",
)  # fmt: skip
def search_similar(
    clean: DataFrame, seeds: DataFrame, released: DataFrame, embeddings: DataFrame, run: StageRun
) -> Outcome:
    from udfs.similarity import find_similar

    expansion, model = run.settings.edos.expansion, run.models["sentence_encoder"].identity
    targets, threads = seed_targets(seeds), run.all_settings.models.threads
    found = find_similar(embeddings, targets, expansion.floor, expansion.matches, model=model, threads=threads)
    queries = queries_of(pool_of(clean, expansion.enabled, expansion.pool_share), released)
    return matched_units(found, queries, targets, expansion.matches, expansion.floor)


if __name__ == "__main__":
    search_similar.main()
