"""Subtitle files of other forms as the cues that the same text in SubRip gives.

The form is told by what a file holds, not by its name: ASS and SSA, MicroDVD, MPL2, TMPlayer, SubViewer, TTML, SAMI,
YouTube's ``json3``. They are read here and not by pysubs2, because a fault must be counted with its line, and a file
must not end at it. On well-formed SubRip, WebVTT and ASS the attacks compare the two (``tests/attacks/forms.py``).
"""

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from lxml import etree

from udfs.opus.cue_times import clock, clock_ms
from udfs.opus.cues import Cue, CuesOfFile, Fault, blocks_of, cue_of
from udfs.opus.files import UnreadableError
from udfs.opus.normal_form import normal_form

_ASS = re.compile(r"(?im)^[^\S\n]*+\[(?:script info|v4\+? ?styles\+?|events)\]")
_DIALOGUE = re.compile(r"(?m)^Dialogue:")
_MICRODVD = re.compile(r"\s*\{([0-9]{1,8})\}\s*\{([0-9]{0,8})\}(.*)")
_MPL2 = re.compile(r"\s*\[([0-9]{1,8})\]\s*\[([0-9]{0,8})\](.*)")
_TMPLAYER = re.compile(r"\s*([0-9]{1,2}:[0-5][0-9]:[0-5][0-9])[:=](?![0-9]{2}\s?[,:;]|[0-9]{3})(.*)")
_SUBVIEWER_CLOCK = r"([0-9]{1,2}:[0-9]{2}:[0-9]{2}[.,:][0-9]{1,3})"
_SUBVIEWER = re.compile(rf"\s*{_SUBVIEWER_CLOCK}\s?,\s?{_SUBVIEWER_CLOCK}\s*")
_SUBVIEWER_HEAD = re.compile(
    r"(?i)\s*(?:\[(?:information|/?subtitle|end information|colf|style|size|font|author|title)\b|"
    r"\[[A-Z ]{3,20}\])"
)
_SAMI_END = re.compile(r"(?i)</?\s?(?:body|sami)\b[^<>]{0,100}>")
_SYNC = re.compile(r"(?is)<\s?sync\b[^<>]{0,100}?\bstart\s?=\s?[\"']?([0-9]{1,9})")
_CLASS = re.compile(r"(?i)<\s?p\b[^<>]{0,100}?\bclass\s?=\s?[\"']?(\w{1,30})[^<>]{0,100}>")
_FPS = re.compile(r"\s*([0-9]{2,3}(?:[.,][0-9]{1,3})?)\s*")
_MICRODVD_CODE = re.compile(r"\{[A-Za-z]:[^{}]{0,60}\}|\{DEFAULT\}")
_TTML = re.compile(r"(?s)\s*(?:<\?xml[^<>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:[a-z]{1,10}:)?tt[\s>]")
_OFFSET = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(h|m|s|ms|f|t)")
_FRAMES = re.compile(r"([0-9]{1,3}:[0-9]{1,2}:[0-9]{1,2}):([0-9]{1,3})(?:\.[0-9]+)?")
_UNITS = {"h": 3_600_000.0, "m": 60_000.0, "s": 1000.0, "ms": 1.0}
_FRAME_TIMES = re.compile(
    r"(?m)^([0-9]{1,2}:[0-9]{2}:[0-9]{2})([.,:;][0-9]{1,6}) --> "
    r"([0-9]{1,2}:[0-9]{2}:[0-9]{2})([.,:;][0-9]{1,6})(?=\s|$)"
)
_FEWEST_FRAMES = 40
"""Hundredths of a second are all below 30 by chance in hardly a file of so many times."""
_KARAOKE = re.compile(r"\\[kK][fo]?[0-9]")
_ACTOR = re.compile(r"[^\W\d_][\w.'-]{0,25}(?: [\w.'#-]{1,25}){0,3}")
_NO_ACTOR = re.compile(
    r"(?i)(?:default|main|dialog(?:ue)?|text|top|bottom|left|right|italics?|alt|signs?|titles?|captions?|ost|notes?|tl|ts"
    r"|comments?|songs?|lyrics?|karaoke|romaji|kanji|english|op|ed|opening|ending|insert|credits?|flashback|ntp)"
    r"(?:[^a-z]|$)"
)
_HAS_SPEAKER = re.compile(r"[-\u2010-\u2015\u2212\u266a\u266b\[]|[^a-z:]{1,40}:(?:\s|$)")
_FEWEST_ACTORS = 2
_DEFAULT_FPS = 23.976
HOLDS_MS = 3_000
"""How long a cue without an end is shown, unless the next one begins before."""


