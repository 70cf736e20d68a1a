"""Sentences with times, blocks and text from a file's words and time tags."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import pyarrow as pa

from udfs.opus.normal_form import normal_form
from udfs.opus.speaker_changes import changes_of_speaker
from udfs.opus.times import time_ms

ADVERT_BLOCK = 9999
_TIME_ID = re.compile(r"T([0-9]{1,9})([SE])")
_LONGEST_TIME_ID = 11
TimeMark = tuple[int, str, str]  # words before it, id, value
_Tag = tuple[int, bool, int, int | None]  # words before it, is a start, block, milliseconds


@dataclass
class Sentences:
    """A file's sentences as Arrow arrays: int32 blocks, int32 times in milliseconds, and strings."""

    block_first: pa.Array
    block_last: pa.Array
    start_ms: pa.Array
    end_ms: pa.Array
    text: pa.Array


def sentences_of(found: list[tuple[list[str], list[TimeMark]]], quirks: Counter[str]) -> tuple[Sentences, int]:
    """Return the sentences with times, blocks and text, and their number of words."""
    rows: list[tuple[int | None, int | None, int | None, int | None, str]] = []
    open_block: int | None = None
    tokens = backwards = latest = 0
    for words, marks in found:
        words, marks = _without_empty(words, marks, quirks)
        tags: list[_Tag] = []
        for at, name, value in marks:
            known = _side_and_block(name) if len(name) <= _LONGEST_TIME_ID else None
            ms = time_ms(value, quirks)
            if ms is not None:
                backwards += ms < latest
                latest = ms
            if known is None:
                quirks["time_odd_id"] += 1
            else:
                tags.append((at, *known, ms))
                quirks["advert_block"] += known == (True, ADVERT_BLOCK)
        start = None
        end = None
        first = open_block
        last = open_block
        if tags:
            start, end = _start_and_end(tags, len(words))
            first, last, open_block = _blocks(tags, len(words), open_block)
        quirks["sentence_with_more_than_one_pair"] += len(tags) > 2
        rows.append((first, last, start, end, _text(words, quirks)))
        tokens += len(words)
    firsts, lasts, starts, ends, texts = zip(*rows, strict=True) if rows else ((),) * 5
    quirks["time_backwards"] += backwards
    quirks["sentence_without_start"] += starts.count(None)
    quirks["sentence_without_end"] += ends.count(None)
    quirks["sentence_without_block"] += firsts.count(None)
    numbers = [pa.array(column, pa.int32()) for column in (firsts, lasts, starts, ends)]
    return Sentences(numbers[0], numbers[1], numbers[2], numbers[3], pa.array(texts, pa.string())), tokens


def parted(
    found: list[tuple[list[str], list[TimeMark]]], quirks: Counter[str]
) -> list[tuple[list[str], list[TimeMark]]]:
    """Return the sentences of a file with words in normal form, parted where the speaker changes within them.

    Closing time tags between two parts belong to the first, and all from an opening one on to the second.
    """
    seen = [_without_empty(_all_seen(words, quirks), marks, quirks) for words, marks in found]
    changes = changes_of_speaker(pa.array([_joined(words) for words, _ in seen], pa.string()))
    if not changes:
        return seen
    parts: list[tuple[list[str], list[TimeMark]]] = []
    for row, (words, marks) in enumerate(seen):
        begin = mark = 0
        for end in (*changes.get(row, ()), len(words)):
            last = mark
            while last < len(marks) and (end == len(words) or _belongs_before(marks[last], end)):
                last += 1
            parts.append((words[begin:end], [(at - begin, name, value) for at, name, value in marks[mark:last]]))
            begin = end
            mark = last
    quirks["speaker_change_within"] += len(parts) - len(seen)
    return parts


def _belongs_before(mark: TimeMark, end: int) -> bool:
    at, name, _ = mark
    return at < end or (at == end and not name.endswith("S"))


def _joined(words: list[str]) -> str:
    """Return the words with a blank between two; the blanks inside a word become no-break ones."""
    text = " ".join(words)
    if text.count(" ") == len(words) - 1 and text.isascii() and text.isprintable():
        return text
    return " ".join("\u00a0".join(word.split()) for word in words)


def _all_seen(words: list[str], quirks: Counter[str]) -> list[str]:
    text = "".join(words)
    if text.isascii() and text.isprintable():
        return words
    return [_seen(word, quirks) for word in words]


def _seen(word: str, quirks: Counter[str]) -> str:
    """Return a word in normal form; one of signs that nobody sees becomes empty."""
    if word.isascii() and word.isprintable():
        return word
    form = normal_form(word)
    if form != word and form.split() != word.split():
        quirks["word_normalised"] += 1
        return form
    return word


def _without_empty(words: list[str], marks: list[TimeMark], quirks: Counter[str]) -> tuple[list[str], list[TimeMark]]:
    """Remove words without text; time tags keep their position among the others."""
    if all(words) and not any(map(str.isspace, words)):
        return words, marks
    full = [bool(word) and not word.isspace() for word in words]
    quirks["word_empty"] += len(full) - sum(full)
    before = [0, *accumulate(full)]
    return (
        [word for word, stays in zip(words, full, strict=True) if stays],
        [(before[at], name, value) for at, name, value in marks],
    )


@lru_cache(maxsize=1 << 14)
def _side_and_block(name: str) -> tuple[bool, int] | None:
    """Return (True, 4) for ``T4S``; None for an id of another form."""
    match = _TIME_ID.fullmatch(name)
    return (match.group(2) == "S", int(match.group(1))) if match else None


def _text(words: list[str], quirks: Counter[str]) -> str:
    """Return the words joined by a space; white space within a word becomes a no-break space."""
    if not words:
        quirks["sentence_without_words"] += 1
        return ""
    text = " ".join(words)
    if text.count(" ") == len(words) - 1 and "\n" not in text and "\t" not in text and "\r" not in text:
        return text
    joined = ["\u00a0".join(word.split()) for word in words]
    quirks["word_with_space"] += sum(word != plain for word, plain in zip(joined, words, strict=True))
    return " ".join(joined)


def _start_and_end(tags: list[_Tag], words: int) -> tuple[int | None, int | None]:
    """Return the last start before the first word (without words: the first start) and the first end after the last."""
    starts = [ms for at, is_start, _, ms in tags if is_start and at == 0]
    ends = [ms for at, is_start, _, ms in tags if not is_start and at == words]
    start = (starts[-1] if words else starts[0]) if starts else None
    return start, (ends[0] if ends else None)


def _blocks(tags: list[_Tag], words: int, open_block: int | None) -> tuple[int | None, int | None, int | None]:
    """Return the blocks of the first and the last word, and the block still open at the sentence's end.

    A word belongs to the open block, which an earlier sentence may have opened. If none is open, it belongs to the
    block whose end tag comes next, because the start tag is missing.
    """
    still_open: int | None = open_block
    first = last = None
    have_first = have_last = False
    for at, is_start, number, _ in tags:
        closing = None if is_start else number
        if at > 0 and not have_first:
            first = still_open if still_open is not None else closing
            have_first = True
        if words and at >= words and not have_last:
            last = still_open if still_open is not None else closing
            have_last = True
        still_open = number if is_start else None
    if not words:
        first = last = tags[0][2] if open_block is None or tags[0][1] else open_block
        return first, last, still_open
    return (first if have_first else still_open), (last if have_last else still_open), still_open
