"""Reading a character's utterances with their emotions out of an answer (Emo Pillars 3.2)."""

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
_BRACKET = re.compile(rf"[(\[]\s*(?P<label>{_LABEL})\s*[)\]]\s*[:–—-]?\s*(?P<said>.*)", re.DOTALL)
_BEFORE = re.compile(rf"(?P<label>{_LABEL})\s*(?::|\s[-–—]|[–—])\s*(?P<said>.*)", re.DOTALL)
_BEHIND = re.compile(rf"(?P<said>[\"“«].+[\"”»])\s*[-–—:]?\s*[(\[]?\s*(?P<label>{_LABEL})\s*[)\]]?\.?", re.DOTALL)
_SAID = re.compile(r"[\"“«](?P<said>.+)[\"”»][.,]?\s*(?:[-–—:]\s*)?(?P<why>.*)", re.DOTALL)
_WHY = re.compile(r"\(.*|(?:reason(?:ing)?|explanation|because)\b\s*:?.*", re.IGNORECASE | re.DOTALL)


class Utterance(NamedTuple):
    """What a character says: the emotion as the model named it, the words, the model's reasoning if any."""

    raw_label: str
    utterance: str
    reasoning: str | None


def parse_utterances(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """The utterances of an answer, those under a heading "Neutral" too, where numbers begin anew (Emo Pillars 3.2).

    Args:
        answer: the raw answer.
        template: of the prompt.
        cut_off: the model was stopped by the most tokens: a last line that does not end is left out.
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
        label, said = _labelled(line, awaited or ("neutral" if neutral else None))
        if label is not None and not said:
            awaited = label
            continue
        awaited = None
        if not said and label is None and line.text.endswith(":"):
            continue
        last = cut_off and place == len(lines) - 1
        got = _utterance(line.text, label, said, template, last)
        (found if isinstance(got, Utterance) else rejected).append(got)  # type: ignore[arg-type]
    kept = without_repeats(found, lambda one: " ".join(words_of(one.utterance)), "repeated")
    return Parsed(kept.items, rejected + kept.rejected)


def _labelled(line: Line, heading: str | None) -> tuple[str | None, str]:
    """The emotion that a line names, and what it says; the heading's where it names none."""
    for pattern in (_BRACKET, _BEHIND, _BEFORE):
        match = pattern.fullmatch(line.text)
        if match is not None:
            return first_label(match["label"]), match["said"].strip()
    if heading is not None and (line.listed or line.text[0] in '"“«'):
        return heading, line.text
    return None, ""


def _utterance(line: str, label: str | None, said: str, template: str, last: bool) -> Utterance | Rejected:
    if echoes(line, template):
        return Rejected("repeats_prompt", line)
    if label is None:  # a character may well refuse something, but with an emotion
        return Rejected("refusal" if refuses(line) else "no_emotion", line)
    match = _SAID.fullmatch(said)
    words = match["said"].strip() if match else unquoted(said)
    if last and match is None and not looks_finished(said):
        return Rejected("cut_off", line)
    words = words.lstrip('"“«') if match is None else words
    if not has_letters(words):
        return Rejected("no_words", line)
    if len(words.split()) > MOST_WORDS:
        return Rejected("too_long", line)
    why = match["why"].strip(" ()") if match else ""
    return Utterance(label, words, why or None)


def first_label(label: str) -> str:
    """Of several emotions the first, in lower case."""
    return re.split(r"\s*(?:[/,&]|\band\b)\s*", label.strip().lower())[0].strip(" -")


def _continues(line: Line, found: list[Utterance]) -> bool:
    """Whether a line goes on with the reasoning of the one before, and names no emotion of its own."""
    labelled = _BRACKET.fullmatch(line.text)
    own = labelled is not None and bool(labelled["said"])
    return bool(found) and not line.listed and not own and _WHY.fullmatch(line.text) is not None


def _joined(before: str | None, more: str) -> str:
    return f"{before} {more.strip('() ')}" if before else more.strip("() ")
