"""Cues of SubRip (``.srt``) and WebVTT (``.vtt``) files: clean lines of text between two times.

Every step takes time linear in the text. Lines before the first time are left out.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

_TIMES = re.compile(
    r"\s{0,40}(-?[0-9][0-9:.,]{3,19})\s{0,40}-{1,3}>\s{0,40}(-?[0-9][0-9:.,]{3,19})(?:\s.*)?", re.DOTALL
)
_NUMBER = re.compile(r"[0-9]{1,8}")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});")
_LINE_END = re.compile(r"\r\n|\r|\n")
_BREAK = re.compile(r"(?i)<br\s{0,5}/?>|\\N")
_VOICE = re.compile(r"<v(?:\.[\w.-]{1,40})?[ \t]{1,5}([^<>\n]{1,80})>")
_TAG = re.compile(r"(?i)</?(?:[ibuscvp]|em|strong|font|span|lang|ruby|rt)(?:[ .][^<>]{0,200})?/?>|<[0-9:.]{5,15}>")
_STYLE = re.compile(r"\{\\[^{}]{0,100}\}|\{[A-Za-z]:[^{}]{0,40}\}")
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe\uffff]")


@dataclass
class Cue:
    """A text that is shown at once.

    Attributes:
        start, end: times as ``00:01:02,345``, or as the file writes them if they have another form.
        lines: without markup, blank lines and white space around them.
    """

    start: str
    end: str
    lines: list[str]


def cues_of(text: str) -> list[Cue]:
    """Return the cues of a file with text, in its order; a text without times has none."""
    is_vtt = text.removeprefix("\ufeff").startswith("WEBVTT")
    return [Cue(_clock(start), _clock(end), list(_clean(lines))) for start, end, lines in _blocks(text, is_vtt)]


def _blocks(text: str, is_vtt: bool) -> Iterator[tuple[str, str, list[str]]]:
    """Yield start, end and the lines of each cue, without the number or name of the next cue."""
    times: tuple[str, str] | None = None
    lines: list[str] = []
    number = ""
    for line in _LINE_END.split(text):
        match = _TIMES.fullmatch(line) if "->" in line else None
        if match is None:
            lines.append(line)
            continue
        next_number = lines[-1].strip() if lines else ""
        if times is not None:
            yield (*times, _own(lines, number, is_vtt))
        times = (match[1], match[2])
        lines = []
        number = next_number
    if times is not None:
        yield (*times, _own(lines, "", is_vtt) if is_vtt else lines)


def _own(lines: list[str], number: str, is_vtt: bool) -> list[str]:
    """Return a cue's own lines: in WebVTT up to a blank line; in SubRip without the number of the next cue."""
    if is_vtt:
        blank = next((place for place, line in enumerate(lines) if not line.strip()), len(lines))
        return lines[:blank]
    last = lines[-1].strip() if lines else ""
    if _NUMBER.fullmatch(last):
        follows = _NUMBER.fullmatch(number) is not None and int(number) + 1 == int(last)
        if follows or len(lines) == 1 or not lines[-2].strip():
            return lines[:-1]
    return lines


def _clean(lines: list[str]) -> Iterator[str]:
    for line in lines:
        text = _REFERENCE.sub(lambda match: html.unescape(match[0]), line) if "&" in line else line
        text = _STYLE.sub("", _BREAK.sub("\n", text))
        if "<" in text:
            text = _TAG.sub("", _VOICE.sub(r"\1: ", text))
        for part in _UNSEEN.sub("", text).split("\n"):
            if part.strip():
                yield " ".join(part.split())


def _clock(time: str) -> str:
    """Return a time with hours, and with a comma before the milliseconds."""
    clock = time.replace(".", ",")
    return clock if clock.count(":") != 1 else f"-00:{clock[1:]}" if clock.startswith("-") else f"00:{clock}"