@dataclass
class Forms(CuesOfFile):
    """The cues of a file and the form that it has."""

    form: str = "srt"


def found_cues(text: str) -> Forms:
    """Return the cues of a file in any of the forms, in the order in which they are shown.

    Raises:
        UnreadableError: not_subtitles: TTML or json3 that cannot be parsed.
    """
    text = _without_frames(text)
    head = text[:4000].lstrip()
    if _ASS.search(head) or (_DIALOGUE.search(head) and "-->" not in head):
        return _as("ass", _ass(text))
    if head.startswith("{") and '"events"' in text[:20_000]:
        return _as("json3", _json3(text))
    if _TTML.match(head):
        return _as("ttml", _ttml(text))
    if "<sync" in head.lower():
        return _as("sami", _sami(text))
    for form, pattern, read in _LINES:
        lines = [line for line in text[:4000].split("\n") if line.strip()][:5]
        if lines and 2 * sum(1 for line in lines if pattern.fullmatch(line)) > len(lines):
            return _as(form, read(text))
    if any(_SUBVIEWER.fullmatch(line) for line in text[:20_000].split("\n")):
        return _as("subviewer", _subviewer(text))
    return _as("vtt" if text.startswith("WEBVTT") else "srt", blocks_of(text))


def _without_frames(text: str) -> str:
    """Return a text with milliseconds in its time lines, where all of them have frames of two digits."""
    fractions = [part for match in _FRAME_TIMES.finditer(text) for part in (match[2], match[4])]
    frames = [int(part[1:]) for part in fractions if len(part) == 3]
    marked = sum(part[0] in ":;" for part in fractions) == len(fractions)
    if len(frames) < len(fractions) or len(frames) < (2 if marked else _FEWEST_FRAMES) or max(frames) >= 30:
        return text
    fps = 25 if max(frames) < 25 else 30

    def timed(match: re.Match[str]) -> str:
        start, end = (f"{match[at]},{int(match[at + 1][1:]) * 1000 // fps:03}" for at in (1, 3))
        return f"{start} --> {end}"

    return _FRAME_TIMES.sub(timed, text)


def is_ttml(data: bytes) -> bool:
    """Return whether a file is TTML, which is often called ``.xml``."""
    return _TTML.match(data[:4000].decode("utf-8", "ignore").removeprefix("\ufeff")) is not None


def _as(form: str, found: CuesOfFile) -> Forms:
    for number, cue in enumerate(found.cues, 1):
        cue.number = number
    return Forms(found.cues, found.faults, found.language, form)


def _times(start: int | None, end: int | None) -> tuple[str, str]:
    return tuple("" if ms is None else clock(min(max(ms, 0), 2**31 - 1)) for ms in (start, end))  # type: ignore[return-value]


def _ass(text: str) -> CuesOfFile:
    """Read the events of ASS and SSA; comments are left out, and events are put in the order of their start."""
    found = CuesOfFile([])
    names: list[str] = []
    order = ["layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text"]
    tops: set[str] = set()
    styles: list[str] = []
    in_events = True
    for number, line in enumerate(text.split("\n"), 1):
        kind, _, rest = line.partition(":")
        name = kind.strip().lower()
        if line.startswith("["):
            in_events = "events" in line.lower()
        elif name == "format":
            fields = [field.strip().lower() for field in rest.split(",")]
            if "text" in fields and "start" in fields:
                order = fields
            elif not in_events:
                styles = fields
        elif name == "style" and "alignment" in styles:
            values = [value.strip() for value in rest.split(",")]
            if len(values) > styles.index("alignment") and values[styles.index("alignment")] in ("7", "8", "9"):
                tops.add(values[0])
        elif name == "dialogue":
            values = rest.split(",", len(order) - 1)
            if len(values) < len(order):
                found.faults.append(Fault("time_not_understood", number, line.strip()))
                continue
            event = dict(zip(order, values, strict=True))
            start, end = (clock_ms(event.get(side, "").strip()) for side in ("start", "end"))
            if start is None or end is None:
                found.faults.append(Fault("time_not_understood", number, line.strip()))
            raw = _ass_text(event.get("text", ""))
            if event.get("effect", "").strip().lower() in ("fx", "karaoke"):
                found.faults.append(Fault("karaoke", number, line.strip(), cue=True))
                continue
            style = event.get("style", "").strip().lstrip("*")
            found.cues.append(cue_of(*_times(start, end), raw, number, top=style in tops, track=style))
            names.append(event.get("name", event.get("actor", "")).strip())
    _name_speakers(found.cues, names)
    found.cues.sort(key=lambda cue: -1 if (start := clock_ms(cue.start)) is None else start)
    return found


