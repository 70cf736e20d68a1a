"""Sentences of subtitle files that are not OPUS XML, parted and tokenised as OPUS parts and tokenises them."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from udfs.opus.cue_forms import HOLDS_MS, found_cues
from udfs.opus.cue_times import MOST_MS, clock, clock_ms
from udfs.opus.cues import Cue, CuesOfFile, Fault, fault_rows
from udfs.opus.encodings import as_text
from udfs.opus.files import UnreadableError
from udfs.opus.languages import LOOKED_AT, as_asked, contradicts, language_of, spread
from udfs.opus.meta import meta_columns
from udfs.opus.normal_form import normal_form
from udfs.opus.parser import Subtitles, without_endless
from udfs.opus.paths import spoken_language, with_families
from udfs.opus.repeated_cues import spoken_cues
from udfs.opus.sentences import TimeMark, parted, sentences_of
from udfs.opus.speaker_labels import label_of, labels_among, mark_speakers
from udfs.opus.tokens import ends_in_abbreviation, opus_tokens, split_sentences
from udfs.opus.two_languages import in_one_language

MOST_BYTES = 3_000_000
MOST_CUES = 100_000
"""Most bytes and cues of a file; a film has about 100,000 bytes and 500 to 3,000 cues."""
MOST_LINE_ENDS = 3_000_000
MOST_FORMATTED_BYTES = 20_000_000
"""Most bytes of a form whose cues carry codes: signs of ASS, words of json3 with a time each."""
_SPEAKS = re.compile(r"(?:[-\u2010-\u2015\u2212\u2500\uff0d](?![-\u2010-\u2015])|>{2,}|/\s?(?=[^\W\d_a-z]))")
_SINGS = re.compile(r"[\u2669-\u266c#*]")
_NOTES = "\u2669\u266a\u266b\u266c"
_OPENS_SONG = re.compile(r"[\u2669-\u266c]|#\s?[^\W\d_]")
_NOTE = re.compile(r"[\u2669-\u266c#]+")
_CLOSES_SONG = re.compile(r"[\u2669-\u266c]$|[^\d\s]\s?#$")
_MOST_SUNG = 8
"""Cues of a song whose notes stand before the first and behind the last alone."""
_SUNG = re.compile(r"[\u2669-\u266c][^\w\u2669-\u266c]*$")
_ENDED = re.compile(r"(?<![.])[.?!\u061f\u06d4\u0964\u3002\uff01\uff1f][\"')\]]*$|[?!][.\"')\]]*$")
_NEW_PART_MS = 60_000
_NEAR_START_MS = 300_000
_FEWEST_OF_PART = 6
_LOOKED_AT = 60
_LONG_MS, _LONGEST_MS = 10_000, 60_000
"""A cue that is shown for so long reaches into the next ones by as much, or is shown for longer, by mistake."""
_RIGHT_TO_LEFT = re.compile("[\u05d0-\u05ea\u0620-\u06d3]")
_MARKS_BEHIND = ".?!\u061f"
_MARK_BEFORE = re.compile("([.?!\u061f]+)(?![.?!\u061f])\\s?(.*[^.?!\u061f])$")
_PLAIN = re.compile("[0-9A-Za-z]")
_RESUMES = re.compile("^([-\u2010-\u2015])\\s(?:[-\u2010-\u2012]{2}|[\u2013-\u2015])\\s?(?=\\w)")
"""A speaker's dash before a dash with which an interrupted sentence goes on: ``- --and then``."""
_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015"
_QUOTES = "\"'\u00ab\u201e "
_COMMA_BEHIND = re.compile("[,\u060c\u3001\uff0c]$")
_SHARE_MARKED = 0.9
"""Where so many cues end with a mark, a sentence without one goes on in the next cue in a script without capitals."""
_MOST_SILENCE_IN_CAPITALS = 2_000
_FEWEST_UNMARKED = 8
_MOST_ENDED = 0.1
_TOUCHING_MS = 100
_LONGEST_UNMARKED = 150
"""Where fewer than a tenth of the cues end with a mark, a sentence ends at each pause and before so many characters."""


