"""Metrics of a multi-label classifier, and the choice of its thresholds (Emo Pillars D)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

THRESHOLDS = tuple(round(0.05 + 0.01 * step, 2) for step in range(91))
"""Emo Pillars D: from 0.05 to 0.95 in steps of 0.01."""
Probabilities = NDArray[np.floating[Any]]
Truth = NDArray[np.bool_]
Thresholds = float | Sequence[float]
"""One threshold for all labels, or one of each label in order."""


def multi_hot(truths: Sequence[Sequence[int]], classes: int) -> Truth:
    """Return label ids of each row as (rows, classes)."""
    found = np.zeros((len(truths), classes), dtype=bool)
    for row, labels in enumerate(truths):
        found[row, list(labels)] = True
    return found


def counts_at(probabilities: Probabilities, truth: Truth, threshold: Thresholds) -> NDArray[np.int64]:
    """Return `counts_of` the labels whose probability is at least `threshold`."""
    return counts_of(probabilities >= np.asarray(threshold), truth)


def counts_of(given: Truth, truth: Truth) -> NDArray[np.int64]:
    """Return the numbers of rows (given and true, given, true) of each class, as (3, classes)."""
    return np.stack([(given & truth).sum(axis=0), given.sum(axis=0), truth.sum(axis=0)])


def shares_of(counts: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return precision, recall and F1 from counts (3, ...); 0 where the denominator is 0."""
    hits, given, true = counts.astype(np.float64)
    return hits / np.maximum(given, 1), hits / np.maximum(true, 1), 2 * hits / np.maximum(given + true, 1)


def macro_and_micro(counts: NDArray[np.int64]) -> dict[str, float]:
    """Return macro and micro precision, recall and F1; macro metrics average the classes that occur in truth.

    Raises:
        ValueError: no row has a label.
    """
    present = counts[:, counts[2] > 0]
    if not present.size:
        raise ValueError("no held-out row has a label: nothing to measure")
    names = ("precision", "recall", "f1")
    macro = {f"macro_{name}": float(each.mean()) for name, each in zip(names, shares_of(present), strict=True)}
    micro = {f"micro_{name}": float(each) for name, each in zip(names, shares_of(counts.sum(axis=1)), strict=True)}
    return macro | micro


def threshold_curve(probabilities: Probabilities, truth: Truth) -> list[tuple[float, float, float, float]]:
    """Return (threshold, macro precision, recall, F1) at each of `THRESHOLDS`."""
    curve = []
    for threshold in THRESHOLDS:
        figures = macro_and_micro(counts_at(probabilities, truth, threshold))
        curve.append((threshold, figures["macro_precision"], figures["macro_recall"], figures["macro_f1"]))
    return curve


def best_threshold(probabilities: Probabilities, truth: Truth) -> float:
    """Return the threshold of the highest macro-F1, the lowest one among equals (Emo Pillars D)."""
    return max(threshold_curve(probabilities, truth), key=lambda point: (point[3], -point[0]))[0]


def multi_label_metrics(probabilities: Probabilities, truth: Truth, threshold: Thresholds) -> dict[str, float]:
    """Return macro and micro metrics, subset `accuracy` and mean binary `cross_entropy`.

    Args:
        probabilities, truth: (rows, classes).
        threshold: lowest probability of a given label.

    Raises:
        ValueError: no rows, or none with a label.
    """
    likelihood = np.clip(np.where(truth, probabilities, 1 - probabilities).astype(np.float64), 1e-12, 1.0)
    return {
        **macro_and_micro(counts_at(probabilities, truth, threshold)),
        "accuracy": float(((probabilities >= np.asarray(threshold)) == truth).all(axis=1).mean()),
        "cross_entropy": float(-np.log(likelihood).mean()),
    }


def class_rows(counts: NDArray[np.int64], labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return one row a class: label, precision, recall, f1, support (true rows), predicted (rows given the label)."""
    shares = zip(*shares_of(counts), strict=True)
    return [
        {
            "label": label,
            "precision": float(p),
            "recall": float(r),
            "f1": float(f),
            "support": int(true),
            "predicted": int(given),
        }
        for label, (p, r, f), given, true in zip(labels, shares, counts[1], counts[2], strict=True)
    ]