def _name_speakers(cues: list[Cue], names: list[str]) -> None:
    """Put the names of the events as labels before their texts, where half of the events have one and several differ.

    Names of signs, songs and places on the screen are none, and a name beside dashes or a label is not said twice.
    """
    known = [name if _ACTOR.fullmatch(name) and not _NO_ACTOR.match(name) else "" for name in names]
    if len({*known} - {""}) < _FEWEST_ACTORS or 2 * sum(map(bool, known)) < len(cues):
        return
    for cue, name in zip(cues, known, strict=True):
        if name and cue.lines and not _HAS_SPEAKER.match(cue.lines[0]):
            cue.lines[0] = f"{name.upper()}: {cue.lines[0]}"


def _ass_text(text: str) -> list[str]:
    """Return the lines of an event; braces without a code hold an editor's remarks, which ASS does not show."""
    shown = re.sub(r"\{[^{}\\]{0,5000}\}", "", text).replace("\\n", " ")
    sung = "\u266a " if _KARAOKE.search(text) else ""
    return [f"{sung}{line}" for line in re.split(r"\\N", shown)]


def _microdvd(text: str) -> CuesOfFile:
    """Read MicroDVD: frames from a start to an end; the rate is the first line's, if it is a number, else 23.976."""
    found = CuesOfFile([])
    fps = _DEFAULT_FPS
    for number, line in enumerate(text.split("\n"), 1):
        match = _MICRODVD.fullmatch(line)
        if match is None:
            _keep_going(found, number, line)
            continue
        rate = _FPS.fullmatch(match[3])
        if not found.cues and rate and int(match[1]) <= 1 and int(match[2] or 1) <= 1:
            fps = float(rate[1].replace(",", ".")) or _DEFAULT_FPS
            continue
        start = round(int(match[1]) * 1000 / fps)
        end = round(int(match[2]) * 1000 / fps) if match[2] else None
        raw = [part.removeprefix("/") for part in _MICRODVD_CODE.sub("", match[3]).split("|")]
        found.cues.append(cue_of(*_times(start, end), raw, number))
    return _with_ends(found)


def _mpl2(text: str) -> CuesOfFile:
    """Read MPL2: tenths of a second in brackets."""
    found = CuesOfFile([])
    for number, line in enumerate(text.split("\n"), 1):
        match = _MPL2.fullmatch(line)
        if match is None:
            _keep_going(found, number, line)
            continue
        end = int(match[2]) * 100 if match[2] else None
        raw = [part.strip().removeprefix("/") for part in match[3].split("|")]
        found.cues.append(cue_of(*_times(int(match[1]) * 100, end), raw, number))
    return _with_ends(found)


def _tmplayer(text: str) -> CuesOfFile:
    """Read TMPlayer: the second in which a text begins."""
    found = CuesOfFile([])
    for number, line in enumerate(text.split("\n"), 1):
        match = _TMPLAYER.fullmatch(line)
        if match is None:
            _keep_going(found, number, line)
            continue
        found.cues.append(cue_of(*_times(clock_ms(f"{match[1]},000"), None), match[2].split("|"), number))
    return _with_ends(found)


_LINES = (("microdvd", _MICRODVD, _microdvd), ("mpl2", _MPL2, _mpl2), ("tmplayer", _TMPLAYER, _tmplayer))
"""Forms of which each line is a cue."""


