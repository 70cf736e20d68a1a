"""What the sentence encoder is asked about, and dialogues with the embeddings of their turns (EDOS 3.3)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.common.hashes import history_hash, text_hash


def histories_to_embed(pool: DataFrame, seeds: DataFrame, released: DataFrame) -> DataFrame:
    """(history_hash, turns), each once: the unlabelled dialogues, the crowd's, the released ones and their matches.

    None where nothing is to be compared with the crowd's.

    Args:
        pool: of ``pool_of``.
        seeds: ``edos.seeds``.
        released: ``edos.released_dialogues``.
    """
    theirs = released.select("turns").unionByName(
        released.where(F.col("matched_turns").isNotNull()).select(F.col("matched_turns").alias("turns"))
    )
    others = pool.select("turns").unionByName(theirs)
    if others.isEmpty():
        return others.select(history_hash(F.col("turns")).alias("history_hash"), "turns")
    every = others.unionByName(seeds.select("turns"))
    return every.select(history_hash(F.col("turns")).alias("history_hash"), "turns").dropDuplicates(["history_hash"])


def texts_of(histories: DataFrame) -> DataFrame:
    """(text_hash, text): each turn text of the histories once."""
    texts = histories.select(F.explode("turns").alias("text"))
    return texts.select(text_hash(F.col("text")).alias("text_hash"), "text").dropDuplicates(["text_hash"])


def embedded_turns(histories: DataFrame, turn_embeddings: DataFrame, model: str) -> DataFrame:
    """Histories with the embeddings of their turns in order.

    Args:
        histories: history_hash, turns.
        turn_embeddings: ``edos.turn_embeddings``; only this model's rows count.
        model: identity of the sentence encoder.

    Returns:
        history_hash, vectors array<array<float>> (null where a turn has none), error.
    """
    turns = histories.select("history_hash", F.posexplode("turns").alias("turn", "text")).select(
        "history_hash", "turn", text_hash(F.col("text")).alias("text_hash")
    )
    known = turn_embeddings.where(F.col("model") == model).select("text_hash", "embedding", "error")
    joined = turns.join(known, "text_hash", "left").select(
        "history_hash", "turn", "embedding",
        F.when(F.col("embedding").isNull(), F.coalesce("error", F.lit("a turn has no embedding"))).alias("error"),
    )  # fmt: skip
    histories = joined.groupBy("history_hash").agg(
        F.sort_array(F.collect_list(F.struct("turn", "embedding"))).alias("turns"), F.min("error").alias("error")
    )
    vectors = F.when(F.col("error").isNull(), F.col("turns")["embedding"])
    return histories.select("history_hash", vectors.alias("vectors"), "error")
