"""The search for similar dialogues: exact cosines, by blocked matrix products (EDOS 3.3, step 3).

The targets are the labelled dialogues. A worker holds one part of them at a time and sees every unlabelled dialogue.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F

from udfs.devices import chosen_precision, set_threads, task_device

SCHEMA = "history_hash string, matched_hash string, score double, kind int"
DECIMALS = 4
PART = 100_000
"""Mean number of targets in a worker's memory at a time: 150 MB at 384 dimensions, 300 MB at the paper's 768."""

ROWS = 2048
COLUMNS = 4096
SLACK = {torch.float32: 1e-4, torch.bfloat16: 2**-5, torch.float16: 2**-5}
"""Margins above twice the error of a product of unit vectors: in bf16 at most 0.012, of rounding both and the product;
the exact cosine is then computed in float64."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Targets:
    """Distinct unit vectors to search for, in the order of their hashes, and the number of matches per row."""

    hashes: tuple[str, ...]
    vectors: Vectors
    best: int


@dataclass(frozen=True)
class SimilarPairs:
    """Pairs of row and target with their cosine, rounded to 4 decimals, ordered by row, descending cosine, target."""

    rows: NDArray[np.int64]
    targets: NDArray[np.int64]
    scores: NDArray[np.float64]


def best_pairs(
    rows: Vectors,
    targets: Targets,
    floor: float,
    device: torch.device | None = None,
    block: int = COLUMNS,
    dtype: torch.dtype = torch.float32,
) -> SimilarPairs:
    """Return each row's most similar targets with a cosine of at least ``floor``.

    The product of a block selects candidates. Their cosines are computed in float64, so that they do not depend on the
    precision of the product, blocks, batches or the machine.

    Args:
        rows: (n, size) unit vectors.
        floor: minimum cosine.
        device: device of the product; the CPU by default.
    """
    device = device or torch.device("cpu")
    slack = SLACK[dtype]
    left = torch.from_numpy(rows).to(device, dtype)
    candidates: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for start in range(0, len(targets.vectors), block):
        right = torch.from_numpy(targets.vectors[start : start + block]).to(device, dtype)
        product = left @ right.T
        near = _rows_from(product, floor - slack)
        if len(near) == 0:
            continue
        part = product[near].float()
        least = torch.full((len(near), 1), floor - slack, device=device)
        if part.shape[1] > targets.best:
            least = torch.maximum(least, part.topk(targets.best, dim=1).values[:, -1:] - slack)
        row, column = torch.nonzero(part >= least, as_tuple=True)
        candidates.append((near[row].cpu().numpy(), column.cpu().numpy() + start))
    if not candidates:
        nothing = np.empty(0, dtype=np.int64)
        return SimilarPairs(nothing, nothing, np.empty(0))
    row_of, target_of = (np.concatenate(found) for found in zip(*candidates, strict=True))
    exact = _cosines(rows, targets.vectors, row_of, target_of)
    order = np.lexsort((target_of, -exact, row_of))
    order = order[exact[order] >= floor]
    row_of = row_of[order]
    target_of = target_of[order]
    exact = exact[order]
    first = np.searchsorted(row_of, row_of, side="left")
    kept = np.arange(len(row_of)) - first < targets.best
    return SimilarPairs(row_of[kept], target_of[kept], exact[kept])


def _rows_from(product: torch.Tensor, least: float) -> torch.Tensor:
    """Return the places of the rows with a value of at least ``least``."""
    if product.shape[0] == 0:
        return torch.empty(0, dtype=torch.int64, device=product.device)
    return torch.nonzero(product.amax(dim=1) >= least).flatten()


def _cosines(
    rows: Vectors, targets: Vectors, row_of: NDArray[np.int64], target_of: NDArray[np.int64], part: int = 1 << 15
) -> NDArray[np.float64]:
    scores = np.empty(len(row_of))
    for start in range(0, len(row_of), part):
        piece = slice(start, start + part)
        left = rows[row_of[piece]].astype(np.float64)
        right = targets[target_of[piece]].astype(np.float64)
        scores[piece] = (left * right).sum(axis=1)
    return np.round(scores, DECIMALS)


