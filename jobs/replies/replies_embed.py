"""Embed each distinct reply, written or expected, once per sentence encoder: SES (EDOS 5)."""

from pyspark.sql import DataFrame

from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.replies import EMBEDDINGS, GENERATED
from etl.replies.measures import distinct_replies


def pending_replies(generated: DataFrame, run: StageRun) -> DataFrame:
    return distinct_replies(generated)


@stage(
    reads=(GENERATED,),
    writes=EMBEDDINGS,
    asks=(Model("sentence_encoder"),),
    sliced=Sliced("text_hash", cost_per_minute=12_000, prepare=pending_replies, cache=True),
    units=Units("replies"),
    on_request=True,
)
def replies_embed(texts: DataFrame, run: StageRun) -> DataFrame:
    from udfs.predict import embed_texts

    return embed_texts(texts, **run.asking("sentence_encoder"))


if __name__ == "__main__":
    replies_embed.main()
