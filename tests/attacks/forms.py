"""SubRip, WebVTT and ASS files from a seed: compared with pysubs2 while they are well-formed, then damaged."""

import random
import re
from dataclasses import dataclass

import pysubs2

from tests.attacks.plain import SNIPPETS, damaged
from udfs.opus.cue_forms import found_cues
from udfs.opus.cue_times import clock, clock_ms
from udfs.opus.encodings import as_text
from udfs.opus.files import UnreadableError
from udfs.opus.normal_form import normal_form
from udfs.opus.plain_text import parse_plain_text
from udfs.opus.repeated_cues import spoken_cues

FORMS = ("srt", "vtt", "ass")
_WORDS = (
    "gate",
    "Éva",
    "lantern",
    "où",
    "rope",
    "Straße",
    "seven",
    "мост",
    "νερό",
    "I'm",
    "no-one",
    "ice",
    "جسر",
    "पुल",
)
_ASS_SNIPPETS = (
    b"Dialogue: ",
    b"Dialogue: 0,0:00:01.00",
    b"{\\p1}m 0 0 l 9 9",
    b"\\N",
    b"[Events]\n",
    b",,,,",
    b"Format: ",
)
_EVENT = re.compile(r"(?m)^Dialogue:")
_TIMES = re.compile(r"(?m)^[0-9:]{8}[.,][0-9]{3} --> [0-9:]{8}[.,][0-9]{3}$")
_ASS_HEAD = (
    "[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize\nStyle: Default,Arial,20\n\n"
    "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
)


@dataclass(frozen=True)
class Shown:
    """A cue that both readers are to find: times in milliseconds, and the text with one blank between words."""

    start: int
    end: int
    text: str


def well_formed(rng: random.Random, form: str) -> str:
    """Return a file of the form, with markup that pysubs2 reads, too; times are whole hundredths of a second."""
    at = 0
    parts = []
    for number in range(1, rng.randint(1, 12) + 1):
        at += rng.choice((1_000, 2_500, 70_000, 3_600_000))
        start, end = (at, at + rng.choice((500, 900)))
        lines = [_line(rng, form) for _ in range(rng.randint(1, 3))]
        parts.append(_cue(form, number, start, end, lines))
    return {"srt": "", "vtt": "WEBVTT\n\n", "ass": _ASS_HEAD}[form] + "".join(parts)


def _line(rng: random.Random, form: str) -> str:
    said = " ".join(rng.choice(_WORDS) for _ in range(rng.randint(1, 6))) + rng.choice((".", "?", "", ",", "..."))
    opening, closing = ("{\\i1}", "{\\i0}") if form == "ass" else ("<i>", "</i>")
    return rng.choice((said, said, f"- {said}", f"{opening}{said}{closing}"))


def _cue(form: str, number: int, start: int, end: int, lines: list[str]) -> str:
    first, last = (clock(ms) for ms in (start, end))
    if form == "ass":
        first, last = (f"{time[:-1].replace(',', '.')}" for time in (first, last))
        return f"Dialogue: 0,{first},{last},Default,,0,0,0,," + "\\N".join(lines) + "\n"
    if form == "vtt":
        first, last = (time.replace(",", ".") for time in (first, last))
    return f"{number}\n{first} --> {last}\n" + "\n".join(lines) + "\n\n"


def ours(text: str) -> list[Shown]:
    """Return the cues that this program finds."""
    return [
        Shown(clock_ms(cue.start) or 0, clock_ms(cue.end) or 0, " ".join(" ".join(cue.lines).split()))
        for cue in found_cues(normal_form(text)).cues
    ]


def theirs(text: str, form: str) -> list[Shown]:
    """Return the cues that pysubs2 finds."""
    return [
        Shown(event.start, event.end, " ".join(event.plaintext.split()))
        for event in pysubs2.SSAFile.from_string(text, format_=form)
    ]


def mutant(rng: random.Random, text: str, form: str) -> bytes:
    """Return the file in some encoding with up to eight bytes or snippets changed."""
    data = text.encode(rng.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1251")), "replace")
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        snippets = (*SNIPPETS, *_ASS_SNIPPETS) if form == "ass" else SNIPPETS
        data = damaged(rng, data) if rng.random() < 0.6 else data[:at] + rng.choice(snippets) + data[at:]
    return data


_REMARKS = ("no_end_marks", "alike_languages", "end_before_start", "end_too_late", "clock_restarts")
"""Faults of cues that are kept."""


def unaccounted(data: bytes) -> tuple[int, int]:
    """Read a file, and return how many of its cues were lost and how many doubled.

    Each line of times, and each event of ASS, is a cue or a counted fault; what ``spoken_cues`` leaves out has one
    fault each, ``blocks`` counts both, and each letter of a cue that is kept is in the sentences, once.
    """
    try:
        parsed = parse_plain_text(data, "en", ("en",))
    except UnreadableError:
        return 0, 0
    noted_times = {row["reason"]: int(str(row["times"])) for row in parsed.meta["faults"]}  # type: ignore[attr-defined]
    if noted_times.keys() & {"other_language", "sentence_too_long"}:  # which tell what is left out of a cue
        return 0, 0
    text = normal_form(as_text(data, "en").text)
    found = found_cues(text)
    blocks = len(found.cues)
    kept, dropped = spoken_cues(found.cues)
    counted = len(kept) + sum(fault.cue for fault in dropped)
    noted = sum(times for reason, times in noted_times.items() if reason not in _REMARKS)
    noted_cues = len(found.faults) + len(dropped)
    letters = _letters(line for cue in kept for line in cue.lines)
    read = _letters(parsed.sentences.text.to_pylist())
    written = len((_EVENT if found.form == "ass" else _TIMES).findall(text))
    lost = (
        max(written - blocks - len(found.faults), 0)
        + max(blocks - counted, 0)
        + max(noted_cues - noted, 0)
        + max(letters - read, 0)
    )
    doubled = max(counted - blocks, 0) + max(noted - noted_cues, 0) + max(read - letters, 0)
    return lost + abs(int(str(parsed.meta["blocks"])) - blocks), doubled


def _letters(texts: object) -> int:
    return sum(1 for text in texts for sign in text if sign.isalpha())  # type: ignore[attr-defined]
