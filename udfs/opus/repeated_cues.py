"""Cues that say nothing of their own: adverts, drawings, signs over speech, doubled and rolling captions (ours)."""

import re
from collections import Counter
from itertools import groupby, pairwise

from udfs.opus.cue_times import clock_ms
from udfs.opus.cues import MOST_CHARACTERS, Cue, Fault
from udfs.opus.sentences import ADVERT_BLOCK

_TOUCH_MS = 50
"""Rolling captions follow one another without a gap; cues of films keep two pictures between them, 80 ms."""
_MOST_IN_SUCCESSION = 5
_FEWEST_ROLLING = 3
_ROLLING_SHARE = 0.2
_LONGEST_OVERLAP = 4
_MOST_OVERLAPPED = 50
_AT_START_MS = 1_000
_OF_FILM_FILE = re.compile(r"(?i)\bmovie info\b|(?<!\S)[0-9]{2}(?:[.,][0-9]{1,3})?\s?fps\b")
_SHORTEST_MS = 1_000
_Span = tuple[int | None, int | None]
_SHARE_ENDED = 0.8
_FEWEST_SIGNS = 4
_ENDS = ".?!\u2026\u061f\u0964\u3002\uff01\uff1f,;:-\"'\u266a"


def spoken_cues(cues: list[Cue]) -> tuple[list[Cue], list[Fault]]:
    """Return the cues in their order without those that say nothing of their own, and these as faults.

    - ``advert_cue``: its index is 9999 or one of those from there on, and the file has no cue before that number; or it
      says at the start what a tool notes of the film's file.
    - ``cue_too_long``: no screen holds as much.
    - ``drawing``: nothing is left of it without its drawing.
    - ``sign``: it stands at the top of the screen or in capitals, ends without an end mark, and another cue is spoken
      while it is shown; or it is shown at the top for less than a second while another cue is spoken; or it is a sign,
      a heading or a sound by itself (``_shown_alone``).
    - ``repeated_cue``: the same text at the same time (layers, files written twice), the same text again without a gap,
      in a file with rolling captions the lines that the cue before has shown, and the same text in more than five cues
      in succession, where a program that transcribes speech got stuck. Lines that are new stay.
    """
    faults: list[Fault] = []
    kept = _without_adverts(cues, faults)
    kept = _without_doubles(_without_loops(kept, faults), faults)
    kept = _without_rolling(kept, faults)
    kept = _without_signs(kept, faults)
    return kept, sorted(faults, key=lambda fault: fault.line)


def _fault(reason: str, cue: Cue) -> Fault:
    return Fault(reason, cue.line, " / ".join(cue.lines), cue=True)


def _without_adverts(cues: list[Cue], faults: list[Fault]) -> list[Cue]:
    known = {cue.index for cue in cues}
    adverts = {index for index in known if index is not None and index >= ADVERT_BLOCK}
    if adverts and min(adverts) - 1 in known:
        adverts = set()
    kept = []
    for cue in cues:
        if cue.index in adverts or (cue.start_ms < _AT_START_MS and any(map(_OF_FILM_FILE.search, cue.lines))):
            faults.append(_fault("advert_cue", cue))
        elif cue.drawn and not cue.lines:
            faults.append(_fault("drawing", cue))
        elif sum(map(len, cue.lines)) > MOST_CHARACTERS:
            faults.append(_fault("cue_too_long", cue))
        else:
            kept.append(cue)
    return kept


def _without_loops(cues: list[Cue], faults: list[Fault]) -> list[Cue]:
    """Leave out all but the first of more than five successive cues of one text."""
    kept: list[Cue] = []
    for lines, group in groupby(cues, key=lambda cue: cue.lines):
        run = list(group)
        looped = bool(lines) and len(run) > _MOST_IN_SUCCESSION
        kept += run[:1] if looped else run
        faults += [_fault("repeated_cue", cue) for cue in run[1:] if looped]
    return kept


def _without_doubles(cues: list[Cue], faults: list[Fault]) -> list[Cue]:
    """Leave out a cue with the text and the start of an earlier one, and one that goes on with the text of the last."""
    kept: list[Cue] = []
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for cue in cues:
        key = (cue.start, tuple(cue.lines))
        if cue.lines and (key in seen and clock_ms(cue.start) is not None):
            faults.append(_fault("repeated_cue", cue))
            continue
        seen.add(key)
        last = kept[-1] if kept else None
        if last is not None and cue.lines and last.lines == cue.lines and _gap(last, cue) in range(11):
            faults.append(_fault("repeated_cue", cue))
            last.end = cue.end
            continue
        kept.append(cue)
    return kept


def _gap(cue: Cue, following: Cue) -> int:
    """Return the milliseconds between two cues; a large number where a time is unknown."""
    end = clock_ms(cue.end)
    start = clock_ms(following.start)
    return 10**9 if end is None or start is None else start - end


def _shared(before: list[str], lines: list[str]) -> int:
    """Return how many lines at the start of a cue are the last ones of the cue before."""
    most = min(len(before), len(lines), _LONGEST_OVERLAP)
    return next((count for count in range(most, 0, -1) if before[-count:] == lines[:count]), 0)


