"""The danger set: our own lines, what is learnt from, what is tuned on, and what is held out."""

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from etl.common.intervals import wilson
from etl.safety.stored import data

TRAINING = "training.csv"
EVALUATION = "evaluation.csv"
KINDS = "kinds.csv"
TUNE = "tune"
HELD_OUT = "held_out"
LINE_BREAK = " / "
"""Between the lines of a text that is said in several."""
MOST_OVERLAP = 0.5
"""Of a line to learn from with a line that is judged, in words."""


class DangerLine(NamedTuple):
    """A text of one or several lines, and whether it tells of danger to a life or to somebody's health."""

    kind: str
    danger: bool
    lines: tuple[str, ...]
    half: str
    template: str = ""
    language: str = "en"
    style: str = ""

    @property
    def text(self) -> str:
        return " ".join(self.lines)


class Rate(NamedTuple):
    """A share of a number of cases with Wilson's interval at 95 %."""

    hits: int
    cases: int

    @property
    def share(self) -> float:
        return self.hits / self.cases if self.cases else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.hits, self.cases)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.share:.3f} [{low:.3f}, {high:.3f}] ({self.hits}/{self.cases})"


def training_lines() -> list[DangerLine]:
    """Return the lines to learn from."""
    return _read(TRAINING)


def evaluation_lines(half: str) -> list[DangerLine]:
    """Return one half of the evaluation set: ``tune`` or ``held_out``."""
    return [line for line in _read(EVALUATION) if line.half == half]


def kind_lines(half: str) -> list[DangerLine]:
    """Return one half of the lines by kind: ``tune`` or ``held_out``.

    Held out are whole kinds, and one author-like style of writing in all kinds. Of each kind there are lines of danger
    and lines that look alike.
    """
    return [line for line in _read(KINDS) if line.half == half]


def unlike(lines: Iterable[DangerLine], judged: Iterable[DangerLine], most: float = MOST_OVERLAP) -> list[DangerLine]:
    """Return the lines whose words have a Jaccard similarity of less than ``most`` with those of each judged line."""
    lines = list(lines)
    known = [_words(line.text) for line in judged]
    nearest = _nearest([_words(line.text) for line in lines], known)
    return [line for line, near in zip(lines, nearest, strict=True) if near < most]


def _nearest(texts: Sequence[frozenset[str]], known: Sequence[frozenset[str]]) -> NDArray[np.float64]:
    """Return each text's greatest Jaccard similarity to a known one; 0 where none is known."""
    places = {word: place for place, word in enumerate(sorted(frozenset().union(*known)))}
    shared = (_incidence(texts, places) @ _incidence(known, places).T).astype(np.float64)
    sizes = np.array([len(words) for words in texts])[:, None] + np.array([len(words) for words in known])
    return (shared / np.maximum(1, sizes - shared)).max(axis=1, initial=0.0)


def _incidence(texts: Sequence[frozenset[str]], places: Mapping[str, int]) -> NDArray[np.float32]:
    """Return 1 where a text (row) has a word (column), else 0."""
    found = np.zeros((len(texts), len(places)), dtype=np.float32)
    for row, words in enumerate(texts):
        found[row, [places[word] for word in words if word in places]] = 1
    return found


def rates(lines: Iterable[DangerLine], alarm: Callable[[Sequence[str]], bool]) -> tuple[Rate, Rate, dict[str, Rate]]:
    """Return the recall of danger, the rate of false alarms, and the rate of alarms by kind.

    Args:
        lines: of the danger set.
        alarm: whether a conversation of these lines ends in the safe state.
    """
    counted: dict[str, list[bool]] = {}
    both: dict[bool, list[bool]] = {True: [], False: []}
    for line in lines:
        rung = alarm(line.lines)
        counted.setdefault(line.kind, []).append(rung)
        both[line.danger].append(rung)
    recall, false_alarms = (Rate(sum(both[danger]), len(both[danger])) for danger in (True, False))
    return recall, false_alarms, {kind: Rate(sum(found), len(found)) for kind, found in counted.items()}


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", text.lower().replace("'", "")))


def _read(name: str) -> list[DangerLine]:
    return [
        DangerLine(
            kind=row["kind"],
            danger=row["danger"] == "1",
            lines=tuple(row["text"].split(LINE_BREAK)),
            half=row.get("half", ""),
            language=row.get("language", "en"),
            style=row.get("style", ""),
        )
        for row in csv.DictReader(data(name).splitlines())
    ]
