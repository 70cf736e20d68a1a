"""Parse contexts, cleaned contexts and rewritten utterances from answers (Emo Pillars 3.4, 3.5)."""

import re
from collections.abc import Collection
from typing import NamedTuple

from etl.emo_pillars.answers import (
    Parsed,
    Rejected,
    lines_of,
    plain,
    problem_of,
    up_to_last_sentence,
    without_remark,
)
from etl.emo_pillars.json_answers import json_value, prose_of
from etl.emo_pillars.quotes import quotations, unquoted, without_labels
from etl.emo_pillars.remarks import without_closing, without_opening, without_unchanged

LEAST_WORDS = 5
MOST_UTTERANCE_WORDS = 100
_SPEAKER = re.compile(r"[A-Z][\w .'’-]{0,40}:\s*(?=[\"“«])")
_BESIDE = re.compile(
    r"\W*|\s*[(\[].*[)\]]\W*|\s*(?:/|or\b|and\b|[-–—]|,)\s*[\"“«].*|\s*(?:→|[-=]>).*", re.IGNORECASE | re.DOTALL
)


class Prose(NamedTuple):
    """A text of an answer.

    Attributes:
        cut: whether generation was cut off, so that the text ends with its last complete sentence.
        unchanged: whether the model answered that nothing is to be removed, so that the original text is kept.
    """

    text: str
    cut: bool = False
    unchanged: bool = False


def parse_prose(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """Parse the text of an answer, without a model's remarks before and after it (Emo Pillars 3.4)."""
    value = json_value(answer)
    text = without_closing(without_opening(plain(answer if value is None else prose_of(value)[0])))
    text = unquoted(without_remark(" ".join(text.split())))
    problem = problem_of(text, template) or ("too_short" if len(text.split()) < LEAST_WORDS else None)
    return _parsed(text, answer, problem, cut_off)


def parse_cleaned(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """Parse a cleaned context. The result is ``unchanged`` if nothing is to be removed (Emo Pillars 3.4)."""
    value = json_value(answer)
    text, unchanged = (answer, False) if value is None else prose_of(value)
    if unchanged:
        return Parsed([Prose("", unchanged=True)], [])
    text = plain(text)
    left = without_unchanged(text)
    if text.strip() and not left:
        return Parsed([Prose("", unchanged=True)], [])
    return parse_prose(left, template, cut_off)


def parse_rewrite(answer: str, template: str, cut_off: bool = False, emotions: Collection[str] = ()) -> Parsed:
    """Parse the rewritten utterance: the first of several proposals, without explanations (Emo Pillars 3.5).

    Args:
        answer: the raw answer.
        template: the prompt's template, to detect repetitions of the prompt.
        cut_off: whether generation stopped at the token limit.
        emotions: names of emotions, which are no part of an utterance when they stand before or behind it.
    """
    value = json_value(answer)
    lines = lines_of(without_opening(plain(answer if value is None else prose_of(value)[0])))
    lines = [line for line in lines if not line.text.endswith(":")] or lines
    text = without_labels(without_remark(lines[0].text), emotions) if lines else ""
    spoken = _spoken(text)
    problem = problem_of(text, template) if spoken is None else problem_of(spoken, template, quoted=True)
    text = text if spoken is None else spoken
    problem = problem or ("too_long" if len(text.split()) > MOST_UTTERANCE_WORDS else None)
    return _parsed(text, answer, problem, cut_off and len(lines) == 1)


def _spoken(text: str) -> str | None:
    """Return the quotation that a line consists of, maybe after a name and before remarks or further proposals."""
    speaker = _SPEAKER.match(text)
    line = text[speaker.end() :] if speaker else text
    found = quotations(line)
    if found and found[0].start == 0 and _BESIDE.fullmatch(line[found[0].end :]):
        return found[0].text
    bare = unquoted(line)
    return bare if bare != line else None


def _parsed(text: str, answer: str, problem: str | None, cut_off: bool) -> Parsed:
    if problem is not None:
        return Parsed([], [Rejected(problem, answer.strip())])
    if not cut_off:
        return Parsed([Prose(text)], [])
    complete = up_to_last_sentence(text)
    return Parsed([Prose(complete, True)], []) if complete else Parsed([], [Rejected("cut_off", text)])
