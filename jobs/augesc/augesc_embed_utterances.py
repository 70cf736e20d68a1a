"""Embed each distinct utterance of the sampled texts once with Sentence-BERT (AugESC 6.4)."""

from pyspark.sql import DataFrame

from etl.augesc.faults import distinct_utterances, looked_at
from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.augesc import MEASURED_TEXTS
from etl.lakehouse.tables.augesc_faults import UTTERANCE_EMBEDDINGS


def pending(measured: DataFrame, run: StageRun) -> DataFrame:
    return distinct_utterances(looked_at(measured, run.settings.augesc.faults.sampled))


@stage(
    reads=(MEASURED_TEXTS,),
    writes=UTTERANCE_EMBEDDINGS,
    asks=(Model("sentence_encoder"),),
    settings=("augesc.faults.sampled",),
    sliced=Sliced("text_hash", cost_per_minute=10_000, prepare=pending, cache=True),
    units=Units("utterances"),
    on_request=True,
)
def augesc_embed_utterances(utterances: DataFrame, run: StageRun) -> DataFrame:
    from udfs.predict import embed_texts

    return embed_texts(utterances, **run.asking("sentence_encoder"))


if __name__ == "__main__":
    augesc_embed_utterances.main()
