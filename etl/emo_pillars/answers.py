"""Helpers of all answer parsers: lines, quotes, refusals, repetitions (Emo Pillars 3: simple expressions)."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from conf.prompts import SLOT

ECHO_WORDS = 8
"""Number of consecutive words of a prompt that count as a repetition of it."""
MOST_REPEATS = 3

_LIST_MARK = re.compile(r"\s*(?:\(?(\d{1,3})[.):\]]+|[-*•–—+](?=\s))\s*")
_MARKDOWN = re.compile(r"\*\*|__|`+|^\s*#+\s+", re.MULTILINE)
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("'", "'"), ("‘", "’"), ("”", "”"))
_REFUSAL = re.compile(
    r"\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b"
    r"|\bi(?:['’]m| am)? (?:really )?(?:can(?:no|['’])t|can not|unable to|won['’]t|not able to) "
    r"(?:assist|comply|(?:help(?: you)? with|fulfil|do|answer|provide|complete|generate) "
    r"(?:that|this|your|such|the request))\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?…][\"”’')\]]*(?=\s|$)")


class Rejected(NamedTuple):
    """A part of an answer that could not be parsed, for the ledger."""

    reason: str
    text: str


class Parsed(NamedTuple):
    """The parsed items and the rejected parts of an answer."""

    items: list[Any]
    rejected: list[Rejected]


class Line(NamedTuple):
    """A line of an answer without its list mark and Markdown."""

    text: str
    listed: bool


def lines_of(answer: str) -> list[Line]:
    """Return the non-empty lines."""
    found = []
    for line in plain(answer).splitlines():
        mark = _LIST_MARK.match(line)
        text = line[mark.end() :].strip() if mark else line.strip()
        if text:
            found.append(Line(text, mark is not None))
    return found


def plain(text: str) -> str:
    """Return a text without Markdown's marks of emphasis, code and headings."""
    return _MARKDOWN.sub("", text)


def unquoted(text: str) -> str:
    """Return a text without quotes around the whole."""
    text = text.strip()
    for first, last in _QUOTES:
        inside = re.sub(r"(?<=\w)['’](?=\w)", "", text[1:-1])  # an apostrophe is no quote
        if len(text) > 1 and text[0] == first and text[-1] == last and first not in inside and last not in inside:
            return text[1:-1].strip()
    return text


def has_letters(text: str) -> bool:
    return any(character.isalpha() for character in text)


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def refuses(text: str) -> bool:
    """Return true if a model refuses to answer."""
    return _REFUSAL.search(text[:300]) is not None


def echoes(text: str, template: str) -> bool:
    """Return true if a text repeats a whole line of the template, or ``ECHO_WORDS`` of its words in a row.

    The contents of the template's slots do not count.
    """
    words = words_of(text)
    if tuple(words) in _fixed_lines(template):
        return True
    runs = _runs(words)
    return any(runs & _runs(words_of(part)) for part in SLOT.split(template)[::2])


def _runs(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[start : start + ECHO_WORDS]) for start in range(len(words) - ECHO_WORDS + 1)}


@lru_cache
def _fixed_lines(template: str) -> frozenset[tuple[str, ...]]:
    """Return the words of each line of a template without a slot."""
    lines = (tuple(words_of(line.text)) for line in lines_of(template) if SLOT.search(line.text) is None)
    return frozenset(line for line in lines if line)


def problem_of(text: str, template: str) -> str | None:
    """Return the reason why a text is not an answer; None for a valid answer."""
    if not has_letters(text):
        return "no_words"
    if refuses(text):
        return "refusal"
    return "repeats_prompt" if echoes(text, template) else None


def repeats_itself(text: str) -> bool:
    """Return true if a sentence of four words or more occurs three times, as small models may loop (ours)."""
    sentences = (tuple(words_of(sentence)) for sentence in _SENTENCE_END.split(text))
    return any(times >= MOST_REPEATS for words, times in Counter(sentences).items() if len(words) >= 4)


def up_to_last_sentence(text: str) -> str | None:
    """Return a cut-off text up to its last complete sentence; None if there is none."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]] if ends else None


def looks_finished(text: str) -> bool:
    """Return true if the last line of a cut-off answer is complete."""
    return text.rstrip()[-1:] in tuple('.!?)"”]')


def without_repeats(items: Sequence[Any], key: Any, reason: str) -> Parsed:
    """Keep the first item of each key, and reject the others."""
    seen: set[Any] = set()
    kept, rejected = [], []
    for item in items:
        if key(item) in seen:
            rejected.append(Rejected(reason, str(key(item))))
        else:
            seen.add(key(item))
            kept.append(item)
    return Parsed(kept, rejected)
