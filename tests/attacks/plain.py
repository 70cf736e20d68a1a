"""Generated SubRip and WebVTT files; every text is made up from a seed."""

import random

_SYLLABLES = ("ka", "lo", "mi", "ren", "tu", "so", "vel", "ash", "or")
_ODD_LINES = (
    "",
    " ",
    "7",
    "-->",
    "00:00:01,000 -->",
    "00:00:01,000 --> 00:00:02,000 X1:1 Y1:2",
    "{\\an8}up",
    "<i>so</i>",
    "<i",
    "<v Anna>so",
    "<v.loud Anna B>so</v>",
    "<00:00:01.000>so",
    "&amp;",
    "&#999999999;",
    "&#xD800;",
    "&#0;",
    "&nope;",
    "- so",
    "-- so",
    "\u2013so",
    "...",
    "\u2028",
    "\u0085",
    "\ufeff",
    "\u200f",
    "a\u0301",
    "<b>",
    "NOTE --> x",
    "STYLE",
    "Mr. So. So.",
    "\u4f60\u597d\u3002",
    "\U0001f600",
    "so<br/>so",
    "so\\Nso",
    "WEBVTT",
)
_ODD_TIMES = (
    "1:2:3,4",
    "00:00:61,000",
    "99:99:99,999",
    "-00:00:01,000",
    "00:00:01",
    "00:01.500",
    "::::",
    "1,2,3,4",
    "9" * 20,
)
CODECS = ("utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-16-le", "gb18030", "utf-32")
SNIPPETS = (
    b"-->",
    b" --> ",
    b"\n\n",
    b"\r",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\x81",
    b"\xff\xfe",
    b"<",
    b"<v ",
    b"{\\",
    b"&#",
    b"00:00:01,000 --> 00:00:02,000\n",
    b"9" * 5000,
    b"." * 300,
    b"WEBVTT",
    b"\n1\n",
)
UNITS = (
    b".",
    b"So. ",
    b"so\n",
    b"-so\n",
    b"-->\n",
    b"&#1;",
    b"<v a>",
    b"\n",
    b"1\n00:00:01,000 --> 00:00:02,000\nSo\n",
)
"""What a large file repeats."""


def cue_file(rng: random.Random, odd: float = 0.04) -> str:
    """Return a file with cues, and a share of odd lines and times."""
    is_vtt = rng.random() < 0.4
    clock = 0
    end = rng.choice(("\n", "\r\n"))
    parts = [f"WEBVTT{end}{end}"] if is_vtt else []
    for number in range(1, rng.randint(1, 9) + 1):
        start, stop = (_time(rng, clock + more, is_vtt, odd) for more in (0, 900))
        lines = [_line(rng, odd) for _ in range(rng.randint(1, 3))]
        clock += rng.choice((1000, 4000, 9000))
        parts.append(f"{number}{end}{start} --> {stop}{end}{end.join(lines)}{end}{end}")
    return "".join(parts)


def _line(rng: random.Random, odd: float) -> str:
    if rng.random() < odd:
        return rng.choice(_ODD_LINES)
    words = ["".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(1, 3))) for _ in range(rng.randint(1, 6))]
    return " ".join(words).capitalize() + rng.choice((".", "?", "", ",", "..."))


def _time(rng: random.Random, ms: int, is_vtt: bool, odd: float) -> str:
    if rng.random() < odd:
        return rng.choice(_ODD_TIMES)
    mark = "." if is_vtt else ","
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}{mark}{ms % 1000:03}"


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Return the data with a few bytes changed, taken out or put in."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(changed) + 1)
        if rng.random() < 0.5:
            changed[at:at] = rng.choice(SNIPPETS)
        else:
            del changed[at : at + rng.choice((1, 2, 20))]
    return bytes(changed)
