"""Quotation marks of answers, and emotions that stand beside an utterance (Emo Pillars 3.2, 3.5)."""

import re
from collections.abc import Collection
from typing import NamedTuple

_AROUND = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("'", "'"), ("‘", "’"), ("”", "”"))
_MARKS = '"“”„«»'
_OPENING = "“„«"
_CLOSING = "”»"
_ESCAPED = re.compile(r"\\{1,3}([\"'“”])")
_NAME = r"[A-Za-z]{2,30}"
_LABEL_BEHIND = re.compile(
    rf"(?:(?:(?<!\s)\s++)?[(\[]\s*+(?P<label>{_NAME})\s*+[)\]]|(?<=[\"”»])\s*+[-–—]\s*+(?P<after>{_NAME}))\s*+(?:\.\s*+)?$"
)
_LABEL_BEFORE = re.compile(
    rf"\s*+(?:[(\[]\s*+(?P<label>{_NAME})\s*+[)\]]\s*+[:–—-]?|(?P<before>{_NAME})\s*+:)\s*+(?=\S)"
)


class Quotation(NamedTuple):
    """A quotation: its text, and where it starts and ends, marks included."""

    text: str
    start: int
    end: int


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def unescaped(text: str) -> str:
    """Return a text without backslashes before quotation marks, as in JSON."""
    return _ESCAPED.sub(r"\1", text)


def unquoted(text: str) -> str:
    """Return a text without quotes around the whole."""
    text = text.strip()
    for first, last in _AROUND:
        inside = re.sub(r"(?<=\w)['’](?=\w)", "", text[1:-1])  # an apostrophe is no quote
        if len(text) > 1 and text[0] == first and text[-1] == last and first not in inside and last not in inside:
            return text[1:-1].strip()
    return text


def quotations(text: str) -> list[Quotation]:
    """Return the outer quotations of a text.

    A straight mark opens a quotation at the text's start and after a space, if no space follows it; else it closes
    one. A quotation that is never closed is none.
    """
    found = []
    depth = 0
    start = 0
    for place, mark in enumerate(text):
        if mark not in _MARKS:
            continue
        if _opens(text, place, depth):
            start = place if depth == 0 else start
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == 0:
                found.append(Quotation(text[start + 1 : place].strip(), start, place + 1))
    return found


def _opens(text: str, place: int, depth: int) -> bool:
    mark = text[place]
    before = text[place - 1 : place]
    after = text[place + 1 : place + 2]
    if mark in _CLOSING:
        return False
    if mark in _OPENING or depth == 0:
        return True
    return (before.isspace() or before in "([") and not after.isspace() and after not in ("", *".,;!?)]")


def without_labels(text: str, emotions: Collection[str]) -> str:
    """Return an utterance without the names of emotions that stand before or behind it."""
    before = _LABEL_BEFORE.match(text)
    if before is not None and (before["label"] or before["before"]).lower() in emotions:
        text = text[before.end() :]
    behind = _LABEL_BEHIND.search(text)
    if behind is not None and behind.start() > 0 and (behind["label"] or behind["after"]).lower() in emotions:
        text = text[: behind.start()]
    return text.strip()
