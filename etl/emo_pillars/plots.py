"""Select story plots and cut them to a length (Emo Pillars 4)."""

import hashlib
import heapq
import re
from collections.abc import Iterable
from typing import NamedTuple

from simplemma import in_target_language

from etl.pipeline.outcome import LocalOutcome
from udfs.words import word_tokens

LEAST_WORDS = 3
"""Shorter texts are remarks such as "N/A"."""
LANGUAGE_WORDS = 200
"""Number of words by which the language is detected."""

_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++[\"”’')\]]*+\s")


class Story(NamedTuple):
    """A plot as in a file, or what cannot be read there.

    Attributes:
        source: the file and the story's number, from 1.
        text: the plot, or the evidence of the fault.
        units: 0 for a fault of a whole file.
    """

    source: str
    title: str
    text: str
    fault: str | None = None
    units: int = 1


def select_plots(stories: Iterable[Story], limit: int | None, words: int, english: float) -> LocalOutcome:
    """Select the ``limit`` plots with the smallest content hashes, rows of their table (Emo Pillars 4: 2,000 of 113 K).

    Unreadable plots, plots without words, repeated plots and plots in another language are dropped. Only the plots that
    can still be selected are held in memory.

    Args:
        limit: greatest number of plots; None for all.
        words: greatest number of words and marks of a plot.
        english: least share of English words.
    """
    found = LocalOutcome()
    best: list[tuple[int, str, Story, float]] = []  # a heap: the largest hash on top
    known: dict[str, str] = {}
    for story in stories:
        if story.fault is not None:
            unit = "plot" if story.units else "file"
            found.drop(unit, story.source, story.fault, story.text, story.units)
            continue
        text = cleaned(story.text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        plot_id = f"{_slug(story.title)}-{digest[:12]}"
        problem = _problem(text, digest, known, english)
        if isinstance(problem, tuple):
            found.drop("plot", f"{plot_id}@{story.source}", *problem)
            continue
        known[digest] = story.source
        heapq.heappush(best, (-int(digest[:15], 16), plot_id, story._replace(text=text), problem))
        if limit is not None and len(best) > limit:
            _, dropped_id, dropped, _ = heapq.heappop(best)
            found.drop("plot", f"{dropped_id}@{dropped.source}", "beyond_limit", f"of {limit}")
    for _, plot_id, story, share in sorted(best, key=lambda one: one[1]):
        kept, all_words, kept_words = cut_to_words(story.text, words)
        tokens = len(word_tokens(story.text))
        found.rows.append((plot_id, story.title, story.source, kept, all_words, kept_words, share, tokens))
    return found


def cleaned(text: str) -> str:
    """Return a text without control characters, repeated blanks and empty lines."""
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in _CONTROL.sub("", text).splitlines())
    return "\n".join(line for line in lines if line)


def cut_to_words(text: str, most: int) -> tuple[str, int, int]:
    """Cut a text to at most ``most`` words and marks, after a sentence if one ends in the second half.

    Returns:
        The text, and its number of words and marks before and after. Models count about a third more tokens.
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
    """Return the share of English words among the first ``LANGUAGE_WORDS`` words."""
    start = " ".join(text.split()[:LANGUAGE_WORDS])
    return round(float(in_target_language(start, lang="en")), 4)


def _problem(text: str, digest: str, known: dict[str, str], english: float) -> tuple[str, str] | float:
    """Return the reason and detail of a dropped plot, or a valid plot's share of English words."""
    if sum(any(letter.isalpha() for letter in word) for word in text.split()) < LEAST_WORDS:
        return "empty_plot", text[:200]
    if digest in known:
        return "same_plot", known[digest]
    share = english_share(text)
    return share if share >= english else ("other_language", f"{share:.2f} English: {text[:200]}")


def _slug(title: str) -> str:
    words = re.findall(r"[a-z0-9]+", title.lower())
    return "-".join(words)[:40].strip("-") or "plot"
