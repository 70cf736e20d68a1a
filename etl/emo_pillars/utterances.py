"""Parse a character's utterances with their emotions from an answer (Emo Pillars 3.2)."""

import re
from typing import NamedTuple

from etl.emo_pillars.answers import (
    Line,
    Parsed,
    Rejected,
    echoes,
    has_letters,
    lines_of,
    looks_finished,
    refuses,
    unquoted,
    without_repeats,
    words_of,
)

MOST_WORDS = 100
_NEUTRAL = re.compile(r"(?:the\s+)?(?:\w+\s+)?neutral(?:\s+[a-z ]+)?\s*(?:\(.*\))?\s*[:.]?", re.IGNORECASE)
_LABEL = r"[A-Za-z][A-Za-z /&,-]{1,40}?"
_BRACKET = re.compile(rf"[(\[]\s*(?P<label>{_LABEL})\s*[)\]]\s*[:–—-]?\s*(?P<spoken>.*)", re.DOTALL)
_BEFORE = re.compile(rf"(?P<label>{_LABEL})\s*(?::|\s[-–—]|[–—])\s*(?P<spoken>.*)", re.DOTALL)
_BEHIND = re.compile(rf"(?P<spoken>[\"“«].+[\"”»])\s*[-–—:]?\s*[(\[]?\s*(?P<label>{_LABEL})\s*[)\]]?\.?", re.DOTALL)
_SPOKEN = re.compile(r"[\"“«](?P<spoken>.+)[\"”»][.,]?\s*(?:[-–—:]\s*)?(?P<why>.*)", re.DOTALL)
_WHY = re.compile(r"\(.*|(?:reason(?:ing)?|explanation|because)\b\s*:?.*", re.IGNORECASE | re.DOTALL)


class Utterance(NamedTuple):
    """An utterance, its emotion as named by the model, and the model's reasoning, if any."""

    raw_label: str
    utterance: str
    reasoning: str | None


def parse_utterances(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """Parse the utterances of an answer, including those under a heading "Neutral" (Emo Pillars 3.2).

    Args:
        answer: the raw answer.
        template: the prompt's template.
        cut_off: whether generation stopped at the token limit. An incomplete last line is then rejected.
    """
    found: list[Utterance] = []
    rejected: list[Rejected] = []
    neutral, awaited = False, None
    lines = lines_of(answer)
    for place, line in enumerate(lines):
        if _NEUTRAL.fullmatch(line.text):
            neutral, awaited = True, None
            continue
        if _continues(line, found):
            found[-1] = found[-1]._replace(reasoning=_joined(found[-1].reasoning, line.text))
            continue
        label, text = _labelled(line, awaited or ("neutral" if neutral else None))
        if label is not None and not text:
            awaited = label
            continue
        awaited = None
        if not text and label is None and line.text.endswith(":"):
            continue
        last = cut_off and place == len(lines) - 1
        result = _utterance(line.text, label, text, template, last)
        if isinstance(result, Utterance):
            found.append(result)
        else:
            rejected.append(result)
    kept = without_repeats(found, lambda one: " ".join(words_of(one.utterance)), "repeated")
    return Parsed(kept.items, rejected + kept.rejected)


def _labelled(line: Line, heading: str | None) -> tuple[str | None, str]:
    """Return a line's emotion, or else the heading's, and its text."""
    for pattern in (_BRACKET, _BEHIND, _BEFORE):
        match = pattern.fullmatch(line.text)
        if match is not None:
            return first_label(match["label"]), match["spoken"].strip()
    if heading is not None and (line.listed or line.text[0] in '"“«'):
        return heading, line.text
    return None, ""


def _utterance(line: str, label: str | None, text: str, template: str, last: bool) -> Utterance | Rejected:
    if echoes(line, template):
        return Rejected("repeats_prompt", line)
    if label is None:  # a labelled line may be a character's refusal
        return Rejected("refusal" if refuses(line) else "no_emotion", line)
    match = _SPOKEN.fullmatch(text)
    if last and match is None and not looks_finished(text):
        return Rejected("cut_off", line)
    words = match["spoken"].strip() if match else unquoted(text).lstrip('"“«')
    if not has_letters(words):
        return Rejected("no_words", line)
    if len(words.split()) > MOST_WORDS:
        return Rejected("too_long", line)
    why = match["why"].strip(" ()") if match else ""
    return Utterance(label, words, why or None)


def first_label(label: str) -> str:
    """Return the first of several emotions, in lower case."""
    return re.split(r"\s*(?:[/,&]|\band\b)\s*", label.strip().lower())[0].strip(" -")


def _continues(line: Line, found: list[Utterance]) -> bool:
    """Return true if a line continues the reasoning of the previous one and names no emotion."""
    match = _BRACKET.fullmatch(line.text)
    labelled = match is not None and bool(match["spoken"])
    return bool(found) and not line.listed and not labelled and _WHY.fullmatch(line.text) is not None


def _joined(before: str | None, more: str) -> str:
    return f"{before} {more.strip('() ')}" if before else more.strip("() ")