def parse_plain_text(data: bytes, language: str | None, languages: Sequence[str] = ()) -> Subtitles:
    """Parse the bytes of a ``.srt`` or ``.vtt`` file, or of another form that ``udfs.opus.cue_forms`` reads.

    A sentence ends at an end mark before a capital or a letter of a script without capitals, and before a line that
    opens with a dash, with ``>>`` or with a speaker's label. At the border of two cues it goes on if it has no end mark
    and the next cue opens with a small letter, and ends otherwise, which is what OPUS does at all but 43 of 4,264 such
    borders in 27 files; a sentence in capitals goes on where the next cue is in capitals, too, and any one does behind
    an abbreviation, before a name; in a script without capitals one without a mark does, where nearly all
    others have one. Cues are numbered from 1 in their order.

    Args:
        language: as its name or folder says; without one it is found from the text.
        languages: those that were asked for; the only one is assumed where the text tells nothing.

    Raises:
        UnreadableError: bad_encoding, no_cues, too_large, not_subtitles.
    """
    if len(data) > MOST_FORMATTED_BYTES:
        raise UnreadableError("too_large", f"{len(data)} bytes of plain text, more than {MOST_FORMATTED_BYTES}")
    decoded = as_text(data, language or (languages[0] if len(languages) == 1 else None))
    if (ends := decoded.text.count("\n") + decoded.text.count("\r")) > MOST_LINE_ENDS:
        raise UnreadableError("too_large", f"{ends} ends of lines, more than {MOST_LINE_ENDS}")
    found = found_cues(normal_form(decoded.text))
    if len(data) > MOST_BYTES and found.form in ("srt", "vtt"):
        raise UnreadableError("too_large", f"{len(data)} bytes of plain text, more than {MOST_BYTES}")
    if not found.cues:
        raise UnreadableError("no_cues", "no line of the form 00:01:02,345 --> 00:01:04,000")
    if len(found.cues) > MOST_CUES:
        raise UnreadableError("too_large", f"{len(found.cues)} cues, more than {MOST_CUES}")
    _forget_ends_before_starts(found)
    _sung_between(found.cues)
    quirks = Counter(plain_text=1, byte_replaced=decoded.replaced, encoded_twice=int(decoded.twice))
    ordered = _in_time_order(found.cues, quirks)
    _in_logical_order(ordered)
    sizes = Counter(cue.part for cue in ordered)
    ordered, foreign = in_one_language(ordered, with_families([code for code in (language, *languages) if code]))
    _in_one_clock(ordered, sizes, found.faults)
    mark_speakers(ordered, language or (languages[0] if len(languages) == 1 else None))
    cues, dropped = spoken_cues(ordered)
    _forget_late_ends(cues, found.faults)
    faults = sorted([*found.faults, *foreign, *dropped], key=lambda fault: fault.line)
    quirks["cue_without_text"] = sum(not cue.lines for cue in cues)
    quirks.update(fault.reason for fault in faults)
    language = _language(cues, language, languages, found.language, quirks)
    unmarked = _without_marks(cues)
    if unmarked:
        quirks["no_end_marks"] = 1
        faults.append(Fault("no_end_marks", cues[0].line, "a sentence ends at each pause"))
    sentences, tokens = sentences_of(parted(_sentences(cues, language, unmarked), quirks), quirks)
    columns, _ = meta_columns(None, Counter())
    columns |= {
        "encoding": decoded.codec,
        "encoding_confidence": decoded.confidence,
        "form": found.form,
        "blocks": len(found.cues),
        "faults": fault_rows(faults),
    }
    lines = {cue.number: cue.line for cue in cues}
    return without_endless(Subtitles(None, sentences, tokens, columns, language, +quirks), lines)


