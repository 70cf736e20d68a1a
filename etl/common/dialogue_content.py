"""How much a dialogue says, and whether its turns take each other up: what makes a dialogue worth reading (ours)."""

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

MIN_LETTERS = 3
"""Shorter words say little by themselves, whatever the language."""
HALF_WORDS = 10
"""Content words of a dialogue that says half as much as an endless one."""
UNRELATED = 0.3
"""What a turn counts that does not seem to take up the turn before: the words do not always show it."""
FORMULA_WORDS = 4
"""A turn of more words is no formula."""
OPENERS = frozenset(
    "yes no yeah yep nope okay ok because but well oh sorry thanks really sure right why what".split()  # noqa: SIM905
)
"""Words with which an English speaker opens a reaction to what was said."""
SPEAKER = frozenset(("i", "me", "my", "mine", "myself", "we", "us", "our"))
ADDRESSEE = frozenset(("you", "your", "yours", "yourself"))
SPAN_CERTAINTY = 2.0
SPAN_EXCHANGE = 2.0
"""Powers of certainty and exchange in what a span is worth."""


class Said(NamedTuple):
    """What a turn says.

    Attributes:
        content: the distinct ones that are neither short nor function words.
        asks: whether it ends with a question mark.
    """

    words: tuple[str, ...]
    content: frozenset[str]
    asks: bool

    @classmethod
    def of(cls, text: str, function_words: Collection[str]) -> "Said":
        """Return what a turn says; words are parted at blanks, as in OPUS."""
        words = tuple(token for token in text.lower().split() if any(map(str.isalnum, token)))
        content = frozenset(word for word in words if len(word) >= MIN_LETTERS and word not in function_words)
        return cls(words, content, text.rstrip(" \"'»”").endswith("?"))

    def takes_up(self, before: "Said") -> bool:
        """Return whether the turn takes up the turn before.

        It does where it follows a question without asking, shares a content word with it, opens with a reaction, or
        where one of both speaks of himself and the other of him.
        """
        return (
            (before.asks and not self.asks)
            or not self.content.isdisjoint(before.content)
            or (self.words != () and self.words[0] in OPENERS)
            or _meet(self, before)
            or _meet(before, self)
        )

    @property
    def is_formula(self) -> bool:
        """Whether it says next to nothing of its own: a greeting, a call by name, a question of where or when."""
        return len(self.content) <= 1 and len(self.words) <= FORMULA_WORDS


def _meet(one: Said, other: Said) -> bool:
    return not ADDRESSEE.isdisjoint(one.words) and not SPEAKER.isdisjoint(other.words)


def content(turns: Sequence[Said]) -> float:
    """Return how much a dialogue says, from 0 to 1.

    It grows with the number of content words of all turns (half at ``HALF_WORDS``), and with that of the turn that has
    the second most: a speech and a formula that answers it are little.
    """
    counts = sorted((len(turn.content) for turn in turns), reverse=True)
    words, second = sum(counts), counts[1] if len(counts) > 1 else 0
    return words / (words + HALF_WORDS) * second / (second + 1)


def exchange(turns: Sequence[Said]) -> float:
    """Return how much of a dialogue is an exchange, from 0 to 1: the share of turns that take up the turn before.

    Other turns after the first count ``UNRELATED``. Two turns reach 0.5, five 0.8.
    """
    counts = (1.0 if right.takes_up(left) else UNRELATED for left, right in pairwise(turns))
    return sum(counts) / len(turns) if turns else 0.0


def formulas(turns: Sequence[Said]) -> float:
    """Return the share of turns that are formulas; 1 without turns."""
    return sum(turn.is_formula for turn in turns) / len(turns) if turns else 1.0


def span_worth(turns: Sequence[Said], certainty: float) -> float:
    """Return what a span of turns is worth before its emotions are known, from 0 to 1."""
    return content(turns) * exchange(turns) ** SPAN_EXCHANGE * certainty**SPAN_CERTAINTY


def best_spans(worths: Iterable[tuple[int, int, float]]) -> list[tuple[int, int]]:
    """Return the spans (first, end) with the largest sum of worths, none of which overlap, in order.

    Args:
        worths: (first, end, worth) of each span by their ends; ``end`` is one past its last turn. Of equal sums the
            one that was found first stays.
    """
    best = [0.0]
    ending: list[int | None] = [None]
    for first, end, worth in worths:
        best += [best[-1]] * (end + 1 - len(best))
        ending += [None] * (end + 1 - len(ending))
        if best[first] + worth > best[end]:
            best[end] = best[first] + worth
            ending[end] = first
    spans = []
    end = len(best) - 1
    while end > 0:
        first_of = ending[end]
        if first_of is None:
            end -= 1
        else:
            spans.append((first_of, end))
            end = first_of
    return spans[::-1]
