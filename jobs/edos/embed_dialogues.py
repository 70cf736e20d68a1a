"""Embed each distinct dialogue: its turns' embeddings by half decay, the last turn heaviest (EDOS 3.3)."""

from pyspark.sql import DataFrame

from etl.edos.embeddings import embedded_turns, histories_to_embed
from etl.edos.labelled_rows import pool_of
from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.edos import DIALOGUE_EMBEDDINGS, RELEASED_DIALOGUES, SEEDS, TURN_EMBEDDINGS
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


def pending(clean: DataFrame, seeds: DataFrame, released: DataFrame, turns: DataFrame, run: StageRun) -> DataFrame:
    expansion = run.settings.edos.expansion
    return histories_to_embed(pool_of(clean, expansion.enabled, expansion.pool_share), seeds, released)


@stage(
    reads=(CLEAN_DIALOGUES, SEEDS, RELEASED_DIALOGUES, TURN_EMBEDDINGS),
    writes=DIALOGUE_EMBEDDINGS,
    asks=(Model("sentence_encoder"),),
    settings=("edos.expansion.enabled", "edos.expansion.pool_share"),
    sliced=Sliced("history_hash", cost_per_minute=400_000, prepare=pending, cache=True),
    units=Units("dialogues"),
    when="edos.expands",
)
def embed_dialogues(
    histories: DataFrame, seeds: DataFrame, released: DataFrame, turn_embeddings: DataFrame, run: StageRun
) -> DataFrame:
    from udfs import dialogue_embeddings

    model = run.models["sentence_encoder"].identity
    return dialogue_embeddings.embed_dialogues(embedded_turns(histories, turn_embeddings, model), model)


if __name__ == "__main__":
    embed_dialogues.main()