def collect_targets(embeddings: DataFrame, targets: DataFrame, best: int) -> list[Targets]:
    """Collect one part of the targets on the driver, in one pass: those with a label, then those without.

    Args:
        embeddings: distinct history_hash, embedding array<float> of length 1.
        targets: history_hash, label.
        best: number of matches per row and group.
    """
    groups = targets.select("history_hash", F.col("label").isNull().cast("int").alias("kind")).distinct()
    packed = embeddings.join(F.broadcast(groups), "history_hash").select("history_hash", "embedding", "kind")
    found = sorted(packed.mapInArrow(_pack, "history_hash string, vector binary, kind int").collect())
    return [_group([row for row in found if row["kind"] == kind], best) for kind in (0, 1)]


def _group(rows: Sequence[Row], best: int) -> Targets:
    values = np.frombuffer(b"".join(row["vector"] for row in rows), dtype=np.float32)
    return Targets(tuple(row["history_hash"] for row in rows), values.reshape(max(1, len(rows)), -1), best)


def search(embedded: DataFrame, groups: Sequence[Targets], floor: float, threads: int = 1) -> DataFrame:
    """Return (history_hash, matched_hash, score, kind) of every row's matches, in one pass without a shuffle.

    Args:
        embedded: history_hash, embedding array<float> of length 1.
        groups: groups of targets, each with its number of matches per row; the kind is the group's place.
        floor: minimum cosine; scores are rounded to 4 decimals.
        threads: CPU threads per worker.
    """
    filled = [(kind, group) for kind, group in enumerate(groups) if group.hashes]
    if not filled:
        return embedded.sparkSession.createDataFrame([], SCHEMA)

    def match(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        set_threads(threads)
        device = task_device()
        dtype = chosen_precision("auto", device).dtype
        for hashes, vectors in _gathered(batches):
            for kind, group in filled:
                found = best_pairs(vectors, group, floor, device, dtype=dtype)
                yield pa.RecordBatch.from_arrays(
                    [
                        hashes.take(pa.array(found.rows)),
                        pa.array([group.hashes[target] for target in found.targets], pa.string()),
                        pa.array(found.scores, pa.float64()),
                        pa.array(np.full(len(found.rows), kind), pa.int32()),
                    ],
                    names=["history_hash", "matched_hash", "score", "kind"],
                )

    return embedded.select("history_hash", "embedding").mapInArrow(match, SCHEMA)


def find_similar(
    embeddings: DataFrame, targets: DataFrame, floor: float, best: int, *, model: str, threads: int = 1
) -> DataFrame:
    """Return (history_hash, matched_hash, score) of every embedded dialogue's most similar targets.

    The targets are searched in parts of about ``PART``, so that memory does not limit their number; the result does
    not depend on the parts.

    Args:
        embeddings: ``edos.dialogue_embeddings``, of which the model's rows are read.
        targets: history_hash, label. Targets without a label form a separate group.
        floor: minimum cosine.
        best: number of matches per dialogue and group.
        model: identity of the sentence encoder.
        threads: CPU threads per worker.
    """
    known = embeddings.where((F.col("model") == model) & F.col("embedding").isNotNull())
    parts = max(1, -(-targets.count() // PART))
    part_of = F.pmod(F.xxhash64("history_hash"), F.lit(parts))
    found = []
    for part in range(parts):
        groups = collect_targets(known, targets.where(part_of == part), best)
        found.append(search(known, groups, floor, threads))
    pairs = reduce(DataFrame.unionByName, found)
    if parts > 1:
        order = Window.partitionBy("history_hash", "kind").orderBy(F.col("score").desc(), "matched_hash")
        pairs = pairs.withColumn("place", F.row_number().over(order)).where(F.col("place") <= best)
    return pairs.select("history_hash", "matched_hash", "score")


def _pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        vectors = [row.tobytes() for row in _matrix(batch.column("embedding"))]
        columns = [batch.column("history_hash"), pa.array(vectors, pa.binary()), batch.column("kind")]
        yield pa.RecordBatch.from_arrays(columns, names=["history_hash", "vector", "kind"])


def _matrix(lists: pa.ListArray) -> Vectors:
    values = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
    return values.reshape(len(lists), -1) if len(lists) else np.empty((0, 0), dtype=np.float32)


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[pa.Array, Vectors]]:
    """Yield hashes and vectors in blocks of at least ``ROWS`` rows, for any Arrow batch size of the session."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= ROWS:
            yield _joined(waiting)
            waiting = []
    if any(map(len, waiting)):
        yield _joined(waiting)


def _joined(batches: list[pa.RecordBatch]) -> tuple[pa.Array, Vectors]:
    hashes = pa.concat_arrays([batch.column("history_hash") for batch in batches])
    return hashes, np.concatenate([_matrix(batch.column("embedding")) for batch in batches if len(batch)])
