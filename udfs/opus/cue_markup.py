"""Lines of a cue without markup: tags of HTML and WebVTT, codes of ASS and MicroDVD, drawings, readings of ruby."""

import html
import re
from dataclasses import dataclass

from udfs.opus.normal_form import normal_form

_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});")
_BREAK = re.compile(r"(?i)<\s{0,5}br\s{0,5}/?\s{0,5}>|\\N|\\n(?![a-z])|\[br\]")
_BAR = re.compile(r"(?<=\S)\|(?=\S)|(?<=[.?!,])\s?\|\s?(?=[-\w])")
"""MicroDVD's end of a line, which converters leave in other forms; ``| know`` is an I that a scanner misread."""
_HARD_BLANK = re.compile(r"\\h")
_CODES = re.compile(r"\{[^{}]{0,5000}\}")
_IS_CODE = re.compile(r"\{\s{0,3}(?:\\|/?an?[0-9]{1,2}\s{0,3}\}|[A-Za-z]:[^{}]{0,60}\})")
_UNCLOSED_CODE = re.compile(r"\{\\(?:an?[0-9]{1,2}|[A-Za-z]{1,5}(?:\([^()\n]{0,200}\)|[0-9&H.-]{0,12}))")
_DRAWS = re.compile(r"\\p([0-9]{1,2})(?![A-Za-z])")
_TOP = re.compile(r"\{[^{}]{0,200}?\\(?:an[789]|a(?:5|6|7|9|10|11)(?![0-9])|pos\(|move\()")
_DRAWING = re.compile(r"\s{0,5}m(?:\s{1,5}-?[0-9.]{1,12}){2}(?:\s{1,5}(?:[mnlbspc]|-?[0-9.]{1,12}))*\s{0,5}")
_VOICE = re.compile(r"<\s{0,3}v(?:\.[\w.-]{1,40})?\s{1,5}([^<>]{1,80})>")
_READING = re.compile(r"(?is)<\s{0,3}(rt|rp)(?:\s[^<>]{0,100})?>[^<>]{0,200}(?:<\s{0,3}/\s{0,3}\1\s{0,3}>|(?=<))")
_NAMES = (
    "[ibuscvpqa]|em|strong|font|span|lang|ruby|rt|rp|rb|big|small|center|div|blink|strike|del|ins|sub|sup|tt|body|"
    "html|head|pre|sync|style|title|h[1-6]|li|ul|ol|table|tr|td|img|hr|set|metadata"
)
COLOUR = "\0"
"""Stands before and behind the name of a colour, where the text takes it; normal text has no such sign."""
_COLOURED = re.compile(
    r"(?i)<\s{0,3}font\b[^<>]{0,200}?\bcolor\s{0,3}=\s{0,3}[\"']?([#\w]{1,20})[^<>]{0,200}>|<c\.([a-z]{3,10})[\w.]{0,40}>"
    r"|<\s{0,3}/\s{0,3}(?:font|c)\s{0,3}>|(?=\{[^{}]{0,200}\\1?c(?:&H([0-9a-f]{1,8}))?&?[\\}])"
)
_TAG = re.compile(
    rf"(?i)<\s{{0,3}}/?\s{{0,3}}(?:{_NAMES})(?:[\s.=/][^<>]{{0,1000}})?\s{{0,3}}/?\s{{0,3}}>|<[0-9:.]{{5,15}}>"
)
_UNCLOSED_TAG = re.compile(r"(?im)<\s{0,3}/?\s{0,3}(?:font|span)\b[^<>\n]{0,300}$|<\s{0,3}/\s{0,3}[ibu]\s{0,3}$")
_NOTES = re.compile(
    "\u00e2\u2122[\u00aa\u00ab\u00ac]|\u00c2\u00b6|^[^\\S\n]*+\u00b6|\u00b6[^\\S\n]*+$|[\u2669-\u266c]\ufe0e",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Shown:
    """The text and the position that a cue shows.

    Attributes:
        lines: without markup, blank lines and white space around them.
        top: it is placed away from the bottom of the screen, where speech stands.
        drawn: it held a drawing.
    """

    lines: list[str]
    top: bool
    drawn: bool


def shown(raw: list[str]) -> Shown:
    """Return what the lines of a cue show; each step takes time linear in the text."""
    text = "\n".join(raw)
    if "&" in text:
        text = normal_form(_REFERENCE.sub(lambda match: html.unescape(match[0]), text))
    drawn = top = False
    if "\\" in text:
        text = _HARD_BLANK.sub(" ", text)
    if "<" in text or "c&H" in text:
        text = _COLOURED.sub(lambda match: f"{COLOUR}{match[1] or match[2] or match[3] or ''}{COLOUR}".lower(), text)
    if "{" in text:
        top = _TOP.search(text) is not None
        text, drawn = _without_codes(text)
    text = _BREAK.sub("\n", text) if "\\" in text or "<" in text or "[br]" in text else text
    if "<" in text:
        # In capitals, as labels of films are: a voice is a label even where it speaks once.
        text = _VOICE.sub(lambda match: f"\n{' '.join(match[1].upper().split())}: ", _READING.sub("", text))
        text = _UNCLOSED_TAG.sub("", _TAG.sub("", text))
    if "|" in text:
        text = _BAR.sub("\n", text)
    if not text.isascii():
        text = _NOTES.sub("\u266a", text)
    lines = [" ".join(line.split()) for line in text.split("\n")]
    kept = [line for line in lines if line and not _DRAWING.fullmatch(line)]
    return Shown(kept, top, drawn or len(kept) < sum(map(bool, lines)))


def without_colours(text: str) -> str:
    """Return a text without the names of colours that ``shown`` left in it."""
    return "".join(text.split(COLOUR)[::2])


def _without_codes(text: str) -> tuple[str, bool]:
    """Return a text without its codes in braces, and without drawings; braces that hold words stay."""
    parts = []
    at = 0
    draws = drawn = False
    for match in _CODES.finditer(text):
        if not draws:
            parts.append(text[at : match.start()])
        at = match.end()
        if not _IS_CODE.match(match[0]):
            if not draws:
                parts.append(match[0])
            continue
        scale = _DRAWS.findall(match[0])
        if scale:
            draws = int(scale[-1]) > 0
            drawn = drawn or draws
    if not draws:
        parts.append(text[at:])
    return _UNCLOSED_CODE.sub("", "".join(parts)), drawn
