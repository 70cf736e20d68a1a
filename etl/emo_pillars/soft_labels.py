"""Parse labels with levels from an answer (Emo Pillars 3.3)."""

import re
from typing import NamedTuple

from etl.emo_pillars.answers import ARROW, Line, Parsed, Rejected, echoes, lines_of, without_emoji, without_repeats
from etl.emo_pillars.json_answers import json_records, level_lines

_ON_ONE_LINE = re.compile(
    r"(?<=[\d)\]%])(?:[,;]?[ \t]+(?=\d{1,2}[.)]\s*[A-Za-z])"
    r"|[,;][ \t]+(?=[A-Za-z]+[ -]?[A-Za-z]*[ \t]*[:=(\[]*[ \t]*[01]?\.\d))"
)
_LABEL_IS = re.compile(r"(?:label|emotion)\s*[:=]\s*(?=\w)", re.IGNORECASE)
_LABEL = re.compile(
    r"[\"“'(\[*]*(?P<label>[A-Za-z]+(?:[ -][A-Za-z]+)?)[\"”')\]*]*(?P<rest>[\s:=(\[,|–—-].*|$)", re.DOTALL
)
_NAMED = r"(?:(?:expressiveness|expressed|intensity|strength|level|rating|score)[a-z ]*[:=]?\s*)*"
_LEVEL = re.compile(
    rf"[\s:=(\[,|–—-]*{_NAMED}(?P<number>\d+(?:[.,]\d+)?|[.,]\d+)\s*"
    r"(?:(?:/|out of)\s*(?P<of>\d+(?:[.,]\d+)?)|(?P<percent>%))?\s*[)\]]?(?P<why>.*)",
    re.IGNORECASE | re.DOTALL,
)
_ARROW = re.compile(rf"[ \t]{{0,9}}{ARROW}[ \t]{{0,9}}")
_SECOND_LABEL = re.compile(
    r"(?<=[A-Za-z])[ \t]?(?:/|&|,|\bor\b|\band\b)[ \t]?[A-Za-z]{3,20}(?=[ \t]*[:=(\[–—-][ \t]*[\d.])"
    r"|(?<=[A-Za-z])[ \t]?\((?:or|and|also|aka|i\.e\.|e\.g\.|/)[^()\d\n]{1,40}\)",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(r"\s*[:=(\[]\s*[-−–]\s*[\d.,]")
_RANGE = re.compile(r"\s*(?:[-–—]|to\b)\s*[\d.,]*\d")
_IN_WORDS = re.compile(
    r"[\s:=(\[,|–—-]*(?:very |quite |extremely )?(?:high|low|medium|moderate|strong|mild|weak|intense|none)\w*\b",
    re.IGNORECASE,
)


class SoftLabel(NamedTuple):
    """A label as named by the model, its level, and the model's reasoning."""

    raw_label: str
    level: float
    reasoning: str | None


def parse_soft_labels(answer: str, template: str, top: int) -> Parsed:
    """Parse the first ``top`` labels of an answer with levels from 0 to 1 (Emo Pillars 3.3).

    "0,7", "7/10" and "70%" are levels. "high", a bare 7, a range or a negative number is not.

    Args:
        answer: the raw answer with its predefined start.
        template: the prompt's template.
        top: number of requested labels.
    """
    found = []
    rejected = []
    records = json_records(answer)
    if records is None:
        answer = _SECOND_LABEL.sub("", _ARROW.sub(": ", without_emoji(answer)))
        lines = _with_levels(lines_of(_ON_ONE_LINE.sub("\n", answer)))
    else:
        lines = [Line(text, True) for text in level_lines(records) if text]
    for line in lines:
        result = _soft_label(line.text, line.listed, template)
        if isinstance(result, SoftLabel):
            found.append(result)
        elif result is not None:
            rejected.append(result)
    kept = without_repeats(found, lambda one: one.raw_label, "repeated_label")
    beyond = [Rejected("beyond_top", f"{one.raw_label} {one.level}") for one in kept.items[top:]]
    return Parsed(kept.items[:top], rejected + kept.rejected + beyond)


def _with_levels(lines: list[Line]) -> list[Line]:
    """Return the lines, each joined with a level that stands on the next line."""
    joined: list[Line] = []
    for line in lines:
        before = _LABEL.match(joined[-1].text) if joined else None
        alone = not line.numbered and _LEVEL.match(line.text) is not None
        if alone and before is not None and _LEVEL.match(before["rest"]) is None:
            joined[-1] = joined[-1]._replace(text=f"{joined[-1].text.rstrip(' :')}: {line.text}", listed=True)
        else:
            joined.append(line._replace(text=_LABEL_IS.sub("", line.text, count=1)))
    return joined


def _soft_label(text: str, listed: bool, template: str) -> SoftLabel | Rejected | None:
    if echoes(text, template):
        return Rejected("repeats_prompt", text)
    match = _LABEL.match(text)
    if match is None:
        return Rejected("no_label", text)
    rest = match["rest"]
    if _NEGATIVE.match(rest):
        return Rejected("level_out_of_range", text)
    number = _LEVEL.match(rest)
    if number is None:
        if not listed:
            return None if text.endswith(":") else Rejected("no_list_item", text)
        return Rejected("level_in_words" if _IN_WORDS.match(rest) else "no_level", text)
    if _RANGE.match(number["why"]):
        return Rejected("level_is_a_range", text)
    level = level_of(number["number"], number["of"], bool(number["percent"]))
    if level is None:
        return Rejected("level_out_of_range", text)
    why = number["why"].strip(" .:;,|-–—\t()")
    return SoftLabel(match["label"].strip().lower(), level, why or None)


def level_of(number: str, of: str | None = None, percent: bool = False) -> float | None:
    """Return a level from 0 to 1 with two decimals; None for a number out of range."""
    whole = 100.0 if percent else float(of.replace(",", ".")) if of else 1.0
    level = float(number.replace(",", ".")) / whole if whole > 0 else -1.0
    return round(level, 2) if 0 <= level <= 1 else None
