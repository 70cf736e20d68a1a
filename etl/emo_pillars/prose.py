"""Reading contexts, cleaned contexts and rewritten utterances out of answers (Emo Pillars 3.4, 3.5)."""

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
    """A text; ``cut`` where the model was stopped and the text ends with its last whole sentence.

    ``unchanged``: the model says that there is nothing to take out, so that the text before stands.
    """

    text: str
    cut: bool = False
    unchanged: bool = False


def parse_prose(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """The one text of an answer, without what a model says before and after it (Emo Pillars 3.4)."""
    text = _CLOSING.sub("", _OPENING.sub("", plain(answer), count=1)).strip()
    text = unquoted(re.sub(r"\s+", " ", text))
    problem = _problem(text, template)
    if problem is None and len(text.split()) < LEAST_WORDS:
        problem = "too_short"
    if problem is None and cut_off:
        whole = up_to_last_sentence(text)
        return Parsed([Prose(whole, True)], []) if whole else Parsed([], [Rejected("cut_off", text)])
    return Parsed([Prose(text)], []) if problem is None else Parsed([], [Rejected(problem, answer.strip())])


def parse_cleaned(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """A cleaned context; an answer that nothing is to be cleaned lets the context stand as it was (Emo Pillars 3.4)."""
    said = plain(answer).strip()
    if len(said.split()) <= 40 and _UNCHANGED.match(said):
        return Parsed([Prose("", unchanged=True)], [])
    return parse_prose(answer, template, cut_off)


def parse_rewrite(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """The rewritten utterance: of several proposals the first, without explanations (Emo Pillars 3.5)."""
    opened = _OPENING.sub("", plain(answer), count=1)
    lines = [line.text for line in lines_of(opened) if not line.text.endswith(":")]
    text = lines[0] if lines else ""
    quoted = re.match(r"(?:[A-Z][\w .'’-]{0,40}:\s*)?[\"“«](?P<said>.+)[\"”»]", text)
    text = quoted["said"].strip() if quoted else unquoted(text)
    problem = _problem(text, template)
    if problem is None and len(text.split()) > MOST_UTTERANCE_WORDS:
        problem = "too_long"
    if problem is None and cut_off and len(lines) == 1:
        whole = up_to_last_sentence(text)
        return Parsed([Prose(whole, True)], []) if whole else Parsed([], [Rejected("cut_off", text)])
    return Parsed([Prose(text)], []) if problem is None else Parsed([], [Rejected(problem, answer.strip())])


def _problem(text: str, template: str) -> str | None:
    return problem_of(text, template) or ("repeats_itself" if repeats_itself(text) else None)
