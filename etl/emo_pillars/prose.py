"""Parse prose from answers, as three steps ask for it (Emo Pillars 3.4, 3.5)."""

from typing import NamedTuple

from etl.emo_pillars.answers import (
    Parsed,
    Rejected,
    plain,
    problem_of,
    up_to_last_sentence,
    without_heading,
    without_remark,
)
from etl.emo_pillars.quotes import unquoted
from etl.emo_pillars.remarks import without_closing, without_opening
from etl.llm.json_answers import json_value, prose_of

LEAST_WORDS = 5


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
    text = answer if value is None else prose_of(value)[0]
    text = without_closing(without_opening(plain(without_heading(text))))
    text = unquoted(without_remark(" ".join(text.split())))
    problem = problem_of(text, template) or ("too_short" if len(text.split()) < LEAST_WORDS else None)
    return prose(text, answer, problem, cut_off)


def prose(text: str, answer: str, problem: str | None, cut_off: bool) -> Parsed:
    """Return a text as the item of an answer, or the answer as rejected for a problem; a cut-off text in sentences."""
    if problem is not None:
        return Parsed([], [Rejected(problem, answer.strip())])
    if not cut_off:
        return Parsed([Prose(text)], [])
    complete = up_to_last_sentence(text)
    return Parsed([Prose(complete, True)], []) if complete else Parsed([], [Rejected("cut_off", text)])
