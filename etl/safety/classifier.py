"""A classifier of lines that speak of danger: a support vector machine on a sentence encoder's embeddings.

It is fitted when it is opened, from the lines of ``data/lines.csv``: there are no weights beside the encoder's.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from etl.safety.phrases import data
from udfs.models.sentence_encoder import SentenceEncoder

LEARN, HELD_OUT, OLDER = "learn", "held_out", "older"
"""What a line is for: to learn from, or to judge by; `OLDER` ones have been evaluated with several gates."""
LINE_BREAK = " / "
"""Between the lines of a text that is said in several."""
THRESHOLD = 0.48
"""Least score of danger; chosen on everyday talk (docs/safety.md)."""
PENALTY = 5.0
SHARPNESS = 3.0
"""Exponent of the kernel exp(-3 * squared distance)."""
BATCH_SIZE = 32


class DangerLine(NamedTuple):
    """A text of one or several lines, and whether it tells of danger to a life or to somebody's health."""

    half: str
    kind: str
    danger: bool
    language: str
    lines: tuple[str, ...]


def danger_lines(half: str) -> list[DangerLine]:
    """Return the lines of ``learn``, ``held_out`` or ``older``."""
    return [
        DangerLine(half, row["kind"], row["danger"] == "1", row["language"], tuple(row["text"].split(LINE_BREAK)))
        for row in csv.DictReader(data("lines.csv").splitlines())
        if row["half"] == half
    ]


class DangerClassifier:
    """The classifier of one text."""

    def __init__(self, encoder: SentenceEncoder, lines: Sequence[DangerLine]) -> None:
        self._encoder = encoder
        self._machine = SVC(C=PENALTY, gamma=SHARPNESS, class_weight="balanced")
        self._machine.fit(self._vectors([" ".join(line.lines) for line in lines]), [line.danger for line in lines])

    @classmethod
    def load(cls, encoder: Path) -> "DangerClassifier":
        """Return the classifier on the encoder of a folder."""
        return cls(SentenceEncoder.load(encoder), danger_lines(LEARN))

    def scores(self, texts: Sequence[str]) -> list[float]:
        """Return a score of danger of each text, from 0 to 1."""
        if not texts:
            return []
        margins = self._machine.decision_function(self._vectors(texts))
        return [round(float(one), 4) for one in 1 / (1 + np.exp(-margins))]

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found = self._encoder.embed(texts, BATCH_SIZE)
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))
