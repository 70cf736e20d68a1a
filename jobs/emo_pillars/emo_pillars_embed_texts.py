"""Embed each distinct text of the analysis' samples once (Emo Pillars 7)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.samples import texts_to_embed
from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import CONTEXTS, CONTEXTUAL_EXAMPLES, EXAMPLES
from etl.lakehouse.tables.emo_pillars_analysis import TEXT_EMBEDDINGS

SETTINGS = ("utterances", "pairs", "plots", "topic_emotion", "topic_utterances", "topic_query")


def pending(examples: DataFrame, contextual: DataFrame, contexts: DataFrame, run: StageRun) -> DataFrame:
    wanted = run.settings.emo_pillars.analysis
    return texts_to_embed(examples, contextual, contexts, wanted, wanted.topic_query)


@stage(
    reads=(EXAMPLES, CONTEXTUAL_EXAMPLES, CONTEXTS),
    writes=TEXT_EMBEDDINGS,
    asks=(Model("analysis_encoder"),),
    settings=tuple(f"emo_pillars.analysis.{name}" for name in SETTINGS),
    sliced=Sliced("text_hash", cost_per_minute=10_000, prepare=pending, cache=True),
    units=Units("texts"),
    on_request=True,
)
def emo_pillars_embed_texts(texts: DataFrame, contextual: DataFrame, contexts: DataFrame, run: StageRun) -> DataFrame:
    from udfs.predict import embed_texts

    return embed_texts(texts, **run.asking("analysis_encoder"))


if __name__ == "__main__":
    emo_pillars_embed_texts.main()
