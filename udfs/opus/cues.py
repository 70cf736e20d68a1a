"""Cues of subtitle files: clean lines of text between two times, and what could not be read, with its line.

SubRip (``.srt``) and WebVTT (``.vtt``) are read here; ``udfs.opus.cue_forms`` turns the other forms into the same cues.
Every step takes time linear in the text.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from udfs.opus.cue_markup import Shown, shown, without_colours
from udfs.opus.cue_times import Times, clock_ms, times_of
from udfs.opus.normal_form import normal_form

_NUMBER = re.compile(r"\s*#?([0-9]{1,8})[.:]?\s*")
_APART = re.compile(r"(?:NOTE|STYLE|REGION|WEBVTT)(?:\s|$)")
_HEADER = re.compile(r"(?:WEBVTT|Kind:|Language:|X-TIMESTAMP-MAP)")
_LANGUAGE = re.compile(r"Language:\s{0,5}([A-Za-z-]{2,10})\s*")
MOST_CHARACTERS = 10_000
"""A longer cue is left out: a screen has about 100 characters. Markup of ten times as much is not looked at."""
_MOST_ALONE = 9
"""Most cues that may be missing before an index alone at a file's end, so that it is one, and not said."""


_MOST_LINES = 20
_EXAMPLE = 100


@dataclass
class Cue:
    """A text that is shown at once.

    Attributes:
        start, end: times as ``00:01:02,345``; a time that is not understood, as the file writes it.
        lines: without markup, blank lines and white space around them.
        line: the line of the file in which its times stand, from 1.
        number: its place among the cues of the file, from 1.
        index: the number that the file gives it.
        top: it is placed away from the bottom of the screen.
        drawn: it held a drawing.
        track: what tells it from others that are shown with it, such as a style of ASS.
        part: the part of the film, such as a disc, from 0; each has a clock of its own.
    """

    start: str
    end: str
    lines: list[str]
    line: int = 0
    number: int = 0
    index: int | None = None
    top: bool = False
    drawn: bool = False
    track: str = ""
    part: int = 0

    @property
    def start_ms(self) -> int:
        """Where it begins; 0 for a time that is not understood."""
        return clock_ms(self.start) or 0


@dataclass(frozen=True)
class Fault:
    """Something in a file that is not read, or not read as it stands there.

    Attributes:
        line: the line of the file, from 1.
        cue: whether it is a whole cue that is left out.
    """

    reason: str
    line: int
    text: str
    cue: bool = False


@dataclass
class CuesOfFile:
    """The cues of a file in its order, its faults, and the language that it names."""

    cues: list[Cue]
    faults: list[Fault] = field(default_factory=list)
    language: str | None = None


def fault_rows(faults: list[Fault]) -> list[dict[str, object]]:
    """Return a row for each reason: how often it occurs, the first lines, and what stands in the first of them."""
    rows: dict[str, list[Fault]] = {}
    for fault in faults:
        rows.setdefault(fault.reason, []).append(fault)
    return [
        {
            "reason": reason,
            "times": len(each),
            "lines": [fault.line for fault in each[:_MOST_LINES]],
            "example": without_colours(each[0].text)[:_EXAMPLE],
        }
        for reason, each in sorted(rows.items())
    ]


def cues_of(text: str) -> list[Cue]:
    """Return the cues of a SubRip or WebVTT file, in its order; a text without times has none."""
    return blocks_of(normal_form(text)).cues


def cue_of(start: str, end: str, raw: Iterable[str], line: int, **more: int | bool | str | None) -> Cue:
    """Return a cue, given its lines as the file has them."""
    lines = [" ".join(line.split()) for line in raw]
    endless = sum(map(len, lines)) > 10 * MOST_CHARACTERS
    seen = Shown([" ".join(lines)[: MOST_CHARACTERS + 1]], False, False) if endless else shown(lines)
    known: dict[str, int | bool | str | None] = {"top": seen.top, **more}
    known["top"] = bool(seen.top or more.get("top"))
    return Cue(start, end, seen.lines, line, drawn=seen.drawn, **known)  # type: ignore[arg-type]


