"""Dialogue embeddings from turn embeddings, by half decay (EDOS 3.3)."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

SCHEMA = "history_hash string, model string, embedding array<float>, error string"


def half_decay(turns: NDArray[np.float32], counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return each dialogue's embedding of length 1, in which each turn weighs half as much as the next.

    For v1, v2, v3 it is the direction of (4/7) v3 + (2/7) v2 + (1/7) v1 (EDOS 3.3).

    Args:
        turns: (all turns, size), concatenated dialogues, oldest turn first.
        counts: number of turns of each dialogue, at least 1.
    """
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    ages = np.repeat(starts + counts - 1, counts) - np.arange(len(turns))
    sums = np.add.reduceat(turns.astype(np.float64) * (0.5**ages)[:, None], starts, axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.where(lengths == 0, 1, lengths), dtype=np.float32)


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