def _keep_going(found: CuesOfFile, number: int, line: str) -> None:
    """Add a line without times to the cue before; before the first cue it is a fault."""
    if not line.strip():
        return
    if found.cues:
        found.cues[-1].lines += cue_of("", "", [line], number).lines
    else:
        found.faults.append(Fault("text_before_first_cue", number, line.strip()))


def _with_ends(found: CuesOfFile) -> CuesOfFile:
    """End a cue without an end where the next one begins, after three seconds at most."""
    for place, cue in enumerate(found.cues):
        start = clock_ms(cue.start)
        if not cue.end and start is not None:
            following = clock_ms(found.cues[place + 1].start) if place + 1 < len(found.cues) else None
            latest = start + HOLDS_MS
            cue.end = clock(min(latest, following) if following is not None and following > start else latest)
    return found


def _subviewer(text: str) -> CuesOfFile:
    """Read SubViewer, and YouTube's ``.sbv``: a line of two times with a comma between, and lines of text."""
    found = CuesOfFile([])
    started = False
    for number, line in enumerate(text.split("\n"), 1):
        match = _SUBVIEWER.fullmatch(line)
        if match is not None:
            times = _times(clock_ms(match[1]), clock_ms(match[2]))
            found.cues.append(cue_of(*times, [], number))
            started = True
        elif started:
            _keep_going(found, number, line)
        elif line.strip() and not _SUBVIEWER_HEAD.match(line):
            found.faults.append(Fault("text_before_first_cue", number, line.strip()))
    return found


def _sami(text: str) -> CuesOfFile:
    """Read SAMI: each ``<SYNC Start=>`` shows its paragraphs until the next one of the same class."""
    found = CuesOfFile([])
    marked = list(_SYNC.finditer(text))
    last: dict[str, Cue] = {}
    line = 1
    at = 0
    for place, match in enumerate(marked):
        line += text.count("\n", at, match.start())
        at = match.start()
        end = marked[place + 1].start() if place + 1 < len(marked) else len(text)
        body = _SAMI_END.sub("", text[match.end() : end].partition(">")[2].replace("\n", " "))
        first, *classes = _CLASS.split(body)
        paragraphs = [("", first), *zip(classes[::2], classes[1::2], strict=True)]
        for track, said in paragraphs[1:] if len(paragraphs) > 1 and not first.strip() else paragraphs:
            cue = cue_of(*_times(int(match[1]), None), [said], line, track=track.lower())
            before = last.pop(cue.track, None)
            if before is not None:
                before.end = cue.start
            if cue.lines:
                found.cues.append(cue)
                last[cue.track] = cue
    return _with_ends(found)


def _ttml(text: str) -> CuesOfFile:
    """Read TTML and DFXP: paragraphs with begin and end (or dur), their times added to those around them."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise UnreadableError("doctype", "a document type declaration; entities are not resolved")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=False)
    try:
        root = etree.fromstring(re.sub(r"\A\s*<\?xml[^<>]*\?>", "", text).encode(), parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableError("not_subtitles", error.msg or "TTML that is not well-formed") from error
    if root is None:
        raise UnreadableError("not_subtitles", "TTML without an element")
    found = CuesOfFile(
        [], language=next((str(value) for name, value in root.attrib.items() if str(name).endswith("lang")), None)
    )
    fps, ticks = _rates(root)
    styles = list(root.iter("{*}style"))
    readings = {_attribute(style, "id") for style in styles if _attribute(style, "ruby") in _READINGS}
    colours = {_attribute(style, "id"): _attribute(style, "color") for style in styles if _attribute(style, "color")}
    for paragraph in root.iter("{*}p"):
        raw = "".join(_ttml_text(paragraph, readings, colours)).split("\n")
        start = _ttml_ms(paragraph.get("begin"), fps, ticks)
        end = _ttml_ms(paragraph.get("end"), fps, ticks)
        length = _ttml_ms(paragraph.get("dur"), fps, ticks)
        if start is None:
            spans = [_ttml_ms(span.get("begin"), fps, ticks) for span in paragraph.iter("{*}span")]
            start = next((ms for ms in spans if ms is not None), None)
        for around in paragraph.iterancestors():
            more = _ttml_ms(around.get("begin"), fps, ticks)
            start, end = (None if ms is None else ms + (more or 0) for ms in (start, end))
        if end is None and start is not None and length is not None:
            end = start + length
        line = int(str(paragraph.sourceline or 0))
        if start is None or end is None:
            found.faults.append(Fault("time_not_understood", line, " ".join(raw).strip()))
        found.cues.append(cue_of(*_times(start, end), raw, line))
    return found


_READINGS = ("text", "textContainer", "delimiter")


def _attribute(element: Any, name: str) -> str:
    return next((str(value) for key, value in element.attrib.items() if etree.QName(key).localname == name), "")


def _ttml_text(element: Any, readings: set[str], colours: dict[str, str], outer: str = "") -> list[str]:
    """Return the text of an element without ruby's readings, which stand above its words; colours as HTML has them."""
    named = _attribute(element, "style").split()
    colour = _attribute(element, "color") or next((colours[name] for name in named if name in colours), outer)
    parts = [] if colour == outer else [f'<font color="{colour}">']
    parts.append(re.sub(r"\s+", " ", element.text or ""))
    for child in element:
        name = etree.QName(child).localname if isinstance(child.tag, str) else ""
        if name == "br":
            parts.append("\n")
        elif (
            name
            and name != "metadata"
            and not (
                _attribute(child, "ruby") in _READINGS or readings.intersection(_attribute(child, "style").split())
            )
        ):
            parts += _ttml_text(child, readings, colours, colour)
        parts.append(re.sub(r"\s+", " ", child.tail or ""))
    if colour != outer:
        parts.append(f'<font color="{outer}">' if outer else "</font>")
    return parts