def _in_time_order(cues: list[Cue], quirks: Counter[str]) -> list[Cue]:
    """Return the cues in the order in which they are shown, numbered from 1.

    A cue without a time stays behind the one before it. Where the clock starts again, another part of the film begins
    (a second disc), whose cues all follow.
    """
    latest = index = part = 0
    shown: set[tuple[str, tuple[str, ...]]] = set()
    indexes: set[int | None] = set()
    known = [start for cue in cues if (start := clock_ms(cue.start)) is not None]
    first = min((cue.index for cue in cues if cue.index is not None), default=0)
    keys: list[tuple[int, int]] = []
    for place, cue in enumerate(cues):
        start = clock_ms(cue.start)
        start = latest if start is None else start
        back = cue.index is not None and cue.index <= index
        begins = start < latest and (
            (back and start < latest - _NEW_PART_MS)
            or (cue.index == first < index and first in indexes)
            or (not back and _starts_again(cues, place, known[0], latest))
        )
        if begins and not _written_again(cues[place : place + _LOOKED_AT], shown):
            part += 1
        elif start < latest:
            quirks["cue_out_of_order"] += 1
        latest = start
        index = cue.index or index
        indexes.add(cue.index)
        shown.add((cue.start, tuple(cue.lines)))
        cue.part = part
        keys.append((part, start))
    ordered = [cues[place] for place in sorted(range(len(cues)), key=keys.__getitem__)]
    for number, cue in enumerate(ordered, 1):
        cue.number = number
    return ordered


