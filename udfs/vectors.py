"""Vectors of texts, and the labels of the known ones that are most similar to them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


def unit(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the rows scaled to length 1; zero rows are unchanged."""
    wide = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(wide, axis=-1, keepdims=True)
    return np.asarray(wide / np.where(lengths == 0, 1, lengths))


def of_length_1(vectors: Vectors) -> Vectors:
    """Return the rows scaled to length 1 in single precision; a row of zeros stays."""
    scaled: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return scaled


def nearest_labels(
    vectors: Vectors, labels: Sequence[str], known: Vectors, most_similar: int
) -> list[tuple[str, float]]:
    """Return for each vector the label whose examples are most similar, and their mean similarity.

    Args:
        vectors: (texts, dimensions), each of length 1.
        known: (examples, dimensions), each of length 1.
        most_similar: number of a label's most similar examples that count.
    """
    names = sorted(set(labels))
    similarities = vectors @ known.T
    columns = []
    for name in names:
        own = np.sort(similarities[:, [place for place, label in enumerate(labels) if label == name]], axis=1)
        columns.append(own[:, -most_similar:].mean(axis=1))
    means = np.stack(columns, axis=1)
    best = means.argmax(axis=1)
    return [(names[place], float(row[place])) for place, row in zip(best, means, strict=True)]
