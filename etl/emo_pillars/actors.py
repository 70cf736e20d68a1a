"""Reading the characters of a story out of an answer (Emo Pillars 3.1)."""

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

MOST_NAME_WORDS = 8
MOST_DESCRIPTION_WORDS = 40
"""The prompt asks for a few; a small model that finds no end writes hundreds."""
_BRACKET = r"[(\[](?P<bracket>(?:[^()\[\]]|[(\[][^()\[\]]*[)\]])+)(?:[)\]](?:[\s:,–—-]+(?P<besides>\w.*?))?)?"
_DESCRIBED = re.compile(
    r"(?P<name>[^()\[\]:]+?)\s*(?:" + _BRACKET + r"|(?::|\s[-–—])\s+(?P<after>.+)"
    r"|,\s+(?P<apposed>(?:an?|the|his|her|their|who)\s.+))?[.;,]?"
)
_NOBODY = {"none", "n a", "unknown", "etc", "and so on", "others", "no one", "nobody"}


class Actor(NamedTuple):
    """A character: ``actor`` is the line as prompts take it, ``name`` what comes before the description."""

    name: str
    description: str | None
    actor: str


def parse_actors(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """The characters that an answer lists, one a line (Emo Pillars 3.1, B).

    Args:
        answer: the raw answer.
        template: of the prompt, to tell its own words from an answer's.
        cut_off: the model was stopped by the most tokens.
    """
    lines = lines_of(answer)
    listed = any(line.listed for line in lines)
    lines = _from_first_item(lines) if listed else _spread(lines)
    found, rejected = [], []
    for place, line in enumerate(lines):
        last = cut_off and place == len(lines) - 1
        got = _actor(line, listed, template, last)
        if isinstance(got, Actor):
            found.append(got)
        elif got is not None:
            rejected.append(got)
    kept = without_repeats(found, lambda actor: " ".join(words_of(actor.name)), "repeated")
    return Parsed(kept.items, rejected + kept.rejected)


def _actor(line: Line, listed: bool, template: str, last: bool) -> Actor | Rejected | None:
    text = line.text
    if echoes(text, template) or refuses(text):
        return Rejected("repeats_prompt" if echoes(text, template) else "refusal", text)
    if text.endswith(":") or (listed and not line.listed):
        return None if text.endswith(":") else Rejected("no_list_item", text)
    if last and not looks_finished(text):
        return Rejected("cut_off", text)
    match = _DESCRIBED.fullmatch(text)
    name = unquoted(match["name"]) if match else ""
    if match is None or not has_letters(name) or len(name.split()) > MOST_NAME_WORDS:
        return Rejected("no_name", text)
    if " ".join(words_of(name)) in _NOBODY:
        return Rejected("no_name", text)
    about = match["bracket"] or match["after"] or match["apposed"] or ""
    about = ", ".join(part.strip() for part in (about, match["besides"]) if part)
    if about.isupper() and about in template:  # the form's own words, not filled in
        about = ""
    if len(about.split()) > MOST_DESCRIPTION_WORDS:
        return Rejected("endless_description", text)
    return Actor(name, about or None, f"{name} ({about})" if about else name)


def _from_first_item(lines: list[Line]) -> list[Line]:
    """Without the short headings before a list."""
    first = next(place for place, line in enumerate(lines) if line.listed)
    return [line for place, line in enumerate(lines) if place >= first or len(line.text.split()) > MOST_NAME_WORDS]


def _spread(lines: list[Line]) -> list[Line]:
    """Names on one line with commas between are a list, too."""
    if len(lines) != 1 or lines[0].text.count(",") < 2:
        return lines
    names = [name.strip(" .") for name in re.split(r",\s*(?:and\s+)?", lines[0].text)]
    short = all(name and len(name.split()) <= 4 for name in names)
    return [Line(name, False) for name in names] if short else lines
