"""How answers of 28 labels are scored on each task (Emo Pillars 5.1.2, 5.1.3, 5.2.2)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conf.taxonomy import goemotions_labels
from etl.emo_pillars.transfer_sets import EMOCONTEXT_LABELS, ISEAR_LABELS, OTHERS
from udfs.models.classifiers.multi_label_metrics import (
    Probabilities,
    Truth,
    class_rows,
    counts_at,
    counts_of,
    macro_and_micro,
)

MACRO, MICRO = "macro", "micro"


class Score(NamedTuple):
    """One class's row of a results table, or all classes' together."""

    scored: str
    name: str
    precision: float
    recall: float
    f1: float
    support: int
    predicted: int


def goemotions_scores(probabilities: Probabilities, truth: Truth, threshold: float) -> list[Score]:
    """All 28 labels from the threshold on (Emo Pillars Tables 2 and 10).

    Args:
        probabilities, truth: (rows, 28).
    """
    counts = counts_at(probabilities, truth, threshold)
    return scores_of("28 labels, threshold", counts, goemotions_labels())


def isear_scores(probabilities: Probabilities, truth: Truth, threshold: float) -> list[Score]:
    """ISEAR's seven, other labels ignored: the strongest of the seven, or those from the threshold on (Table 3)."""
    names = goemotions_labels()
    seven = [names.index(label) for label in ISEAR_LABELS.values()]
    given, known = probabilities[:, seven], truth[:, seven]
    strongest = _one_hot(given.argmax(axis=1), len(seven))
    return [
        *scores_of("7 emotions, strongest", counts_of(strongest, known), tuple(ISEAR_LABELS)),
        *scores_of("7 emotions, threshold", counts_of(given >= threshold, known), tuple(ISEAR_LABELS)),
    ]


def emocontext_scores(probabilities: Probabilities, emotions: list[str]) -> list[Score]:
    """EmoContext's three emotions with others and without (Emo Pillars Tables 6 and 7).

    The strongest of the 28 labels decides; one that is none of the three emotions' is others.

    Args:
        emotions: the true one of each row.
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


def scores_of(scored: str, counts: NDArray[np.int64], names: tuple[str, ...]) -> list[Score]:
    """Each class's row from counts (3, classes), then the macro and the micro average."""
    rows: list[dict[str, Any]] = class_rows(counts, names)
    each = [
        Score(scored, row["label"], row["precision"], row["recall"], row["f1"], row["support"], row["predicted"])
        for row in rows
    ]
    both = macro_and_micro(counts)
    _, predicted, support = (int(total) for total in counts.sum(axis=1))
    return each + [
        Score(scored, kind, both[f"{kind}_precision"], both[f"{kind}_recall"], both[f"{kind}_f1"], support, predicted)
        for kind in (MACRO, MICRO)
    ]


def _one_hot(classes: NDArray[np.int64], count: int) -> Truth:
    return np.equal.outer(classes, np.arange(count))
