"""Which plots are taken, and how much of each (Emo Pillars 4)."""

import hashlib
import heapq
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from simplemma import in_target_language

PLOTS = "plot_id string, title string, source string, plot string, words int, kept_words int, english_share float"
DROPPED = "unit string, id string, reason string, detail string, units bigint"
LEAST_WORDS = 3
"""Fewer are no story but a remark, such as "N/A"."""
LANGUAGE_WORDS = 200
"""So many words of a plot tell its language."""

_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SENTENCE_END = re.compile(r"[.!?]+[\"”’')\]]*\s")


class Story(NamedTuple):
    """A plot as it stands in a file: ``source`` says which file, and which story of it, from 1."""

    source: str
    title: str
    text: str


@dataclass(frozen=True)
class Plots:
    """The plots taken, as rows of ``PLOTS``, and the others as rows of the ledger."""

    taken: list[tuple[str, str, str, str, int, int, float]] = field(default_factory=list)
    dropped: list[tuple[str, str, str, str, int]] = field(default_factory=list)

    @property
    def rows_in(self) -> int:
        return len(self.taken) + len(self.dropped)


def taken_plots(stories: Iterable[Story], limit: int | None, words: int, english: float) -> Plots:
    """The ``limit`` plots with the smallest content hashes, whatever their order (Emo Pillars 4: 2,000 of 113 K).

    Left out are those without words, repeated ones, and those in another language. Only the plots that may still be
    taken are held in memory.

    Args:
        stories: all there are.
        limit: plots taken at most; None for all.
        words: of a plot, words and marks, that are kept.
        english: least share of English words.
    """
    found = Plots()
    best: list[tuple[int, str, Story, float]] = []  # a heap: the largest hash on top
    known: dict[str, str] = {}
    for story in stories:
        text = cleaned(story.text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        plot_id = f"{_slug(story.title)}-{digest[:12]}"
        problem = _problem(text, digest, known, english)
        if isinstance(problem, tuple):
            found.dropped.append(("plot", f"{plot_id}@{story.source}", *problem, 1))
            continue
        known[digest] = story.source
        heapq.heappush(best, (-int(digest[:15], 16), plot_id, story._replace(text=text), problem))
        if limit is not None and len(best) > limit:
            _, gone, rest, _ = heapq.heappop(best)
            found.dropped.append(("plot", f"{gone}@{rest.source}", "beyond_limit", f"of {limit}", 1))
    for _, plot_id, story, share in sorted(best, key=lambda one: one[1]):
        kept, all_words, kept_words = cut_to_words(story.text, words)
        found.taken.append((plot_id, story.title, story.source, kept, all_words, kept_words, share))
    return found


def cleaned(text: str) -> str:
    """Without control characters, and with one blank where there are several."""
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in _CONTROL.sub("", text).splitlines())
    return "\n".join(line for line in lines if line)


def cut_to_words(text: str, most: int) -> tuple[str, int, int]:
    """A text of at most ``most`` words and marks, ended after a sentence where there is one in its second half.

    Returns:
        The text, its words and marks before, and after. The models' own tokens are some third more.
    """
    tokens = list(_TOKEN.finditer(text))
    if len(tokens) <= most:
        return text, len(tokens), len(tokens)
    part = text[: tokens[most - 1].end()]
    ends = [found.end() for found in _SENTENCE_END.finditer(part)]
    if ends and ends[-1] > len(part) // 2:
        part = part[: ends[-1]].rstrip()
    return part, len(tokens), len(_TOKEN.findall(part))


def english_share(text: str) -> float:
    """The share of English words among the first ones."""
    start = " ".join(text.split()[:LANGUAGE_WORDS])
    return round(float(in_target_language(start, lang="en")), 4)


def _problem(text: str, digest: str, known: dict[str, str], english: float) -> tuple[str, str] | float:
    """Why a plot is left out, with the evidence; else its share of English words."""
    if sum(any(letter.isalpha() for letter in word) for word in text.split()) < LEAST_WORDS:
        return "empty_plot", text[:200]
    if digest in known:
        return "same_plot", known[digest]
    share = english_share(text)
    return share if share >= english else ("other_language", f"{share:.2f} English: {text[:200]}")


def _slug(title: str) -> str:
    words = re.findall(r"[a-z0-9]+", title.lower())
    return "-".join(words)[:40].strip("-") or "plot"
