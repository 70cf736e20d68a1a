"""The characters of a plot, one per line of the answer (Emo Pillars 3.1)."""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.emo_pillars.answers import (
    ARROW,
    Line,
    Parsed,
    Rejected,
    echoes,
    has_letters,
    lines_of,
    looks_finished,
    without_emoji,
    without_repeats,
    words_of,
)
from etl.emo_pillars.quality import judged
from etl.emo_pillars.quotes import unquoted
from etl.emo_pillars.refusals import refuses
from etl.emo_pillars.step import FAULTS, REQUEST_COLUMN, Asked, Rules, Step, child_id, list_schema
from etl.emo_pillars.tables import PLOTS
from etl.llm.json_answers import NAME, field, json_records, key_of, text_of
from etl.llm.prompt_texts import as_data
from etl.pipeline import RowAccounting

MOST_NAME_WORDS = 8
MOST_DESCRIPTION_WORDS = 40
"""The prompt asks for a few words, but small models may write hundreds."""
_BRACKET = r"[(\[](?P<bracket>(?:[^()\[\]]|[(\[][^()\[\]]*[)\]])+)(?:[)\]](?:[\s:,–—-]+(?P<besides>\w.*?))?)?"
_DESCRIBED = re.compile(
    r"(?P<name>[^()\[\]:]+?)\s*(?:" + _BRACKET + r"|(?::|\s[-–—])\s+(?P<after>.+)"
    r"|,\s+(?P<apposed>(?:an?|the|his|her|their|who)\s.+))?[.;,]?"
)
_BETWEEN_BRACKETS = re.compile(r"[)\]]\s*[(\[]")
_NAME_IS = re.compile(r"(?:name|character)(?:\s*#?\d{1,2})?\s*:\s*(?=\S)", re.IGNORECASE)
_ABOUT = re.compile(
    r"(?:^|,\s*|;\s*|\s[-–—]\s*)(?:role|description|occupation|relation(?:ship)?"
    r"|who (?:they|he|she|it) (?:is|are))\s*:\s*",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"(?:(?:main |key |inner |external |personal |primary )?(?:goals?|motivations?|motives?|traits?|personality"
    r"|age|gender|sex|conflicts?|arc|background|backstory|appearance|status|importance|significance|emotions?|feelings?|actions?"
    r"|desires?|wants?|needs?|fears?|flaws?|strengths?|weaknesses?|fate|species|quotes?|notes?|development|function"
    r"|relationships?|relations?|connections?|characteristics?|summary|type|origin|alias(?:es)?|nicknames?)"
    r"(?: (?:to|with|in|of|towards) [\w ]{1,30})?)\s*:\s",
    re.IGNORECASE,
)
ABOUT = words_of(
    "description who_they_are who role about relation relationship occupation details identity summary bio"
)
_SAME = re.compile(
    r"(?:the )?(?:same|identical)(?: (?:person|character|one))? (?:as|to)\b|see (?:above|\#?\d|no\b|number\b"
    r"|.{1,40}\babove\b)"
    r"|(?:already|previously) (?:listed|mentioned|named)|duplicate\b|as above\b|repeated\b",
    re.IGNORECASE,
)
_ARROW = re.compile(rf"[ \t]{{0,9}}{ARROW}[ \t]{{0,9}}")
_NOBODY = {"none", "n a", "unknown", "etc", "and so on", "others", "no one", "nobody"}


class Actor(NamedTuple):
    """A character. Prompts use ``actor``, which is the name with the description."""

    name: str
    description: str | None
    actor: str


