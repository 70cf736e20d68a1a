"""Figures of a model of several labels a row, and the one threshold for all of them (Emo Pillars D)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

THRESHOLDS = tuple(round(0.05 + 0.01 * step, 2) for step in range(91))
"""Emo Pillars D: from 0.05 to 0.95 in steps of 0.01."""
Probabilities = NDArray[np.floating[Any]]
Truth = NDArray[np.bool_]


def multi_hot(truths: Sequence[Sequence[int]], classes: int) -> Truth:
    """Label ids of each row as (rows, classes)."""
    found = np.zeros((len(truths), classes), dtype=bool)
    for row, labels in enumerate(truths):
        found[row, list(labels)] = True
    return found


def counts_at(probabilities: Probabilities, truth: Truth, threshold: float) -> NDArray[np.int64]:
    """Rows (given and true, given, true) of each class, as (3, classes), where labels from `threshold` on are given."""
    return counts_of(probabilities >= threshold, truth)


def counts_of(given: Truth, truth: Truth) -> NDArray[np.int64]:
    """Rows (given and true, given, true) of each class, as (3, classes)."""
    return np.stack([(given & truth).sum(axis=0), given.sum(axis=0), truth.sum(axis=0)])


def shares_of(counts: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Precision, recall and F1 from counts (3, ...); 0 where there is nothing to divide by."""
    hits, given, true = counts.astype(np.float64)
    return hits / np.maximum(given, 1), hits / np.maximum(true, 1), 2 * hits / np.maximum(given + true, 1)


def macro_and_micro(counts: NDArray[np.int64]) -> dict[str, float]:
    """Macro and micro precision, recall and F1; the macro ones over the classes that occur in truth.

    Raises:
        ValueError: no row has a label.
    """
    there = counts[:, counts[2] > 0]
    if not there.size:
        raise ValueError("no held-out row has a label: nothing to measure")
    macro = [float(each.mean()) for each in shares_of(there)]
    micro = [float(each) for each in shares_of(counts.sum(axis=1))]
    names = ("precision", "recall", "f1")
    return {f"macro_{name}": value for name, value in zip(names, macro, strict=True)} | {
        f"micro_{name}": value for name, value in zip(names, micro, strict=True)
    }


def threshold_curve(probabilities: Probabilities, truth: Truth) -> list[tuple[float, float, float, float]]:
    """(threshold, macro precision, recall, F1) at each of `THRESHOLDS`."""
    curve = []
    for threshold in THRESHOLDS:
        figures = macro_and_micro(counts_at(probabilities, truth, threshold))
        curve.append((threshold, figures["macro_precision"], figures["macro_recall"], figures["macro_f1"]))
    return curve


def best_threshold(probabilities: Probabilities, truth: Truth) -> float:
    """The threshold of the highest macro-F1, the lowest of equal ones (Emo Pillars D)."""
    return max(threshold_curve(probabilities, truth), key=lambda point: (point[3], -point[0]))[0]


def multi_label_metrics(probabilities: Probabilities, truth: Truth, threshold: float) -> dict[str, float]:
    """Macro and micro figures, `accuracy` (rows with just the true labels), mean binary `cross_entropy`, `threshold`.

    Args:
        probabilities, truth: (rows, classes).
        threshold: labels from here on are given.

    Raises:
        ValueError: no rows, or none with a label.
    """
    likelihood = np.clip(np.where(truth, probabilities, 1 - probabilities).astype(np.float64), 1e-12, 1.0)
    return {
        **macro_and_micro(counts_at(probabilities, truth, threshold)),
        "accuracy": float(((probabilities >= threshold) == truth).all(axis=1).mean()),
        "cross_entropy": float(-np.log(likelihood).mean()),
        "threshold": threshold,
    }


def class_rows(counts: NDArray[np.int64], labels: Sequence[str]) -> list[dict[str, Any]]:
    """One row a class: label, precision, recall, f1, support (its rows), predicted (rows given it)."""
    shares = zip(*shares_of(counts), strict=True)
    return [
        {
            "label": label, "precision": float(p), "recall": float(r), "f1": float(f), "support": int(true),
            "predicted": int(given),
        }
        for label, (p, r, f), given, true in zip(labels, shares, counts[1], counts[2], strict=True)
    ]  # fmt: skip
