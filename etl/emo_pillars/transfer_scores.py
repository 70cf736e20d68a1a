"""Score models of 28 labels on the transfer tasks (Emo Pillars 5.1.2, 5.1.3, 5.2.2)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conf.taxonomy import goemotions_labels
from etl.emo_pillars.transfer_sets import EMOCONTEXT_LABELS, ISEAR_LABELS, OTHERS
from udfs.models.classifiers import multi_label_metrics as metrics
from udfs.models.classifiers.multi_label_metrics import Probabilities, Thresholds, Truth, counts_of

MACRO = "macro"
MICRO = "micro"


class ClassScores(NamedTuple):
    """A row of a results table, for one class or for an average."""

    scored: str
    name: str
    precision: float
    recall: float
    f1: float
    support: int
    predicted: int


def goemotions_scores(probabilities: Probabilities, truth: Truth, threshold: Thresholds) -> list[ClassScores]:
    """Score all 28 labels at the threshold (Emo Pillars Tables 2 and 10).

    Args:
        probabilities, truth: arrays of shape (rows, 28).
        threshold: least probability of a given label.
    """
    counts = metrics.counts_at(probabilities, truth, threshold)
    return scores_of("28 labels, threshold", counts, goemotions_labels())


def isear_scores(probabilities: Probabilities, truth: Truth, threshold: Thresholds) -> list[ClassScores]:
    """Score ISEAR's seven labels, ignoring others: the strongest, and those at the threshold (Table 3)."""
    names = goemotions_labels()
    seven = [names.index(label) for label in ISEAR_LABELS.values()]
    given = probabilities[:, seven]
    known = truth[:, seven]
    least = np.broadcast_to(threshold, probabilities.shape[1:])[seven]
    strongest = _one_hot(given.argmax(axis=1), len(seven))
    return [
        *scores_of("7 emotions, strongest", counts_of(strongest, known), tuple(ISEAR_LABELS)),
        *scores_of("7 emotions, threshold", counts_of(given >= least, known), tuple(ISEAR_LABELS)),
    ]


def emocontext_scores(probabilities: Probabilities, emotions: list[str]) -> list[ClassScores]:
    """Score EmoContext's three emotions with and without others (Emo Pillars Tables 6 and 7).

    The strongest of the 28 labels is used. It counts as others if it belongs to none of the three emotions.

    Args:
        probabilities: array of shape (rows, 28).
    """
    classes = (*EMOCONTEXT_LABELS, OTHERS)
    names = goemotions_labels()
    place = {names.index(label): number for number, label in enumerate(EMOCONTEXT_LABELS.values())}
    guessed = np.array([place.get(int(label), len(place)) for label in probabilities.argmax(axis=1)], dtype=int)
    known = np.array([classes.index(emotion) for emotion in emotions], dtype=int)
    counts = counts_of(_one_hot(guessed, len(classes)), _one_hot(known, len(classes)))
    three = len(EMOCONTEXT_LABELS)
    return [
        *scores_of("4 classes, strongest", counts, classes),
        *scores_of("3 classes, strongest", counts[:, :three], classes[:three]),
    ]


def scores_of(scored: str, counts: NDArray[np.int64], names: tuple[str, ...]) -> list[ClassScores]:
    """Return a row for each class of counts (3, classes), then the macro and the micro average."""
    rows: list[dict[str, Any]] = metrics.class_rows(counts, names)
    each = [
        ClassScores(scored, row["label"], row["precision"], row["recall"], row["f1"], row["support"], row["predicted"])
        for row in rows
    ]
    both = metrics.macro_and_micro(counts)
    _, predicted, support = (int(total) for total in counts.sum(axis=1))
    return each + [
        ClassScores(
            scored, kind, both[f"{kind}_precision"], both[f"{kind}_recall"], both[f"{kind}_f1"], support, predicted
        )
        for kind in (MACRO, MICRO)
    ]


def _one_hot(classes: NDArray[np.int64], count: int) -> Truth:
    return np.equal.outer(classes, np.arange(count))
