"""Embed each distinct turn text once with Sentence-BERT (EDOS 3.3)."""

from pyspark.sql import DataFrame

from etl.edos.embeddings import histories_to_embed, texts_of
from etl.edos.labelled_rows import pool_of
from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.edos import RELEASED_DIALOGUES, SEEDS, TURN_EMBEDDINGS
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


def pending_texts(clean: DataFrame, seeds: DataFrame, released: DataFrame, run: StageRun) -> DataFrame:
    expansion = run.settings.edos.expansion
    return texts_of(histories_to_embed(pool_of(clean, expansion.enabled, expansion.pool_share), seeds, released))


@stage(
    reads=(CLEAN_DIALOGUES, SEEDS, RELEASED_DIALOGUES),
    writes=TURN_EMBEDDINGS,
    asks=(Model("sentence_encoder"),),
    settings=("edos.expansion.enabled", "edos.expansion.pool_share"),
    sliced=Sliced("text_hash", cost_per_minute=20_000, prepare=pending_texts, cache=True),
    units=Units("texts"),
    when="edos.expands",
)
def embed_turns(texts: DataFrame, seeds: DataFrame, released: DataFrame, run: StageRun) -> DataFrame:
    from udfs.predict import embed_texts

    return embed_texts(texts, **run.asking("sentence_encoder"))


if __name__ == "__main__":
    embed_turns.main()
