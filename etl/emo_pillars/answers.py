"""What all parsers of answers share: lines, numbers, quotes; what is no answer (Emo Pillars 3: simple expressions)."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from conf.prompts import SLOT

ECHO_WORDS = 8
"""So many words of a prompt in a row are no coincidence."""
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
    """What was not understood, for the ledger."""

    reason: str
    text: str


class Parsed(NamedTuple):
    """What an answer says, and the parts of it that say nothing."""

    items: list[Any]
    rejected: list[Rejected]


class Line(NamedTuple):
    """A line of an answer without its list mark and markdown."""

    text: str
    listed: bool


def lines_of(answer: str) -> list[Line]:
    """The lines that are not empty."""
    found = []
    for line in plain(answer).splitlines():
        mark = _LIST_MARK.match(line)
        text = line[mark.end() :].strip() if mark else line.strip()
        if text:
            found.append(Line(text, mark is not None))
    return found


def plain(text: str) -> str:
    """Without markdown's marks of emphasis, code and headings."""
    return _MARKDOWN.sub("", text)


def unquoted(text: str) -> str:
    """Without quotes around the whole."""
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
    """Whether a model speaks of itself instead of answering."""
    return _REFUSAL.search(text[:300]) is not None


def echoes(text: str, template: str) -> bool:
    """Whether a text repeats the prompt's own words, a whole line or many in a row.

    Those of a story or an utterance in its slots do not count.
    """
    said = words_of(text)
    if tuple(said) in _own_lines(template):
        return True
    runs = {tuple(said[start : start + ECHO_WORDS]) for start in range(len(said) - ECHO_WORDS + 1)}
    for part in SLOT.split(template)[::2]:
        fixed = words_of(part)
        if any(tuple(fixed[start : start + ECHO_WORDS]) in runs for start in range(len(fixed) - ECHO_WORDS + 1)):
            return True
    return False


@lru_cache
def _own_lines(template: str) -> frozenset[tuple[str, ...]]:
    """The words of each line of a template that has no slot."""
    lines = (tuple(words_of(line.text)) for line in lines_of(template) if SLOT.search(line.text) is None)
    return frozenset(line for line in lines if line)


def problem_of(text: str, template: str) -> str | None:
    """Why a text is no answer; None for one."""
    if not has_letters(text):
        return "no_words"
    if refuses(text):
        return "refusal"
    return "repeats_prompt" if echoes(text, template) else None


def repeats_itself(text: str) -> bool:
    """Whether a sentence of four words or more stands there three times: a small model that finds no end (ours)."""
    sentences = (tuple(words_of(sentence)) for sentence in _SENTENCE_END.split(text))
    return any(times >= MOST_REPEATS for said, times in Counter(sentences).items() if len(said) >= 4)


def up_to_last_sentence(text: str) -> str | None:
    """A text that was cut off, up to its last whole sentence; None where there is none."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]] if ends else None


def looks_finished(text: str) -> bool:
    """Whether a last line stands to its end, though the answer was cut off after it."""
    return text.rstrip()[-1:] in tuple('.!?)"”]')


def without_repeats(items: Sequence[Any], key: Any, reason: str) -> Parsed:
    """The first item of each key; the others rejected."""
    seen: set[Any] = set()
    kept, rejected = [], []
    for item in items:
        if key(item) in seen:
            rejected.append(Rejected(reason, str(key(item))))
        else:
            seen.add(key(item))
            kept.append(item)
    return Parsed(kept, rejected)
