"""Dialogue embeddings: the histories to embed, their turns' embeddings, and the average by half decay (EDOS 3.3)."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.common.hashes import history_hash, text_hash
from etl.edos.half_decay import half_decay

SCHEMA = "history_hash string, model string, embedding array<float>, error string"


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


def embed_dialogues(histories: DataFrame, model: str) -> DataFrame:
    """Return (history_hash, model, embedding of length 1, error) of the histories.

    Args:
        histories: history_hash, vectors array<array<float>> (oldest turn first) or null, error or null.
        model: identity of the sentence encoder.
    """

    def embed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield _embedded(batch, model)

    return histories.select("history_hash", "vectors", "error").mapInArrow(embed, SCHEMA)


def _embedded(batch: pa.RecordBatch, model: str) -> pa.RecordBatch:
    lists = batch.column("vectors")
    known = np.asarray(lists.value_lengths().fill_null(0)) > 0
    embeddings: list[NDArray[np.float32] | None] = [None] * len(lists)
    if known.any():
        kept = lists.filter(pa.array(known))
        turns = kept.flatten()
        vectors = turns.flatten().to_numpy(zero_copy_only=False).reshape(len(turns), -1)
        rows = half_decay(vectors.astype(np.float32), kept.value_lengths().to_numpy(zero_copy_only=False))
        for place, row in zip(np.flatnonzero(known), rows, strict=True):
            embeddings[place] = row
    models = pa.array([model] * len(lists), pa.string())
    vectors_of = pa.array(embeddings, pa.list_(pa.float32()))
    columns = [batch.column("history_hash"), models, vectors_of, batch.column("error")]
    return pa.RecordBatch.from_arrays(columns, names=["history_hash", "model", "embedding", "error"])
