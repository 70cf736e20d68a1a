"""Time lines of SubRip and WebVTT, in all the forms in which people and programs write them."""

import re
import unicodedata
from dataclasses import dataclass

_ARROWS = "\u2192\u21d2\u2794\u279c\u279d\u279e\u27a1\u27f6\uff1e"
_DASHES = r"[-=\u2010-\u2015\u2212]"
_ARROW = rf"(?:{_DASHES}{{1,3}}\s{{0,3}}{_DASHES}{{0,2}}\s{{0,3}}>{{1,2}}|>{{2}}|[{_ARROWS}])"
_FRACTION = r"(?:\s?[.,:;]\s?[0-9]{1,6}|\s[0-9]{3})"
_CLOCK = (
    rf"-?\s?[0-9]{{1,3}}\s?:\s?[0-9]{{1,2}}\s?:\s?[0-9]{{1,2}}(?:{_FRACTION}|(?![^\W\d_]))"
    r"|-?[0-9]{1,3}\s?:\s?[0-9]{1,2}(?:\s?[.,]\s?[0-9]{1,6})?"
    r"|-?[0-9]{1,2}[.;][0-9]{2}[.;][0-9]{2}[.,;][0-9]{1,3}"
)
_INDEX = r"(?:#?([0-9]{1,7})\s{1,8}(?=[-0-9]))?"
_TIMES = re.compile(rf"\s*{_INDEX}({_CLOCK})\s{{0,40}}{_ARROW}\s{{0,40}}({_CLOCK})[:;]?(?![0-9:])(.*)")
_WITHOUT_ARROW = re.compile(
    rf"\s*{_INDEX}([0-9]{{1,3}}:[0-9]{{2}}:[0-9]{{2}}[.,][0-9]{{1,3}})\s{{0,9}}(?:{_DASHES}{{1,3}}|,|\s)"
    r"\s{0,9}([0-9]{1,3}:[0-9]{2}:[0-9]{2}[.,][0-9]{1,3})()\s*"
)
_BROKEN = re.compile(rf"\s*{_INDEX}(-?[0-9:.,;\s-]{{0,30}}?)\s{{0,40}}{_ARROW}\s{{0,40}}(-?[0-9:.,;]{{0,30}})(.*)")
_GARBLED = re.compile(r"\s*()(\S{0,30}[0-9]:[0-9]{2}\S{0,30})\s{0,40}-->\s{0,40}(\S{0,30}[0-9]:[0-9]{2}\S{0,30})(.*)")
"""Times with other signs in them than times have."""
_OTHER_SIGN = re.compile(r"[^-0-9:.,;\s]")
_PARTS = re.compile(r"[0-9]+")
_SIGNS = re.compile("[:.,;]")
_SETTING = re.compile(
    r"(?i)\s*(?:[xy][12](?:\s?:\s?-?[0-9]{1,5})?(?=\s|$)|(?:align|position|line|size|vertical|region)\s?:\s?[^\s]{1,60}"
    r"|[adlst]:[0-9a-z%,-]{1,20}(?=\s|$))"
)
_TOP = re.compile(r"(?i)\bline\s?:\s?(?:[0-3]?[0-9]%|[0-4](?![0-9%]))")
_LETTERS_AS_DIGITS = str.maketrans({"O": "0", "o": "0", "l": "1", "I": "1", "|": "1", "\u2212": "-"})
_SCANNED = re.compile(rf"\s*[0-9OolI|:.,;\s\u2212-]{{5,40}}{_ARROW}[0-9OolI|:.,;\s\u2212-]{{5,40}}.*")
_SHORTEST = len("0:0>0:0")
MOST_MS = 2**31 - 1


@dataclass(frozen=True)
class Times:
    """The times in a line of a subtitle file.

    Attributes:
        index: the cue's number, where it stands before the times on one line.
        start, end: as ``00:01:02,345``; what the file has there where it is not understood.
        text: what stands behind the times and is no setting.
        top: its settings place the cue at the top of the screen.
        understood: whether both times are.
    """

    index: int | None
    start: str
    end: str
    text: str
    top: bool
    understood: bool


