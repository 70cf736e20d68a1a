"""Select the histories to embed, and join them with the embeddings of their turns (EDOS 3.3)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.common.hashes import history_hash, text_hash


def histories_to_embed(pool: DataFrame, seeds: DataFrame, released: DataFrame) -> DataFrame:
    """Return distinct (history_hash, turns) of unlabelled dialogues, released dialogues, their matches, and the seeds.

    The result is empty if there are only seeds.
    """
    matched = released.where(F.col("matched_turns").isNotNull()).select(F.col("matched_turns").alias("turns"))
    turns = pool.select("turns").unionByName(released.select("turns")).unionByName(matched)
    if not turns.isEmpty():
        turns = turns.unionByName(seeds.select("turns"))
    return turns.select(history_hash(F.col("turns")).alias("history_hash"), "turns").dropDuplicates(["history_hash"])


def embedded_turns(histories: DataFrame, turn_embeddings: DataFrame, model: str) -> DataFrame:
    """Join histories with the embeddings of their turns.

    Args:
        histories: history_hash, turns.
        turn_embeddings: ``edos.turn_embeddings``.
        model: identity of the sentence encoder. Rows of other models are ignored.

    Returns:
        history_hash, vectors array<array<float>> in order of the turns (null if a turn has none), error.
    """
    turns = histories.select("history_hash", F.posexplode("turns").alias("turn", "text")).select(
        "history_hash", "turn", text_hash(F.col("text")).alias("text_hash")
    )
    known = turn_embeddings.where(F.col("model") == model).select("text_hash", "embedding", "error")
    joined = turns.join(known, "text_hash", "left").select(
        "history_hash",
        "turn",
        "embedding",
        F.when(F.col("embedding").isNull(), F.coalesce("error", F.lit("a turn has no embedding"))).alias("error"),
    )
    histories = joined.groupBy("history_hash").agg(
        F.sort_array(F.collect_list(F.struct("turn", "embedding"))).alias("turns"), F.min("error").alias("error")
    )
    vectors = F.when(F.col("error").isNull(), F.col("turns")["embedding"])
    return histories.select("history_hash", vectors.alias("vectors"), "error")
