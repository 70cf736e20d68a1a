"""Answers in the styles of six families of models, half of which no pattern was made for.

Each file has entries of a family, an answer and what it gives, apart by ``-----`` and ``=====``. All answers were
written before any parser was tried on them; a hash of the answer says which half it belongs to.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

ENTRY = "\n=====\n"
GIVES = "\n-----\n"


class Entry(NamedTuple):
    """An answer and what it gives.

    Attributes:
        family: of the models that write so.
        cut_off: whether generation stopped at the token limit.
        expected: the items, each as a line.
    """

    family: str
    cut_off: bool
    answer: str
    expected: tuple[str, ...]

    @property
    def is_seen(self) -> bool:
        """Whether it is of the half that patterns may be made for."""
        return int(hashlib.sha256(self.answer.encode()).hexdigest(), 16) % 2 == 0


def entries(path: Path) -> list[Entry]:
    """Return the entries of a file."""
    found = []
    for entry in path.read_text("utf-8").rstrip("\n").split(ENTRY):
        said, _, gives = f"{entry}\n".partition(GIVES)
        head, _, answer = said.partition("\n")
        family, _, cut = head.partition(" ")
        found.append(Entry(family, cut == "cut", answer, tuple(line for line in gives.splitlines() if line)))
    return found


class Counts(NamedTuple):
    """How many items answers have, how many of them were not read, and how many were read that none has."""

    items: int = 0
    lost: int = 0
    polluted: int = 0

    def plus(self, expected: tuple[str, ...], read: list[str]) -> "Counts":
        lost = sum(line not in read for line in expected)
        polluted = sum(line not in expected for line in read)
        return Counts(self.items + len(expected), self.lost + lost, self.polluted + polluted)
