"""How much a dialogue says, and whether its turns take each other up: what makes a span worth reading (ours)."""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

MIN_LETTERS = 3
"""Shorter words say little by themselves, whatever the language."""
HALF_WORDS = 10
"""Content words of a dialogue that says half as much as one of endless length."""
OPENERS = frozenset(
    ("yes", "no", "yeah", "yep", "nope", "okay", "ok", "because", "but", "well", "oh", "sorry", "thanks", "really")
    + ("sure", "right", "why", "what")
)
"""Words with which an English speaker opens a reaction to what was said."""
SPEAKER = frozenset(("i", "me", "my", "mine", "myself", "we", "us", "our"))
ADDRESSEE = frozenset(("you", "your", "yours", "yourself"))


class Said(NamedTuple):
    """What a turn says.

    Attributes:
        words: its lower-case words, in order.
        content: the distinct ones that are neither short nor function words.
        asks: whether it ends with a question mark.
    """

    words: tuple[str, ...]
    content: frozenset[str]
    asks: bool


def said(text: str, function_words: Collection[str]) -> Said:
    """Return what a turn says; words are parted at blanks, as in OPUS."""
    words = tuple(token for token in text.lower().split() if any(map(str.isalnum, token)))
    content = frozenset(word for word in words if len(word) >= MIN_LETTERS and word not in function_words)
    return Said(words, content, text.rstrip(" \"'»”").endswith("?"))


def content(turns: Sequence[Said]) -> float:
    """Return how much a dialogue says, from 0 to 1.

    It grows with the number of content words of all turns (half at ``HALF_WORDS``) and with that of the turn that has
    the second most: a speech with a reply of one formula is no exchange.
    """
    counts = sorted((len(turn.content) for turn in turns), reverse=True)
    return content_of(sum(counts), counts[1] if len(counts) > 1 else 0)


def content_of(words: int, second: int) -> float:
    """Return :func:`content` from the number of content words, and that of the turn that has the second most."""
    return words / (words + HALF_WORDS) * second / (second + 1)


def takes_up(left: Said, right: Said) -> bool:
    """Return whether a turn takes up the turn before.

    It does where it follows a question without asking, shares a content word with it, opens with a reaction, or where
    one of both speaks of himself and the other of him.
    """
    return (
        (left.asks and not right.asks)
        or not left.content.isdisjoint(right.content)
        or (right.words[:1] != () and right.words[0] in OPENERS)
        or _meet(left, right)
        or _meet(right, left)
    )


def _meet(one: Said, other: Said) -> bool:
    return not ADDRESSEE.isdisjoint(one.words) and not SPEAKER.isdisjoint(other.words)


def exchange(turns: Sequence[Said]) -> float:
    """Return the share of turns, but the first, that take up the turn before; 0 for one turn."""
    pairs = list(pairwise(turns))
    return sum(takes_up(left, right) for left, right in pairs) / len(pairs) if pairs else 0.0


def is_formula(turn: Said) -> bool:
    """Return whether a turn says nothing of its own: a greeting, a call by name, a question of where or when."""
    return len(turn.content) <= 1 and len(turn.words) <= 4


def formulas(turns: Sequence[Said]) -> float:
    """Return the share of turns that are formulas."""
    return sum(map(is_formula, turns)) / len(turns) if turns else 1.0


def worth_of_span(certainty: float, content: float, exponent: float) -> float:
    """Return what a span is worth before its emotions are known: its content, times its certainty to a power."""
    return content * certainty**exponent


def best_spans(worths: Iterator[tuple[int, int, float]], turns: int) -> list[tuple[int, int]]:
    """Return the spans (first, end) of the largest sum of worths, none of which overlap, in order.

    Args:
        worths: (first, end, worth) of each span, in order of their ends; ``end`` is one past the last turn.
        turns: how many there are.
    """
    best = [0.0]
    chosen: list[tuple[int, int] | None] = [None]
    for first, end, worth in worths:
        while len(best) <= end:
            best.append(best[-1])
            chosen.append(None)
        if best[first] + worth > best[end]:
            best[end] = best[first] + worth
            chosen[end] = (first, end)
    spans = []
    end = len(best) - 1
    while end > 0:
        span = chosen[end]
        if span is None:
            end -= 1
        else:
            spans.append(span)
            end = span[0]
    return spans[::-1]