def _rates(root: Any) -> tuple[float, float]:
    known = {etree.QName(name).localname: value for name, value in root.attrib.items()}
    try:
        up, _, down = known.get("frameRateMultiplier", "1 1").replace(":", " ").partition(" ")
        fps = float(known.get("frameRate", 30)) * float(up) / float(down or 1)
        ticks = float(known.get("tickRate", 1))
    except (ValueError, ZeroDivisionError):
        return 30.0, 1.0
    return fps if fps > 0 else 30.0, ticks if ticks > 0 else 1.0


def _ttml_ms(value: str | None, fps: float, ticks: float) -> int | None:
    if value is None:
        return None
    value = value.strip()
    if match := _OFFSET.fullmatch(value):
        unit = {**_UNITS, "f": 1000 / fps, "t": 1000 / ticks}[match[2]]
        ms = float(match[1]) * unit
        return round(ms) if ms < 2**31 else None
    if match := _FRAMES.fullmatch(value):
        whole = clock_ms(match[1])
        return None if whole is None else whole + round(int(match[2]) * 1000 / fps)
    return clock_ms(value) if ":" in value else None


def _json3(text: str) -> CuesOfFile:
    """Read YouTube's json3: events with a start, a duration and segments; an event that only ends a line is none."""
    try:
        events = json.loads(text)["events"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableError("not_subtitles", f"json3 that cannot be parsed: {type(error).__name__}") from error
    found = CuesOfFile([])
    for number, event in enumerate(events if isinstance(events, list) else [], 1):
        segments = event.get("segs") if isinstance(event, dict) else None
        if not isinstance(segments, list):
            continue
        said = normal_form("".join(str(one.get("utf8", "")) for one in segments if isinstance(one, dict)))
        if not said.strip():
            continue
        start, length = (
            int(value) if isinstance(value := event.get(name), int | float) and 0 <= value < 2**31 else None
            for name in ("tStartMs", "dDurationMs")
        )
        if start is None:
            found.faults.append(Fault("time_not_understood", number, said.strip()))
        end = None if start is None or length is None else start + length
        found.cues.append(cue_of(*_times(start, end), said.split("\n"), number))
    return _without_overlaps(_with_ends(found))


def _without_overlaps(found: CuesOfFile) -> CuesOfFile:
    """End each caption where the next one begins: YouTube shows a line until the one after it has scrolled up."""
    for cue, following in pairwise(found.cues):
        start, end, then = clock_ms(cue.start), clock_ms(cue.end), clock_ms(following.start)
        if start is not None and end is not None and then is not None and start < then < end:
            cue.end = clock(then)
    return found
