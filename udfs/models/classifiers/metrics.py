"""Metrics of a classifier on held-out rows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support, top_k_accuracy_score

from udfs.models.classifiers.multi_label_metrics import class_rows, counts_of

Probabilities = NDArray[np.floating[Any]]
Labels = Sequence[int] | NDArray[np.integer[Any]]


def classification_metrics(probabilities: Probabilities, truth: Sequence[int]) -> dict[str, float]:
    """Return accuracy, top-3 and top-5, macro precision, recall and F1, cross-entropy and calibration error.

    Macro metrics are means over the classes that occur in `truth`.

    Args:
        probabilities: (rows, classes).
        truth: class ids.
    """
    known = np.asarray(truth, dtype=int)
    if len(known) == 0:
        raise ValueError("no held-out rows: nothing to measure")
    guessed = probabilities.argmax(axis=1)
    classes = np.arange(probabilities.shape[1])
    precision, recall, f1, _ = precision_recall_fscore_support(
        known, guessed, labels=np.unique(known), average="macro", zero_division=0
    )
    likelihood = np.clip(probabilities[np.arange(len(known)), known], 1e-12, 1.0)
    figures = {
        "accuracy": float((guessed == known).mean()),
        "macro_precision": float(precision),
        "macro_recall": float(recall),
        "macro_f1": float(f1),
        "cross_entropy": float(-np.log(likelihood).mean()),
        "calibration_error": expected_calibration_error(probabilities, known),
    }
    for k in (3, 5):
        if k < len(classes):
            top = top_k_accuracy_score(known, probabilities, k=k, labels=classes) if len(classes) > 2 else 1.0
            figures[f"top{k}_accuracy"] = float(top)
    return figures


def per_class_metrics(
    probabilities: Probabilities, truth: Sequence[int], labels: Sequence[str]
) -> list[dict[str, Any]]:
    """Return one row a class: label, precision, recall, f1, support (true rows), predicted (rows given the label)."""
    classes = np.eye(len(labels), dtype=bool)
    return class_rows(counts_of(classes[probabilities.argmax(axis=1)], classes[np.asarray(truth)]), labels)


def expected_calibration_error(probabilities: Probabilities, truth: Labels, bins: int = 15) -> float:
    """Return the mean gap between confidence and accuracy over `bins` equal bins of confidence, weighted by rows."""
    found = reliability(probabilities, truth, bins)
    gaps = [
        abs(one.accuracy - one.confidence) * one.rows
        for one in found
        if one.accuracy is not None and one.confidence is not None
    ]
    return sum(gaps) / len(probabilities)


class ConfidenceBin(NamedTuple):
    """Rows whose confidence is within one range.

    Attributes:
        low, high: of the confidence.
        confidence, accuracy: means over them; None where there are none.
    """

    low: float
    high: float
    rows: int
    confidence: float | None
    accuracy: float | None


def reliability(probabilities: Probabilities, truth: Labels, bins: int = 10) -> list[ConfidenceBin]:
    """Return mean confidence and accuracy in equal bins of confidence."""
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == np.asarray(truth)
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    found = []
    for place in range(bins):
        inside = which == place
        rows = int(inside.sum())
        means = (float(confidence[inside].mean()), float(right[inside].mean())) if rows else (None, None)
        found.append(ConfidenceBin(place / bins, (place + 1) / bins, rows, *means))
    return found


def confusion_counts(probabilities: Probabilities, truth: Sequence[int]) -> NDArray[np.int64]:
    """Return counts (true class, predicted class)."""
    labels = range(probabilities.shape[1])
    return np.asarray(confusion_matrix(truth, probabilities.argmax(axis=1), labels=labels), dtype=np.int64)
