"""Helpers of all answer parsers: lines, quotes, refusals, repetitions (Emo Pillars 3: simple expressions)."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from conf.prompts import SLOT
from etl.emo_pillars.quotes import unescaped, words_of
from etl.emo_pillars.refusals import refuses

ECHO_WORDS = 8
"""Number of consecutive words of a prompt that count as a repetition of it."""

_LIST_MARK = re.compile(r"\s*(?:\(?(\d{1,3})[.):\]、]+(?!\d)|[-*•–—+](?=\s))\s*")
_MARKDOWN = re.compile(
    r"(?P<mark>\*\*|`)(?=\S)(?P<inside>[^\n]{1,400}?)(?<=\S)(?P=mark)|(?<!\*)\*(?P<quoted>[\"“«][^\n*]{1,400}[\"”»])\*"
)
_BLANKS = re.compile(r"[^\S\n\r\v\f\x1c-\x1e\x85\u2028\u2029]{3,}")
_BLOCK = re.compile(r"^\s{0,40}+(?:#{1,6}\s+|(?:>[ \t]?){1,3}(?=\S)|```.*$)", re.MULTILINE)
_RULE = re.compile(r"(?=[\s:|-]*+\Z)(?:[^-]|-(?!-))*+--[^|]*+\|[\s:|-]*+")
_ROW = re.compile(r"\s*\|.*\|\s*")
SENTENCE_END = re.compile(r"[.!?…][\"”’')\]]*(?=\s|$)")


_STRUCK = re.compile(r"~~[^~\n]{1,400}~~")
ARROW = r"(?:→|⇒|➜|➔|➡️?|⟶|[-=]{1,2}>)"
_EMOJI = (
    "(?:[\U0001f300-\U0001faff\u2600-\u27bf\u2b00-\u2bff\U0001f1e6-\U0001f1ff]"
    "[\ufe0f\u200d\U0001f3fb-\U0001f3ff]{0,3}[ \t]?)"
)
_EMOJI_FIRST = re.compile(
    rf"^(?P<mark>[ \t]{{0,20}}(?:\(?\d{{1,3}}[.):\]]+|[-*•–—+](?=\s))?[ \t]{{0,20}})(?P<bold>\*{{0,2}}){_EMOJI}{{1,4}}",
    re.MULTILINE,
)
_EMOJI_IN_BRACKET = re.compile(rf"(?<=[(\[]){_EMOJI}{{1,4}}[ \t]?|[ \t]?{_EMOJI}{{1,4}}(?=[)\]:=]|[ \t]?[(:=])")
_TAG = re.compile(
    r"\s{0,5}[\[(](?:question|statement|exclamation|request|command|answer|assertion|rhetorical question|thought|spoken"
    r"|internal|aloud|end|done)[\])]\.?\s{0,5}$",
    re.IGNORECASE,
)
_EXPLAINS = (
    r"(?:(?:this|it|which|that|here)\b.{0,60}?\b)?(?:express|show|reveal|convey|reflect|indicat|suggest|hint|demonstrat"
    r"|captur|highlight|impl(?:y|ies))(?:e?s|ing)?\b"
)
_BEHIND = re.compile(
    r"(?<=[.!?…\"”])\s{1,5}(?:[-–—]{1,2}\s{1,5}(?P<dash>[^\n]{3,200})|[(\[](?P<bracket>[^()\[\]\n]{3,200})[)\]])\.?\s{0,5}$"
)
_REMARK = re.compile(
    rf"(?:{_EXPLAINS}|(?:s?he|they|the (?:character|speaker)|\w+) (?:is|are|feels?|was) \w+(?: \w+){{0,3}}"
    r" (?:because|since"
    r"|that|at|about)\b|because (?:s?he|they|the (?:character|speaker))\b|(?:note|reason|explanation|emotion)s?\b ?:"
    r"|without (?:the|any|naming|mention|saying|stating|explicit|word)\w*\b|(?:removed|omitted|left out|cleaned"
    r"|rewritten|unchanged|emotionally)\b|no (?:emotion|explicit|feeling)\w*\b|(?:all |any )?(?:explicit |emotional )"
    r"(?:mention|reference|clause|word)\w*\b|keeps? (?:the|it)\b.*\b(?:hidden|ambiguous|implicit)\b)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\[[^\[\]]*+\]\.?|[(<](?=[^()<>]*+[)>]\.?\Z)[^()<>]*?\b(?:no|none|not|removed|redacted|omitted|skipped|withheld|n/?a|empty|suitable"
    r"|unavailable|filtered|blocked)\b[^()<>]*+[)>]\.?",
    re.IGNORECASE,
)


_DIGITS = {n: str(int(chr(n))) for n in (*range(0x660, 0x1B60), *range(0xFF10, 0xFF1A)) if chr(n).isdecimal()}
"""Digits of other scripts: Arabic, Indic, full-width. ``\\d`` matches them, too."""
_WIDE = str.maketrans("（）：，；＝～【】％．٫「」『』", "():,;=~[]%..“”“”") | _DIGITS
_NEXT_NUMBER = re.compile(r"(?<=[.!?)\"”»\]\d,;])[ \t]+\(?(?P<number>\d{1,2})[.)][ \t]+(?=\S)")
_NUMBER = re.compile(r"[ \t]*\(?(?P<number>\d{1,2})[.)][ \t]+(?=\S)")


def each_on_its_line(answer: str) -> str:
    """Return an answer whose numbered items stand on lines of their own, where several follow each other on one.

    Only the next number begins an item: "at 7. 30 people came" has none.
    """
    lines = []
    for line in answer.splitlines():
        first = _NUMBER.match(line)
        start = 0
        awaited = int(first["number"]) + 1 if first else None
        for mark in _NEXT_NUMBER.finditer(line) if first else ():
            if int(mark["number"]) == awaited:
                lines.append(line[start : mark.start()])
                start = mark.start()
                awaited += 1
        lines.append(line[start:])
    return "\n".join(lines)


def without_emoji(answer: str) -> str:
    """Return an answer without emoji that stand before a line's text or beside a label."""
    return _EMOJI_IN_BRACKET.sub("", _EMOJI_FIRST.sub(r"\g<mark>\g<bold>", answer))


