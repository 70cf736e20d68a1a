"""Parse the names and categories of topics from answers (Emo Pillars H)."""

import re
from typing import Any, NamedTuple

from etl.emo_pillars.answers import (
    Line,
    Parsed,
    Rejected,
    lines_of,
    plain,
    problem_of,
    without_repeats,
    words_of,
)
from etl.emo_pillars.json_answers import field, json_records, json_value, numbered_lines, prose_of
from etl.emo_pillars.quotes import unquoted

MOST_NAME_WORDS = 10
MOST_CATEGORY_WORDS = 2
_OPENING = re.compile(r"(?:the )?(?:common |shared )?topic(?: of [^:]{1,60})?\s*(?::|\bis\b:?)\s*", re.IGNORECASE)
_NUMBERED = re.compile(r"\s*\(?(?P<number>\d{1,3})[.):\]]+\s*(?P<text>.*\S)")
_AFTER_TOPIC = re.compile(r".*(?::|->|→|\s[-–—])\s*", re.DOTALL)


class Named(NamedTuple):
    """A name or a category, and its number in the answer; 0 for none."""

    number: int
    text: str


def parse_topic_name(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """Parse a topic's name of at most ten words (Emo Pillars H)."""
    value = json_value(answer)
    answer = answer if value is None else _text_of(value)
    lines = [line for line in lines_of(answer) if not line.text.endswith(":")] or [Line("", False)]
    text = _short(_OPENING.sub("", lines[0].text, count=1))
    if cut_off and len(lines) == 1:
        return Parsed([], [Rejected("cut_off", text)])
    problem = _problem(text, template, MOST_NAME_WORDS)
    return Parsed([], [Rejected(problem, answer.strip())]) if problem else Parsed([Named(0, text)], [])


def parse_categories(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """Parse categories of at most two words with their topics' numbers, without a repeated topic (Emo Pillars H)."""
    found = []
    rejected = []
    records = json_records(answer)
    answer = answer if records is None else "\n".join(numbered_lines(records))
    lines = [line for line in plain(answer).splitlines() if line.strip()]
    for place, line in enumerate(lines):
        match = _NUMBERED.fullmatch(line.rstrip())
        if match is None:
            if not line.rstrip().endswith(":"):
                rejected.append(Rejected("no_list_item", line.strip()))
            continue
        text = _short(_AFTER_TOPIC.sub("", match["text"], count=1))
        cut = cut_off and place == len(lines) - 1
        problem = "cut_off" if cut else _problem(text, template, MOST_CATEGORY_WORDS)
        if problem:
            rejected.append(Rejected(problem, line.strip()))
        else:
            found.append(Named(int(match["number"]), text))
    kept = without_repeats(found, lambda one: one.number, "repeated")
    return Parsed(kept.items, rejected + kept.rejected)


def _text_of(value: Any) -> str:
    """Return the topic of an answer in JSON."""
    topic = field(value, ("topic", "name", "topic_name", "title")) if isinstance(value, dict) else None
    return topic if isinstance(topic, str) else prose_of(value)[0]


def _short(text: str) -> str:
    return unquoted(text.strip().rstrip(".")).rstrip(".").strip()


def _problem(text: str, template: str, most: int) -> str | None:
    return problem_of(text, template) or ("too_long" if len(words_of(text)) > most else None)
