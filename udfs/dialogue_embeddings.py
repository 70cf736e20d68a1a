"""Dialogue embeddings from turn embeddings, by half decay (EDOS 3.3)."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

SCHEMA = "history_hash string, model string, embedding array<float>, error string"


def half_decay(turns: NDArray[np.float32], counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Each dialogue's embedding, brought to length 1: its turns' weighted mean, a turn half as heavy as the next.

    Of v1, v2, v3 that is (4/7) v3 + (2/7) v2 + (1/7) v1 (EDOS 3.3). Only the direction counts for a cosine.

    Args:
        turns: (all turns, size), dialogue after dialogue, oldest turn first.
        counts: turns of each dialogue, at least 1.
    """
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    ages = np.repeat(starts + counts - 1, counts) - np.arange(len(turns))
    sums = np.add.reduceat(turns.astype(np.float64) * (0.5**ages)[:, None], starts, axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def embed_dialogues(histories: DataFrame, model: str) -> DataFrame:
    """Histories' embeddings.

    Args:
        histories: history_hash, vectors array<array<float>> (turns oldest first), error; one of the last two.
        model: identity of the sentence encoder.

    Returns:
        (history_hash, model, embedding of length 1, error).
    """

    def embed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield _embedded(batch, model)

    return histories.select("history_hash", "vectors", "error").mapInArrow(embed, SCHEMA)


def _embedded(batch: pa.RecordBatch, model: str) -> pa.RecordBatch:
    lists, errors = batch.column("vectors"), batch.column("error")
    known = np.asarray(lists.is_valid()) & np.asarray(lists.value_lengths().fill_null(0)).astype(bool)
    embeddings: list[NDArray[np.float32] | None] = [None] * len(lists)
    if known.any():
        kept = lists.filter(pa.array(known))
        turns = kept.flatten()
        vectors = turns.flatten().to_numpy(zero_copy_only=False).reshape(len(turns), -1)
        rows = half_decay(vectors.astype(np.float32), kept.value_lengths().to_numpy(zero_copy_only=False))
        for place, row in zip(np.flatnonzero(known), rows, strict=True):
            embeddings[place] = row
    return pa.RecordBatch.from_arrays(
        [
            batch.column("history_hash"),
            pa.array([model] * len(lists), pa.string()),
            pa.array(embeddings, pa.list_(pa.float32())),
            errors,
        ],
        names=["history_hash", "model", "embedding", "error"],
    )