def _grows(before: list[str], lines: list[str]) -> bool:
    """Return whether a cue says again all that the cue before said, and more."""
    said = " ".join(before)
    return bool(said) and " ".join(lines).startswith(f"{said} ")


def _without_rolling(cues: list[Cue], faults: list[Fault]) -> list[Cue]:
    """Leave out what rolling captions show again, where at least three cues and a fifth of all do so without a gap."""
    spoken = [cue for cue in cues if cue.lines]
    touching = [(one, other) for one, other in pairwise(spoken) if _gap(one, other) <= _TOUCH_MS]
    rolling = sum(1 for one, other in touching if _shared(one.lines, other.lines) or _grows(one.lines, other.lines))
    if rolling < _FEWEST_ROLLING or rolling < _ROLLING_SHARE * len(spoken):
        return cues
    kept: list[Cue] = []
    on_screen: list[str] = []
    last: Cue | None = None
    for cue in cues:
        lines = cue.lines
        if last is None or not lines or _gap(last, cue) > _TOUCH_MS:
            kept.append(cue)
        elif kept and _grows(on_screen, lines) and kept[-1].lines and " ".join(on_screen).endswith(kept[-1].lines[-1]):
            faults.append(_fault("repeated_cue", kept[-1]))
            said = " ".join(on_screen)
            kept[-1].lines = [*kept[-1].lines[:-1], kept[-1].lines[-1] + " ".join(lines)[len(said) :]]
            kept[-1].end = cue.end
        elif shared := _shared(on_screen, lines):
            cue.lines = lines[shared:]
            if cue.lines:
                kept.append(cue)
            else:
                faults.append(Fault("repeated_cue", cue.line, " / ".join(lines), cue=True))
        else:
            kept.append(cue)
        if lines:
            on_screen = lines
            last = Cue(cue.start, cue.end, lines)
    return kept


def _without_signs(cues: list[Cue], faults: list[Fault]) -> list[Cue]:
    """Leave out signs over speech, and by themselves; in a file in capitals only those at the top of the screen."""
    shouted = sum(map(_in_capitals, cues))
    capitals_are_signs = 2 * shouted < sum(1 for cue in cues if cue.lines)
    times = [(clock_ms(cue.start), clock_ms(cue.end)) for cue in cues]
    signs = _shown_alone(cues) if capitals_are_signs else set()
    for place, cue in enumerate(cues):
        looks = cue.lines and (cue.top or (capitals_are_signs and _in_capitals(cue)))
        if (
            looks
            and cue.lines[-1][-1] not in _ENDS
            and cue.lines[0][0] not in "-\u2013\u2014>"
            and ":" not in cue.lines[0]
        ):
            around = range(max(place - _MOST_OVERLAPPED, 0), min(place + _MOST_OVERLAPPED, len(cues)))
            if any(
                _speaks_over(cues[other], times[other], times[place], cue.top) for other in around if other != place
            ):
                signs.add(place)
    faults += [_fault("sign", cues[place]) for place in sorted(signs)]
    return [cue for place, cue in enumerate(cues) if place not in signs]


def _shown_alone(cues: list[Cue]) -> set[int]:
    """Return the places of signs, headings and sounds (``DOOR CREAKS``) that no other cue is spoken over.

    They are in capitals without an end mark, in a file whose speech is in small letters and ends with marks. What goes
    on from or to another cue is speech, and so is what follows the label of a person who speaks in small letters.
    """
    places = [place for place, cue in enumerate(cues) if cue.lines]
    said = [cues[place] for place in places if not _in_capitals(cues[place])]
    if sum(cue.lines[-1][-1] in _ENDS for cue in said) < _SHARE_ENDED * len(said):
        return set()
    labels = {line.partition(":")[0] for cue in said for line in cue.lines if ":" in line}
    found = set()
    for before, place, after in zip([None, *places], places, [*places[1:], None], strict=False):
        lines = cues[place].lines
        if not _in_capitals(cues[place]) or sum(map(str.isalnum, "".join(lines))) < _FEWEST_SIGNS:
            continue
        ends = lines[-1][-1] == ":" or lines[-1][-1] not in _ENDS
        goes_on = before is not None and before not in found and cues[before].lines[-1][-1] not in _ENDS
        goes_on |= after is not None and cues[after].lines[0][0].islower()
        named = any(line.partition(":")[0] in labels for line in lines)
        if ends and not goes_on and not named and lines[0][0] not in "-\u2013\u2014[(":
            found.add(place)
    return found


def _speaks_over(cue: Cue, times: _Span, sign: _Span, top: bool) -> bool:
    """Return whether speech is shown mostly while a sign is, or a brief sign at the top mostly while speech is."""
    if cue.top or not cue.lines or _in_capitals(cue) or None in times or None in sign:
        return False
    start, end = times
    first, last = sign
    assert start is not None
    assert end is not None
    assert first is not None
    assert last is not None
    together = 2 * (min(end, last) - max(start, first))
    return together > end - start > 0 or (top and together > last - first and 0 < last - first < _SHORTEST_MS)


def _in_capitals(cue: Cue) -> bool:
    text = "".join(cue.lines)
    return text.isupper() and sum(map(str.isalpha, text)) > 2


def counts(faults: list[Fault]) -> Counter[str]:
    """Return how often each fault occurs."""
    return Counter(fault.reason for fault in faults)