def blocks_of(text: str) -> CuesOfFile:
    """Return the cues of a SubRip or WebVTT file in normal form.

    A cue's text is all that stands between its times and the next cue's index, so that no empty line, and no line of
    blanks, ends it early. In WebVTT, comments, styles and the names of cues are left out.
    """
    lines = text.split("\n")
    is_vtt = text.startswith("WEBVTT")
    marked = _time_lines(lines)
    found = CuesOfFile([])
    if not marked:
        return found
    spaced = _is_spaced(lines, marked)
    first_own, index = _before(lines, -1, marked[0][0], is_vtt, True, spaced)
    numbered = index is not None
    _read_head(lines[:first_own], is_vtt, found)
    for place, (at, times) in enumerate(marked):
        last = place + 1 == len(marked)
        following = len(lines) if last else marked[place + 1][0]
        own, next_index = (following, None) if last else _before(lines, at, following, is_vtt, numbered, spaced)
        if times.index is not None:
            index = times.index
        body = lines[at + 1 : own]
        body = _spoken_blocks(body) if is_vtt or "WEBVTT" in body else body
        after = next_index if next_index is not None or last else marked[place + 1][1].index
        body = _without_indexes(body, index, after, last)
        if not times.understood:
            found.faults.append(Fault("time_not_understood", at + 1, lines[at].strip()))
        raw = [times.text, *body] if times.text else body
        found.cues.append(cue_of(times.start, times.end, raw, at + 1, number=place + 1, index=index, top=times.top))
        index = next_index
    return found


def _time_lines(lines: list[str]) -> list[tuple[int, Times]]:
    found = []
    for at, line in enumerate(lines):
        if ">" in line or "&gt;" in line or not line.isascii() or line.count(":") >= 4:
            alone = at > 0 and _NUMBER.fullmatch(lines[at - 1]) is not None
            times = times_of(line, alone and (at == 1 or not lines[at - 2].strip()))
            if times is not None:
                found.append((at, times))
    return found


def _is_spaced(lines: list[str], marked: list[tuple[int, Times]]) -> bool:
    """Return whether the file has an empty line between most indexes and times: all its line ends are doubled."""
    apart = sum(
        1
        for at, _ in marked
        if at >= 2 and not lines[at - 1].strip() and _NUMBER.fullmatch(lines[at - 2]) and (at < 3 or not lines[at - 3])
    )
    return 2 * apart > len(marked)


def _before(
    lines: list[str], start: int, at: int, is_vtt: bool, numbered: bool, spaced: bool
) -> tuple[int, int | None]:
    """Return where the lines end that stand before a time line and its index, and the index.

    Args:
        start: the time line before, or -1.
        numbered: whether the file's first cue has an index.
        spaced: see ``_is_spaced``.
    """
    place = at - 1
    while spaced and place > start + 1 and not lines[place].strip():
        place -= 1
    if place <= start:
        return at, None
    before = lines[place - 1].strip() if place - 1 > start else ""
    number = _NUMBER.fullmatch(lines[place])
    if number is not None and (numbered or not before):
        return place, int(number[1])
    if is_vtt and lines[place].strip() and not before and place - 1 != start:
        return place, None
    return at, None


def _read_head(lines: list[str], is_vtt: bool, found: CuesOfFile) -> None:
    """Note the language, and a text that stands before the first times, which no cue has."""
    for line in lines:
        if (match := _LANGUAGE.fullmatch(line)) and found.language is None:
            found.language = match[1]
    if is_vtt:
        return
    for at, line in enumerate(lines):
        if line.strip() and not _NUMBER.fullmatch(line) and not _HEADER.match(line):
            found.faults.append(Fault("text_before_first_cue", at + 1, line.strip()))


def _spoken_blocks(lines: list[str]) -> list[str]:
    """Return the lines without WebVTT's blocks of comments and styles, which an empty line opens and closes."""
    kept = []
    apart = False
    for place, line in enumerate(lines):
        if not line:
            apart = False
        elif place and not lines[place - 1] and _APART.match(line):
            apart = True
        if not apart:
            kept.append(line)
    return kept


def _without_indexes(lines: list[str], own: int | None, following: int | None, last: bool) -> list[str]:
    """Return a cue's lines without indexes that have no times: numbers alone between those of the cues around them.

    Where the next cue has no index, its number may stand before an empty line.
    """
    if own is None or not any(_NUMBER.fullmatch(line) for line in lines):
        return lines
    end = own + _MOST_ALONE if last else (following or own + 1)
    kept = []
    for place, line in enumerate(lines):
        number = _NUMBER.fullmatch(line)
        alone = place > 0 and not lines[place - 1].strip() and not "".join(lines[place + 1 : place + 2]).strip()
        if number is None or not alone or not own < int(number[1]) <= end:
            kept.append(line)
    return kept
