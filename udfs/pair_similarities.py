"""Histograms of the cosines of all pairs in a group, in bins of a thousandth (Emo Pillars 7)."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from udfs.vectors import unit

BINS = 2_000
BLOCK = 1_024
COUNTS = "kind string, label string, bin int, pairs bigint, total double, squares double"
Counts = dict[int, tuple[int, float, float]]


def counted(cosines: NDArray[np.floating]) -> Counts:
    """Return the number, sum and sum of squares of the cosines in each bin; bin 0 starts at -1."""
    values = np.asarray(cosines, dtype=np.float64)
    places = np.clip(np.floor((values + 1) * (BINS // 2)), 0, BINS - 1).astype(np.int64)
    sums = [np.bincount(places, weights, BINS) for weights in (None, values, values**2)]
    return {
        int(place): (int(sums[0][place]), float(sums[1][place]), float(sums[2][place]))
        for place in np.flatnonzero(sums[0])
    }


def pair_counts(vectors: NDArray[np.floating], owners: NDArray[np.int64] | None = None, same: bool = True) -> Counts:
    """Return the histogram of the cosines of all pairs of rows, computed in blocks.

    Args:
        vectors: (n, size).
        owners: owner of each row; None counts every pair.
        same: whether to count pairs of one owner or of two.
    """
    rows = unit(vectors).astype(np.float32)
    found: dict[int, list[float]] = {}
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        product = block @ rows[start:].T
        chosen = np.triu(np.ones(product.shape, dtype=bool), k=1)
        if owners is not None:
            chosen &= (owners[start : start + BLOCK, None] == owners[None, start:]) == same
        for place, sums in counted(product[chosen]).items():
            before = found.setdefault(place, [0.0, 0.0, 0.0])
            for which, more in enumerate(sums):
                before[which] += more
    return {place: (int(number), total, squares) for place, (number, total, squares) in found.items()}


def counts_of_groups(rows: DataFrame) -> DataFrame:
    """Return ``COUNTS`` of all pairs within each kind and label; a worker holds one group.

    Args:
        rows: kind, label, vector.
    """

    def count(frame: pd.DataFrame) -> pd.DataFrame:
        return _frame(frame["kind"].iloc[0], frame["label"].iloc[0], pair_counts(np.stack(list(frame["vector"]))))

    return rows.select("kind", "label", "vector").groupBy("kind", "label").applyInPandas(count, COUNTS)


def counts_by_owner(rows: DataFrame, group: str, owner: str, same: str, other: str) -> DataFrame:
    """Return ``COUNTS`` of the pairs within groups; ``same`` is the kind of pairs of one owner, ``other`` of two.

    Args:
        rows: vector, and the columns named by ``group`` and ``owner``.
    """

    def count(frame: pd.DataFrame) -> pd.DataFrame:
        owners = pd.factorize(frame[owner])[0].astype(np.int64)
        vectors = np.stack(list(frame["vector"]))
        frames = [_frame(same, "", pair_counts(vectors, owners, True))]
        frames.append(_frame(other, "", pair_counts(vectors, owners, False)))
        return pd.concat(frames, ignore_index=True)

    return rows.select(group, owner, "vector").groupBy(group).applyInPandas(count, COUNTS)


def counts_of_pairs(pairs: DataFrame, kind: str) -> DataFrame:
    """Return ``COUNTS`` of pairs with column cosine."""

    def count(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield _frame(kind, "", counted(frame["cosine"].to_numpy()))

    return pairs.select("cosine").mapInPandas(count, COUNTS)


def _frame(kind: str, label: str, counts: Counts) -> pd.DataFrame:
    rows = [(kind, label, place, *sums) for place, sums in sorted(counts.items())]
    return pd.DataFrame(rows, columns=["kind", "label", "bin", "pairs", "total", "squares"])