def _starts_again(cues: list[Cue], place: int, first: int, latest: int) -> bool:
    """Return whether another part begins at a cue: many cues in order, near the start, at times of the part before."""
    near = [start for cue in cues[place : place + _FEWEST_OF_PART] if (start := clock_ms(cue.start)) is not None]
    if len(near) < _FEWEST_OF_PART or 4 * (len(cues) - place) < place or near != sorted(near):
        return False
    near_start = near[0] - first < min((latest - first) // 4, _NEAR_START_MS)
    return near_start and first < near[-1] and near[_FEWEST_OF_PART // 2] <= latest


def _in_one_clock(cues: list[Cue], sizes: Counter[int], faults: list[Fault]) -> None:
    """Add the end of the part before to the times of each part, if most of its cues are left: it is no translation."""
    ended = 0
    for part, group in groupby(cues, key=lambda cue: cue.part):
        own = list(group)
        if 2 * len(own) < sizes[part]:
            continue
        if ended:
            faults.append(Fault("clock_restarts", own[0].line, f"{own[0].start} counts from {clock(ended)}"))
        for cue in own if ended else ():
            start, end = (
                time if (ms := clock_ms(time)) is None else clock(min(ms + ended, MOST_MS))
                for time in (cue.start, cue.end)
            )
            cue.start, cue.end = start, end
        ended = max([ended, *map(_end_ms, own)])


def _written_again(cues: list[Cue], shown: set[tuple[str, tuple[str, ...]]]) -> bool:
    """Return whether most of some cues have been shown at the same time: a file that was written twice."""
    return 2 * sum((cue.start, tuple(cue.lines)) in shown for cue in cues) > len(cues)


def _end_ms(cue: Cue) -> int:
    """Return a cue's end; its start where the end is unknown or not to be believed."""
    start, end = clock_ms(cue.start) or 0, clock_ms(cue.end) or 0
    return end if start <= end <= start + _LONGEST_MS else start


def _forget_ends_before_starts(found: CuesOfFile) -> None:
    for cue in found.cues:
        start, end = clock_ms(cue.start), clock_ms(cue.end)
        if start is not None and end is not None and end < start:
            found.faults.append(Fault("end_before_start", cue.line, f"{cue.start} --> {cue.end}"))
            cue.end = ""


def _forget_late_ends(cues: list[Cue], faults: list[Fault]) -> None:
    """End a cue that is shown for longer than any, or far into the next ones, after three seconds at most.

    Its end is unknown, and would hide the silence behind it.
    """
    following: int | None = None
    for cue in reversed(cues):
        start, end = clock_ms(cue.start), clock_ms(cue.end)
        if start is None:
            continue
        if end is not None and (
            end - start > _LONGEST_MS or (following is not None and min(end - start, end - following) > _LONG_MS)
        ):
            faults.append(Fault("end_too_late", cue.line, f"{cue.start} --> {cue.end}"))
            latest = start + HOLDS_MS
            cue.end = clock(latest if following is None else max(min(latest, following), start))
        following = start


def _sung_between(cues: list[Cue]) -> None:
    """Put notes around each cue of a song whose first cue opens with a note and whose last one closes with one."""
    opened: int | None = None
    for place, cue in enumerate(cues):
        # A song that opens and closes within the cue says nothing about the cues beside it.
        notes = sum(len(_NOTE.findall(line)) for line in cue.lines)
        unpaired = notes % 2 == 1
        opens = unpaired and _OPENS_SONG.match(cue.lines[0]) is not None
        closes = unpaired and _CLOSES_SONG.search(cue.lines[-1]) is not None
        if closes and not opens and opened is not None:
            for sung in cues[opened : place + 1]:
                if sung.lines:
                    sung.lines = [f"\u266a {' '.join(sung.lines).strip(f'{_NOTES}# ')} \u266a"]
        if notes or (cue.lines and _SPEAKS.match(cue.lines[0])):
            opened = place if opens and not closes else None
        elif opened is not None and place - opened > _MOST_SUNG:
            opened = None


def _in_logical_order(cues: list[Cue]) -> None:
    """Put marks behind the words, and dashes of speakers before them, in a script from right to left.

    Some files have them where they are seen by who expects a script from left to right: marks at the start of lines
    (an ellipsis, or the point of a number, only if most lines do), and dashes behind ends of sentences, or behind each
    line of a cue, and before none.
    """
    lines = [line for cue in cues for line in cue.lines if _RIGHT_TO_LEFT.search(line)]
    before = sum((match := _MARK_BEFORE.match(line)) is not None and not match[1].startswith("..") for line in lines)
    moved = before > 0 and 2 * before > sum(line[-1] in _MARKS_BEHIND for line in lines)
    dashed = not any(line[0] in _DASHES for line in lines)
    for cue in cues:
        behind = [dashed and line[-1] in _DASHES and line[-2:-1] not in _DASHES for line in cue.lines]
        for at, line in enumerate(cue.lines):
            if not _RIGHT_TO_LEFT.search(line):
                continue
            match = _MARK_BEFORE.match(line)
            if match is not None and not moved and (match[1].startswith("..") or _PLAIN.match(match[2])):
                match = None
            words = line[:-1].rstrip() if behind[at] else line
            if match is not None:
                dash = "- " if match[2].endswith("-") else ""
                cue.lines[at] = f"{dash}{match[2].rstrip('- ')}{match[1]}"
            elif behind[at] and (sum(behind) > 1 or words[-1:] in _MARKS_BEHIND):
                cue.lines[at] = f"- {words}"


def _language(
    cues: list[Cue], named: str | None, languages: Sequence[str], in_file: str | None, quirks: Counter[str]
) -> str | None:
    """Return a file's language: as it is named, unless its text is surely in another; else by its text."""
    text = spread([line for cue in cues for line in cue.lines], LOOKED_AT)
    found, probability = language_of(text)
    if named is not None:
        if not contradicts(named, text, found, probability):
            return as_asked(found, named, languages)
        quirks["language_differs"] = 1
        return found
    assumed = spoken_language(in_file) or (languages[0] if len(languages) == 1 else None)
    if found is None or (assumed is not None and not contradicts(assumed, text, found, probability)):
        certain = found is not None and probability >= 0.9 and sum(map(str.isalpha, text)) >= 30
        if assumed is None or not certain or found is None:
            quirks["language_assumed" if assumed else "language_unknown"] = 1
            return assumed
    quirks["language_from_text"] = 1
    return as_asked(found, None, languages)


def _without_marks(cues: list[Cue]) -> bool:
    """Return whether hardly a cue of letters with capitals ends with a mark, as in speech that a program wrote down."""
    said = [cue.lines[-1] for cue in cues if cue.lines and cue.lines[-1].lower() != cue.lines[-1].upper()]
    ended = sum(not (line[-1].isalnum() or line[-1] in ",-") for line in said)
    return len(said) >= _FEWEST_UNMARKED and ended < _MOST_ENDED * len(said)


def _sentences(cues: list[Cue], language: str | None, unmarked: bool) -> list[tuple[list[str], list[TimeMark]]]:
    """Return words and time marks of each sentence."""
    found: list[tuple[list[str], list[TimeMark]]] = []
    lines = [line for cue in cues for line in cue.lines]
    labels = labels_among(list(filter(None, map(label_of, lines))), len(lines))
    ends = [cue.lines[-1][-1] for cue in cues if cue.lines]
    marked = sum(not _is_of_word(end) for end in ends) >= _SHARE_MARKED * len(ends)
    last = ""
    before: Cue | None = None
    for cue in cues:
        parts = [part for unit in _units(cue.lines, labels) for part in split_sentences(unit, language)]
        if not parts:
            continue
        words = [opus_tokens(part, language).split(" ") for part in parts]
        if unmarked:
            near = bool(found) and before is not None and _gap(before, cue) <= _TOUCHING_MS
            goes_on = near and len(" ".join(found[-1][0])) + len(parts[0]) <= _LONGEST_UNMARKED
        else:
            goes_on = bool(found) and _goes_on(last, parts[0], before, cue, labels, language, marked)
        if goes_on:
            sentence = found[-1]
        else:
            sentence = ([], [])
            found.append(sentence)
        sentence[1].append((len(sentence[0]), f"T{cue.number}S", cue.start))
        sentence[0].extend(words[0])
        for further in words[1:]:
            sentence = (further, [])
            found.append(sentence)
        sentence[1].append((len(sentence[0]), f"T{cue.number}E", cue.end))
        last = parts[-1]
        before = cue
    return found


def _goes_on(
    last: str, part: str, before: Cue | None, cue: Cue, labels: set[str], language: str | None, marked: bool
) -> bool:
    """Return whether a sentence goes on from one cue to the next, in a file that marks the ends of sentences or not."""
    if ends_in_abbreviation(last, part, language):
        return not _opens_unit(part, labels)
    if _ENDED.search(last[-8:]) or _SUNG.search(last):
        return False
    opening = part.lstrip(". ")[:1]
    has_case = opening.lower() != opening.upper()
    if part.lstrip(_QUOTES)[:1].islower() or (
        last.endswith("..") and part.startswith("..") and opening.isalnum() and not opening.isupper()
    ):
        return True
    unended = _COMMA_BEHIND.search(last) or (marked and _is_of_word(last[-1]))
    if not has_case and opening.isalpha() and unended and not _opens_unit(part, labels):
        return True
    capitals = last.isupper() and part.isupper() and min(sum(map(str.isalpha, one)) for one in (last, part)) > 2
    if not capitals or before is None or _opens_unit(part, labels) or _SINGS.match(part):
        return False
    return _gap(before, cue) <= _MOST_SILENCE_IN_CAPITALS


def _is_of_word(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LMN"


def _gap(before: Cue, cue: Cue) -> float:
    """Return the milliseconds between two cues; without end where a time is unknown."""
    end, start = clock_ms(before.end), clock_ms(cue.start)
    return math.inf if end is None or start is None else start - end


def _is_one_word(name: str) -> bool:
    """Return whether a name is one word of a script without capitals."""
    return " " not in name and name.lower() == name.upper()


def _opens_unit(line: str, labels: set[str]) -> bool:
    label = label_of(line)
    named = label is not None and (label[0].upper() in labels or _is_one_word(label[0]))
    return named or _SPEAKS.match(line) is not None


def _units(lines: list[str], labels: set[str]) -> list[str]:
    """Return the lines of a cue, joined but where a line opens with a speaker's mark, and between song and speech."""
    units: list[list[str]] = []
    for line in lines:
        sung = bool(units) and _SUNG.search(units[-1][-1]) is not None
        if not units or sung or _opens_unit(line, labels) or line[:1] in "\u2669\u266a\u266b\u266c":
            units.append([])
        units[-1].append(_RESUMES.sub(r"\1 ...", line))
    return [" ".join(unit) for unit in units]