def times_of(line: str, follows_index: bool = False) -> Times | None:
    """Return the times of a line; None for a line of text.

    A line that begins with something like a time and has an arrow is a time line, whether or not it is understood.

    Args:
        line: a line in normal form.
        follows_index: whether the line before holds a number alone, behind a blank line: an arrow alone counts then.
    """
    has_arrow = ">" in line or "&gt;" in line or any(arrow in line for arrow in _ARROWS)
    if not has_arrow:
        match = _WITHOUT_ARROW.fullmatch(line) if line.count(":") >= 4 else None
        return _times(match) if match else None
    plain = _plain(line)
    match = _TIMES.fullmatch(plain) if len(plain) >= _SHORTEST else None
    if match is None and len(plain) >= _SHORTEST and _SCANNED.fullmatch(plain):
        head, arrow, tail = _parted(plain)
        match = _TIMES.fullmatch(head.translate(_LETTERS_AS_DIGITS) + arrow + _scanned_tail(tail))
    if match is not None:
        return _times(match)
    return _broken_times(plain, follows_index)


def clock(ms: int) -> str:
    """Return a time as SubRip writes it: 62,345 milliseconds are ``00:01:02,345``."""
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02},{ms % 1000:03}"


def clock_ms(text: str) -> int | None:
    """Return the milliseconds of a time in any of the forms that a time line may have; None for another.

    A number behind the seconds is a decimal fraction of one to six digits, whatever stands before it.
    """
    parts = _PARTS.findall(text)
    if "-" in text or not 2 <= len(parts) <= 4:
        return None
    # Of three numbers the last is a fraction where a point or comma stands before it and one colon in the line.
    if len(parts) == 2 or (len(parts) == 3 and text.count(":") == 1):
        parts = ["0", *parts]
    hours, minutes, seconds, fraction = (*parts, "0")[:4]
    if len(hours) > 3 or len(minutes) > 2 or len(seconds) > 2 or len(fraction) > 6:
        return None
    ms = (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * 1000 + int(fraction[:3].ljust(3, "0"))
    return ms if ms <= MOST_MS else None


def _times(match: re.Match[str]) -> Times:
    start, end = (_clock(match[place]) for place in (2, 3))
    rest = match[4]
    settings = 0
    while found := _SETTING.match(rest, settings):
        settings = found.end()
    top = settings > 0 and _TOP.search(rest, 0, settings) is not None
    understood = not any(clock_ms(match[place]) is None for place in (2, 3))
    return Times(int(match[1]) if match[1] else None, start, end, _text(rest[settings:]), top, understood)


def _text(rest: str) -> str:
    """Return what is said behind the times; marks alone say nothing."""
    return rest.strip() if any(sign.isalnum() or sign in "?!\u266a\u266b" for sign in rest) else ""


def _clock(text: str) -> str:
    ms = clock_ms(text)
    return clock(ms) if ms is not None else text.strip()


def _broken_times(plain: str, follows_index: bool) -> Times | None:
    match = _GARBLED.fullmatch(plain) or _BROKEN.fullmatch(plain)
    if match is None:
        return None
    signs = max(len(_SIGNS.findall(match[2])), len(_SIGNS.findall(match[3]))) if match[2] or match[3] else 0
    nothing = not match[2].strip() and not match[3] and not match[4].strip()
    if signs < 2 and not (follows_index and (nothing or match[2].strip()[:1].isdigit())):
        return None
    index = int(match[1]) if match[1] else None
    start, end = ("" if _OTHER_SIGN.search(match[place]) else _clock(match[place]) for place in (2, 3))
    return Times(index, start, end, match[4].strip(), False, understood=False)


def _plain(line: str) -> str:
    """Return a line with the digits and signs of ASCII in place of wide and other ones."""
    line = line.replace("&gt;", ">")
    if line.isascii():
        return line
    line = unicodedata.normalize("NFKC", line.replace("\u2236", ":")).replace("\u3002", ".")
    return "".join(
        str(unicodedata.digit(sign)) if sign.isdigit() and not sign.isascii() and sign.isdecimal() else sign
        for sign in line
    ).replace("\u2212", "-")


def _parted(line: str) -> tuple[str, str, str]:
    found = re.search(_ARROW, line)
    return (line[: found.start()], found[0], line[found.end() :]) if found else (line, "", "")


def _scanned_tail(tail: str) -> str:
    """Return what follows the arrow, with digits for letters up to the end of the time."""
    time = re.match(r"\s*[0-9OolI|:.,;\u2212-]{5,20}(?!\w)", tail)
    return tail if time is None else time[0].translate(_LETTERS_AS_DIGITS) + tail[time.end() :]