def without_remark(text: str) -> str:
    """Return a text without a tag such as "[Question]" and an explanation behind its last sentence."""
    text = _TAG.sub("", text)
    behind = _BEHIND.search(text)
    if behind is None or _REMARK.match(behind["dash"] or behind["bracket"]) is None:
        return text
    return text[: behind.start()].rstrip()


_HEADING = re.compile(r"\s*(?:#{1,6}[ \t]++[^\n]{1,80}|\*\*[^*\n.!?\"“]{1,60}\*\*)[ \t]*\n++(?=\s*+\S)")


def without_heading(answer: str) -> str:
    """Return an answer without a heading of Markdown on its first line."""
    found = _HEADING.match(answer)
    return answer[found.end() :] if found else answer


def is_placeholder(text: str) -> bool:
    """Return true for words in brackets that stand in place of an answer, such as "[REDACTED]"."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


class Rejected(NamedTuple):
    """A part of an answer that could not be parsed, for the ledger."""

    reason: str
    text: str


class Parsed(NamedTuple):
    """The parsed items and the rejected parts of an answer."""

    items: list[Any]
    rejected: list[Rejected]


class Line(NamedTuple):
    """A line of an answer without its list mark and Markdown.

    Attributes:
        listed: whether it had a number or a bullet, or is a table's row.
        numbered: whether it had a number.
    """

    text: str
    listed: bool
    numbered: bool = False


def lines_of(answer: str) -> list[Line]:
    """Return the non-empty lines. A table's rows become lines with dashes between the cells."""
    found = []
    for line in plain(_rows(each_on_its_line(answer.translate(_WIDE)))).splitlines():
        mark = _LIST_MARK.match(line)
        text = line[mark.end() :].strip() if mark else line.strip()
        if text:
            found.append(Line(text, mark is not None, mark is not None and mark[1] is not None))
    return found


def _rows(answer: str) -> str:
    """Return an answer with the rows of Markdown's tables as bullets, without heads and rules."""
    if "|" not in answer:
        return answer
    lines: list[str] = []
    for line in answer.splitlines():
        if _RULE.fullmatch(line):
            del lines[-1:]
        elif _ROW.fullmatch(line):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            cells = [
                cell for place, cell in enumerate(cells) if cell and not (place == 0 and cell.rstrip(".").isdigit())
            ]
            lines.append("- " + " - ".join(cells))
        else:
            lines.append(line)
    return "\n".join(lines)


def plain(text: str) -> str:
    """Return a text without Markdown's marks of emphasis, code and headings, and without escaped quotation marks."""
    text = _BLANKS.sub(" ", _STRUCK.sub("", text) if "~~" in text else text)
    return _MARKDOWN.sub(lambda found: found["inside"] or found["quoted"], _BLOCK.sub("", unescaped(text)))


def has_letters(text: str) -> bool:
    return any(character.isalpha() for character in text)


def echoes(text: str, template: str) -> bool:
    """Return true if a text repeats a whole line of the template, or ``ECHO_WORDS`` of its words in a row.

    The contents of the template's slots do not count.
    """
    words = words_of(text)
    if tuple(words) in _fixed_lines(template):
        return True
    runs = _runs(words)
    return any(runs & _runs(words_of(part)) for part in SLOT.split(template)[::2])


def _runs(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[start : start + ECHO_WORDS]) for start in range(len(words) - ECHO_WORDS + 1)}


@lru_cache
def _fixed_lines(template: str) -> frozenset[tuple[str, ...]]:
    """Return the words of each line of a template without a slot."""
    lines = (tuple(words_of(line.text)) for line in lines_of(template) if SLOT.search(line.text) is None)
    return frozenset(line for line in lines if line)


def problem_of(text: str, template: str, quoted: bool = False) -> str | None:
    """Return the reason why a text is not an answer; None for a valid answer.

    Args:
        quoted: whether it stood in quotation marks. A character's refusal is an answer.
    """
    if not has_letters(text):
        return "no_words"
    if not quoted and is_placeholder(text):
        return "placeholder"
    if not quoted and refuses(text):
        return "refusal"
    return "repeats_prompt" if echoes(text, template) else None


def up_to_last_sentence(text: str) -> str | None:
    """Return a cut-off text up to its last complete sentence; None if there is none."""
    ends = [found.end() for found in SENTENCE_END.finditer(text)]
    return text[: ends[-1]] if ends else None


def looks_finished(text: str) -> bool:
    """Return true if the last line of a cut-off answer is complete."""
    return text.rstrip()[-1:] in tuple('.!?)"”]')


def without_repeats(items: Sequence[Any], key: Any, reason: str) -> Parsed:
    """Keep the first item of each key, and reject the others."""
    seen: set[Any] = set()
    kept = []
    rejected = []
    for item in items:
        if key(item) in seen:
            rejected.append(Rejected(reason, str(key(item))))
        else:
            seen.add(key(item))
            kept.append(item)
    return Parsed(kept, rejected)