def parse_actors(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """Parse the characters of an answer, one per line (Emo Pillars 3.1, B).

    Args:
        template: the prompt's template, to detect repetitions of the prompt.
        cut_off: whether generation stopped at the token limit.
    """
    records = json_records(answer)
    answer = _ARROW.sub(" - ", without_emoji(answer))
    lines = lines_of(answer) if records is None else [Line(text, True) for text in actor_lines(records) if text]
    listed = any(line.listed for line in lines)
    if not listed and refuses(answer):
        return Parsed([], [Rejected("refusal", answer.strip())])
    refused = any(refuses(line.text) for line in takewhile(lambda line: not line.listed, lines))
    lines = _with_descriptions(lines)
    lines = _from_first_item(lines) if listed else _spread(lines)
    found = []
    rejected = []
    for place, line in enumerate(lines):
        last = cut_off and place == len(lines) - 1
        result = _actor(line, listed, template, last)
        if isinstance(result, Actor):
            found.append(result)
        elif result is not None:
            rejected.append(result)
    if refused and not any(one.description for one in found):  # a list of advice names nobody
        return Parsed([], [*rejected, *(Rejected("refusal", one.actor) for one in found)])
    kept = without_repeats(found, lambda actor: " ".join(words_of(actor.name)), "repeated")
    return Parsed(kept.items, rejected + kept.rejected)


def _actor(line: Line, listed: bool, template: str, last: bool) -> Actor | Rejected | None:
    text = _BETWEEN_BRACKETS.sub(", ", line.text)
    if echoes(text, template):
        return Rejected("repeats_prompt", text)
    if refuses(text):
        return Rejected("refusal", text)
    if text.endswith(":"):
        return None
    if listed and not line.listed:
        return Rejected("no_list_item", text)
    if last and not looks_finished(text):
        return Rejected("cut_off", text)
    match = _DESCRIBED.fullmatch(text)
    name = unquoted(match["name"]) if match else ""
    invalid = not has_letters(name) or len(name.split()) > MOST_NAME_WORDS or " ".join(words_of(name)) in _NOBODY
    if match is None or invalid:
        return Rejected("no_name", text)
    about = match["bracket"] or match["after"] or match["apposed"] or ""
    about = ", ".join(part.strip() for part in (about, match["besides"]) if part)
    if about.isupper() and about in template:  # an unfilled placeholder of the template
        about = ""
    if _SAME.match(about) or len(about.split()) > MOST_DESCRIPTION_WORDS:
        return Rejected("repeated" if _SAME.match(about) else "endless_description", text)
    return Actor(name, about or None, f"{name} ({about})" if about else name)


def _with_descriptions(lines: list[Line]) -> list[Line]:
    """Return the lines without words such as "Name:" and "Role:", each name with its description."""
    joined: list[Line] = []
    for line in lines:
        if joined and _ATTRIBUTE.match(line.text):
            continue
        text = _NAME_IS.sub("", line.text, count=1)
        about = _ABOUT.search(text)
        if about is not None and about.start() == 0 and joined:
            joined[-1] = joined[-1]._replace(text=f"{joined[-1].text} ({text[about.end() :]})")
        elif about is not None and about.start() > 0:
            joined.append(line._replace(text=f"{text[: about.start()]} ({text[about.end() :]})"))
        else:
            joined.append(line._replace(text=text))
    return joined


def _from_first_item(lines: list[Line]) -> list[Line]:
    """Return the lines without the short headings before a list."""
    first = next(place for place, line in enumerate(lines) if line.listed)
    return [line for place, line in enumerate(lines) if place >= first or len(line.text.split()) > MOST_NAME_WORDS]


def _spread(lines: list[Line]) -> list[Line]:
    """Split a single line of comma-separated names."""
    if len(lines) != 1 or lines[0].text.count(",") < 2:
        return lines
    names = [name.strip(" .") for name in re.split(r",\s*(?:and\s+)?", lines[0].text)]
    short = all(name and len(name.split()) <= 4 for name in names)
    return [Line(name, False) for name in names] if short else lines


def actor_lines(records: Sequence[Any]) -> list[str]:
    """Return characters as lines of the text form (Emo Pillars 3.1)."""
    lines = []
    for record in records:
        if not isinstance(record, Mapping):
            lines.append(text_of(record))
            continue
        name = field(record, NAME)
        if name is None and record and not set(map(key_of, record)) & {*NAME, *ABOUT}:  # the names are the keys
            lines += [_named(str(key), _about(value)) for key, value in record.items()]
        else:
            about = field({key: value for key, value in record.items() if value is not name}, ABOUT)
            lines.append(_named(text_of(name), text_of(about)))
    return lines


def _named(name: str, about: str) -> str:
    about = re.sub(r"[()\[\]\n]+", " ", about).strip()
    return f"{name} ({about})" if about and "(" not in name else name


def _about(value: Any) -> str:
    return text_of(field(value, ABOUT)) if isinstance(value, Mapping) else text_of(value)


def ask(plots: DataFrame) -> Asked:
    """Ask for the characters of each plot (Emo Pillars 3.1)."""
    return Asked(plots.select("plot_id", "plot"), {"plot": as_data(F.col("plot"))})


def read(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    """Parse the characters, one per line (Emo Pillars 3.1)."""
    parsed = parse_actors(answer, rules.template, cut_off)
    return judged(parsed, [one.actor for one in parsed.items], [[] for _ in parsed.items], ())


STEP = Step(
    name="actors",
    asked_for="who takes part in a plot (Emo Pillars 3.1)",
    reads=(PLOTS,),
    ask=ask,
    schema=lambda taxonomy: list_schema("characters", name={"type": "string"}, description={"type": "string"}),
    unit="plot",
    unit_key="plot_id",
    item=f"name: string, description: string, actor: string, {FAULTS}",
    read=read,
    rules_from=("quality",),
    row="One character of a plot (Emo Pillars 3.1).",
    columns=f"""
    actor_id string COMMENT 'plot_id and place', plot_id string, place int COMMENT 'in the answer, from 1',
    actor string COMMENT 'as prompts name it', name string, description string, {REQUEST_COLUMN}
    """,
    key=("actor_id",),
    values={"actor_id": child_id("plot_id")},
    accounting=RowAccounting("plots", rows_out="count(DISTINCT plot_id)"),
    version=8,
)
