"""Parse contexts, cleaned contexts and rewritten utterances from answers (Emo Pillars 3.4, 3.5)."""

import re
from typing import NamedTuple

from etl.emo_pillars.answers import (
    Parsed,
    Rejected,
    lines_of,
    plain,
    problem_of,
    repeats_itself,
    unquoted,
    up_to_last_sentence,
)

LEAST_WORDS = 5
MOST_UTTERANCE_WORDS = 100
_OPENING = re.compile(
    r"\s*(?:(?:sure|certainly|of course|okay)\b[^\n:]{0,100}[:!.]\s+"
    r"|(?:here['’]s|here is|here are|below is)\b[^\n:]{0,120}:\s*"
    r"|(?:the )?(?:(?:cleaned|revised|edited|mended|new)? ?(?:text|context)|answer|explanation|background|summary"
    r"|what happened|(?:rewritten|revised|new) (?:utterance|words|version)|rewritten|utterance|new words)\s*:\s*)+",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"\n\s*\(?(?:note|explanation|changes|i (?:have )?(?:removed|changed|took|left))\b.*", re.I | re.S
)
_UNCHANGED = re.compile(
    r"(?:the (?:given |provided )?(?:text|context|passage)|there (?:is|are)|no |nothing )[^.]{0,140}"
    r"\b(?:no (?:explicit|clauses?|sentences?|mention)|does(?: not|n['’]t)|do not|to (?:remove|take out|change)"
    r"|unchanged|(?:is|are|was) (?:needed|necessary|required)|as it is)",
    re.IGNORECASE,
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
    text = _CLOSING.sub("", _OPENING.sub("", plain(answer), count=1)).strip()
    text = unquoted(re.sub(r"\s+", " ", text))
    problem = _problem(text, template) or ("too_short" if len(text.split()) < LEAST_WORDS else None)
    return _parsed(text, answer, problem, cut_off)


def parse_cleaned(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """Parse a cleaned context. The result is ``unchanged`` if nothing is to be removed (Emo Pillars 3.4)."""
    text = plain(answer).strip()
    if len(text.split()) <= 40 and _UNCHANGED.match(text):
        return Parsed([Prose("", unchanged=True)], [])
    return parse_prose(answer, template, cut_off)


def parse_rewrite(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """Parse the rewritten utterance: the first of several proposals, without explanations (Emo Pillars 3.5)."""
    opened = _OPENING.sub("", plain(answer), count=1)
    lines = [line.text for line in lines_of(opened) if not line.text.endswith(":")]
    text = lines[0] if lines else ""
    quoted = re.match(r"(?:[A-Z][\w .'’-]{0,40}:\s*)?[\"“«](?P<spoken>.+)[\"”»]", text)
    text = quoted["spoken"].strip() if quoted else unquoted(text)
    problem = _problem(text, template) or ("too_long" if len(text.split()) > MOST_UTTERANCE_WORDS else None)
    return _parsed(text, answer, problem, cut_off and len(lines) == 1)


def _parsed(text: str, answer: str, problem: str | None, cut_off: bool) -> Parsed:
    if problem is not None:
        return Parsed([], [Rejected(problem, answer.strip())])
    if not cut_off:
        return Parsed([Prose(text)], [])
    complete = up_to_last_sentence(text)
    return Parsed([Prose(complete, True)], []) if complete else Parsed([], [Rejected("cut_off", text)])


def _problem(text: str, template: str) -> str | None:
    return problem_of(text, template) or ("repeats_itself" if repeats_itself(text) else None)
