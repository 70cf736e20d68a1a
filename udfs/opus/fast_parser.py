"""Fast parser of files in OPUS's regular form, on arrays of all tags at once.

It creates no object per word or sentence. Files with comments, CDATA, character references, stray or nested elements,
attributes in another writing than OPUS's, namespaces, words with blanks, or odd times are left to the tree parser in
``udfs.opus.parser``, which gives the same result.
"""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import unescape

import numpy as np
import pyarrow as pa

from udfs.opus.normal_form import normal_form, to_look_at
from udfs.opus.sentences import ADVERT_BLOCK, Sentences
from udfs.opus.speaker_changes import changes_of_speaker
from udfs.opus.time_tags import TimeTags, read_time_tags

_HEAD = re.compile(rb'<\?xml version="1\.0" encoding="(?:utf|UTF)-8" ?\?>\s*<document id="([^"<>&\t\n]*)">\s*')
_OTHER = rb'(?: (?!xmlns=|alternative=)[a-z]+="[^"<>]*")*'
# A whole tag, with the truecased form of a word.
_TAG = re.compile(rb'<(?:s%b|w%b(?: alternative="([^"<>]*)"%b)?)>' % (_OTHER, _OTHER, _OTHER))
_FORM = b' alternative="'
_EMPTY_FORM = b' alternative=""'
_SHORTEST_ATTRIBUTE = b" initial="
_MOST_BYTES = 10_000_000  # libxml2's limit for a text, which it checks only when it builds a tree
_WIDE_WHITE = re.compile(rb"\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80")
_WIDE_WHITE_BEGINS = (b"\xc2", b"\xe1\x9a\x80", b"\xe2\x80", b"\xe2\x81", b"\xe3\x80\x80")
_QUOTES = {"&quot;": '"', "&apos;": "'"}
_NO, _S, _S_END, _W, _W_END, _TIME = range(6)
# Whether the tag of the column may follow the tag of the row.
_FOLLOWS = np.zeros((6, 6), dtype=bool)
_FOLLOWS[_S, [_S_END, _W, _TIME]] = _FOLLOWS[_W_END, [_S_END, _W, _TIME]] = _FOLLOWS[_TIME, [_S_END, _W, _TIME]] = True
_FOLLOWS[_W, _W_END] = _FOLLOWS[_S_END, _S] = True
# The kind of a tag by its first two bytes, and then by whether it closes itself, as only time tags do.
_KINDS = np.zeros((256, 256), dtype=np.uint8)
_KINDS[ord("s"), ord(" ")] = _S
_KINDS[ord("w"), ord(" ")] = _W
_KINDS[ord("t"), :] = _TIME
_KINDS[ord("/"), ord("s")] = _S_END
_KINDS[ord("/"), ord("w")] = _W_END
_KINDS_CLOSED = np.array([[_NO, _NO], [_S, _NO], [_S_END, _NO], [_W, _NO], [_W_END, _NO], [_NO, _TIME]], dtype=np.uint8)

_OPENING, _OPENING_BYTES = (np.frombuffer(text, "<u8")[0] for text in (b'\0\0 id="\0', b"\0\0\xff\xff\xff\xff\xff\0"))
_EIGHT_ONES, _EIGHT_HIGH, _EIGHT_QUOTES = (
    np.uint64(int.from_bytes([byte] * 8, "little")) for byte in (0x01, 0x80, 0x22)
)
# Ones in the bytes from a number on, which are no part of an id.
_AFTER = np.array([(~0 << 8 * size) & ~(~0 << 64) for size in range(9)], dtype=np.uint64)


@dataclass
class Cut:
    """A file's sentences, and what follows them from ``<meta>`` or ``</document>`` on."""

    document_id: str
    sentences: Sentences
    token_count: int
    tail: bytes
    quirks: Counter[str]


@dataclass
class _Tags:
    """The kind of each tag, and the number of word and time tags before it."""

    kinds: np.ndarray
    words_before: np.ndarray
    times_before: np.ndarray

    @classmethod
    def of(cls, kinds: np.ndarray) -> "_Tags":
        return cls(kinds, _before(kinds == _W), _before(kinds == _TIME))

    def numbers(self, kind: int) -> np.ndarray:
        return np.flatnonzero(self.kinds == kind)


@dataclass
class _Bounds:
    """Of each sentence, the number of words before its first and after its last, and of time tags before and within."""

    first: np.ndarray
    after_last: np.ndarray
    have: np.ndarray
    stop: np.ndarray

    @classmethod
    def of(cls, tags: _Tags, opened: np.ndarray, closed: np.ndarray) -> "_Bounds":
        words, times = tags.words_before, tags.times_before
        return cls(words[opened], words[closed], times[opened], times[closed])


def attribute_quirks(data: bytes) -> Counter[str]:
    """Return how many words were corrected or are emphasised."""
    return Counter(word_corrected=data.count(_SHORTEST_ATTRIBUTE), emphasis=data.count(b" emphasis="))


def has_regular_head(data: bytes) -> bool:
    """Return whether a file begins as OPUS writes it, in UTF-8, and is not too large for the fast parser."""
    return len(data) <= _MOST_BYTES and _HEAD.match(data) is not None


def cut_regular(data: bytes, truecase: bool) -> Cut | None:
    """Parse the sentences of a well-formed file; None if any of them is not in the regular form.

    The caller must check that ``tail`` holds nothing but one ``<meta>`` and the end of the document.
    """
    head = _HEAD.match(data)
    end = data.rfind(b"<meta>")
    if end < 0:
        end = data.rfind(b"</document>")
    # A comment or CDATA before the meta data appears as an unknown tag below.
    if head is None or end < 0 or b"\r" in data or data.find(b"<!", end) >= 0:
        return None
    start = head.end()
    body = np.frombuffer(data, dtype=np.uint8)[start:end]
    # "<" and ">" differ in one bit, so one comparison finds both. They must alternate.
    marks = np.flatnonzero((body & 0xFD) == ord("<"))
    opens = np.ascontiguousarray(marks[::2])
    closes = np.ascontiguousarray(marks[1::2])
    if not len(closes) or len(opens) != len(closes):
        return None
    if (body[opens] != ord("<")).any() or (body[closes] != ord(">")).any():
        return None
    kinds = _kinds(body, opens, closes)
    if kinds[0] != _S or kinds[-1] != _S_END or not _FOLLOWS.ravel()[kinds[:-1] * 6 + kinds[1:]].all():
        return None
    tags = _Tags.of(kinds)
    quirks = Counter[str]()
    clocks = tags.numbers(_TIME)
    words = tags.numbers(_W)
    times = read_time_tags(body, opens[clocks], closes[clocks], quirks)
    begins = closes[words] + 1
    ends = opens[words + 1]
    if times is None or (begins == ends).any():
        return None
    opened = tags.numbers(_S)
    closed = tags.numbers(_S_END)
    other = _other_tags(data, start, opens, closes, (kinds == _W) | (kinds == _S))
    places = zip((opens[other] + start).tolist(), (closes[other] + start + 1).tolist(), strict=True)
    written = [data[first:last] for first, last in places]
    truecased = _use_alternatives(written, opens[other], tags.words_before[other], (begins, ends), truecase)
    if truecased is None:
        return None
    quirks["word_truecased"] = truecased
    # Between the tags is no room for an attribute, but in a word that its truecased form replaces.
    between = (opens[1:] - closes[:-1])[kinds[:-1] != _W]
    has_room = truecased > 0 or (between > len(_SHORTEST_ATTRIBUTE)).any()
    outside = (data[: start + opens[0]], data[start + closes[-1] :])
    quirks += attribute_quirks(data if has_room else b"".join([*outside, *written]))
    texts = _texts(body, begins, ends, tags.words_before[opened], tags.words_before[closed])
    found = _sentences(texts, _Bounds.of(tags, opened, closed), times, tags, words, quirks)
    count = len(words) - quirks["word_empty"]
    return None if found is None else Cut(head[1].decode(), found, count, data[end:], quirks)


def _sentences(
    texts: pa.Array | None, bounds: _Bounds, times: TimeTags, tags: _Tags, words: np.ndarray, quirks: Counter[str]
) -> Sentences | None:
    """Return the sentences in normal form, parted where the speaker changes; None where the tree must decide."""
    normal = None if texts is None else _in_normal_form(texts, bounds, tags, words, quirks)
    if normal is None:
        return None
    seen, shorter = normal
    changes = changes_of_speaker(seen)
    if not shorter.isdisjoint(changes):
        return None
    if changes:
        seen, bounds = _parted(seen, changes, bounds, times, tags, words)
        quirks["speaker_change_within"] += sum(map(len, changes.values()))
    return _timed(times, seen, bounds, tags, words, quirks)


def _before(chosen: np.ndarray) -> np.ndarray:
    """Return the number of chosen ones before each position, and the total at the end."""
    return np.concatenate([[0], np.cumsum(chosen, dtype=np.int64)])


def _kinds(body: np.ndarray, tags: np.ndarray, closes: np.ndarray) -> np.ndarray:
    """Return the kind of each tag; ``_NO`` for one outside the regular form."""
    kinds = _KINDS.ravel()[body[1:][tags].astype(np.uint16) * 256 + body[2:][tags]]
    kinds = _KINDS_CLOSED.ravel()[kinds * 2 + (body[closes - 1] == ord("/"))]
    kinds[((kinds == _S_END) | (kinds == _W_END)) & (closes - tags != 3)] = _NO
    return kinds


def _other_tags(data: bytes, start: int, opens: np.ndarray, closes: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the numbers of the chosen tags that are not of the form ``<w id="12.3">`` with at most 8 bytes of id.

    A tag that begins and ends in this form has no other attribute if there is no quote between.
    """
    numbers = np.flatnonzero(chosen)
    at = opens[numbers] + start
    eights: np.ndarray = np.ndarray((len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))
    length = closes[numbers] + start - at - len(b'<w id=""')
    plain = (length >= 0) & (length <= 8) & ((eights[at] ^ _OPENING) & _OPENING_BYTES == 0)
    ids = eights[np.minimum(at + 7, len(eights) - 1)] ^ _EIGHT_QUOTES | _AFTER[np.clip(length, 0, 8)]
    plain &= (ids - _EIGHT_ONES) & ~ids & _EIGHT_HIGH == 0
    return numbers[~plain]


def _use_alternatives(
    written: list[bytes], tags: np.ndarray, words: np.ndarray, spans: tuple[np.ndarray, np.ndarray], truecase: bool
) -> int | None:
    """Point the words with a truecased form to that form, and return their number.

    Args:
        written: the tags with more than an id.
        tags: where each of them begins.
        words: number of words before each of them.
        spans: where the words begin and end, changed in place.

    Returns:
        None if a tag is not in the regular form.
    """
    joined = b"".join(written)
    # Each tag has one "<", so as many matches as tags are all of them.
    forms = _TAG.findall(joined)
    if len(forms) != len(written):
        return None
    used = [number for number, form in enumerate(forms) if form]
    count = joined.count(_EMPTY_FORM) + len(used)
    used = [number for number in used if not forms[number].isspace()] if truecase else []
    first = tags[used] + [written[number].index(_FORM) for number in used] + len(_FORM)
    spans[0][words[used]] = first
    spans[1][words[used]] = first + [len(forms[number]) for number in used]
    return count


def _texts(
    body: np.ndarray, begins: np.ndarray, ends: np.ndarray, first: np.ndarray, after_last: np.ndarray
) -> pa.Array | None:
    """Return the sentences' words joined by blanks; None if a word has white space or a character reference."""
    inner = np.ones(len(begins), dtype=bool)
    inner[after_last[after_last > first] - 1] = False
    offsets = _before(ends - begins + inner)
    # Copy each inner word with the byte after it, which becomes the blank.
    places = np.repeat(begins - offsets[:-1], np.diff(offsets))
    places += np.arange(len(places))
    text = body[places]
    text[offsets[1:][inner] - 1] = ord(" ")
    packed = text.tobytes()
    if np.count_nonzero(text <= ord(" ")) != np.count_nonzero(inner) or _has_wide_white(packed):
        return None
    bounds = np.append(offsets[first], len(packed)).astype(np.int32)
    if b"&#" in packed:
        return None
    texts = pa.StringArray.from_buffers(len(first), pa.py_buffer(bounds), pa.py_buffer(packed))
    if b"&" not in packed:
        return texts
    return pa.array([unescape(text, _QUOTES) if "&" in text else text for text in texts.to_pylist()], pa.string())


def _in_normal_form(
    texts: pa.Array, bounds: "_Bounds", tags: _Tags, words: np.ndarray, quirks: Counter[str]
) -> tuple[pa.Array, set[int]] | None:
    """Return the sentences with words in normal form, and the numbers of those that lost a word.

    None if a word becomes two, all words of a sentence are lost, or a time stands between a lost word and the others.
    """
    rows = to_look_at(texts)
    shorter: set[int] = set()
    if not rows:
        return texts, shorter
    changed = texts.to_pylist()
    for row in rows:
        said = changed[row].split(" ")
        forms = [normal_form(word) for word in said]
        kept = [place for place, form in enumerate(forms) if form.strip()]
        if not kept or any(forms[place].split() != [forms[place]] for place in kept):
            return None
        quirks["word_normalised"] += sum(form != word for form, word in zip(forms, said, strict=True))
        changed[row] = " ".join(forms[place] for place in kept)
        if len(kept) < len(said):
            shorter.add(row)
            quirks["word_empty"] += len(said) - len(kept)
            of_words = tags.times_before[words[bounds.first[row] : bounds.after_last[row]]]
            if of_words[kept[0]] != of_words[0] or of_words[kept[-1]] != of_words[-1]:
                return None
    return pa.array(changed, pa.string()), shorter


def _parted(
    texts: pa.Array, changes: dict[int, list[int]], bounds: "_Bounds", times: TimeTags, tags: _Tags, words: np.ndarray
) -> tuple[pa.Array, "_Bounds"]:
    """Part sentences where the speaker changes within them.

    Closing time tags between two parts belong to the first, and all from an opening one on to the second.
    """
    said = texts.to_pylist()
    rows = np.repeat(sorted(changes), [len(changes[row]) for row in sorted(changes)])
    opening = np.concatenate([bounds.first[row] + np.array(changes[row]) for row in sorted(changes)])
    ends = tags.times_before[words[opening]]
    cuts = np.minimum(_next(times.opens, len(times.ms))[tags.times_before[words[opening - 1]]], ends)
    for row in sorted(changes, reverse=True):
        tokens = said[row].split(" ")
        places = pairwise([0, *changes[row], len(tokens)])
        said[row : row + 1] = [" ".join(tokens[begin:end]) for begin, end in places]
    return pa.array(said, pa.string()), _Bounds(
        first=np.insert(bounds.first, rows + 1, opening),
        after_last=np.insert(bounds.after_last, rows, opening),
        have=np.insert(bounds.have, rows + 1, cuts),
        stop=np.insert(bounds.stop, rows, cuts),
    )


def _has_wide_white(packed: bytes) -> bool:
    """Return whether there is white space beyond ASCII."""
    possible = not packed.isascii() and any(begin in packed for begin in _WIDE_WHITE_BEGINS)
    return possible and _WIDE_WHITE.search(packed) is not None


def _timed(
    times: TimeTags, texts: pa.Array, bounds: _Bounds, tags: _Tags, words: np.ndarray, quirks: Counter[str]
) -> Sentences:
    """Apply the rules for times and blocks of ``udfs.opus.sentences`` to all sentences at once."""
    count = len(times.ms)
    ids = np.arange(len(times.ms))
    first = bounds.first
    after_last = bounds.after_last
    spoken = after_last > first
    have = bounds.have
    stop = bounds.stop
    nowhere = np.zeros(len(first), dtype=np.int64)
    # Time tags up to `early` precede the first word, and those from `late` follow the last. Without words: all of them.
    early = np.where(spoken, tags.times_before[_at(words, first, nowhere)], stop)
    late = np.where(spoken, tags.times_before[_at(words, after_last - 1, nowhere)], have)
    last_opening = np.append(-1, np.maximum.accumulate(np.where(times.opens, ids, -1)))
    next_opening = _next(times.opens, count)
    next_closing = _next(~times.opens, count)
    start = np.where(spoken, last_opening[early], next_opening[have])
    start = np.where((start >= have) & (start < stop), start, -1)
    end = np.where(next_closing[late] < stop, next_closing[late], -1)
    block_first = _block(times, early, stop)
    block_last = _block(times, late, stop)
    silent = ~spoken & (stop > have)
    before = _open_at(times, have)
    opens_here = np.append(times.opens, False)[have]
    alone = np.where((before < 0) | opens_here, np.append(times.block, -1)[have], before)
    none = ~spoken & (stop == have)
    block_first = np.where(silent, alone, np.where(none, before, block_first))
    block_last = np.where(silent, alone, np.where(none, before, block_last))
    columns = {
        "block_first": _nullable(block_first),
        "block_last": _nullable(block_last),
        "start_ms": _nullable(np.where(start >= 0, np.append(times.ms, 0)[start], -1)),
        "end_ms": _nullable(np.where(end >= 0, np.append(times.ms, 0)[end], -1)),
    }
    quirks["time_backwards"] += int((np.diff(times.ms) < 0).sum())
    quirks["advert_block"] += int((times.opens & (times.block == ADVERT_BLOCK)).sum())
    quirks["sentence_with_more_than_one_pair"] += int((stop - have > 2).sum())
    quirks["sentence_without_words"] += int((~spoken).sum())
    quirks["sentence_without_start"] += columns["start_ms"].null_count
    quirks["sentence_without_end"] += columns["end_ms"].null_count
    quirks["sentence_without_block"] += columns["block_first"].null_count
    return Sentences(text=texts, **columns)


def _at(places: np.ndarray, index: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Return ``places[index]``, or the other value for an index out of range."""
    known = (index >= 0) & (index < len(places))
    return np.where(known, np.append(places, 0)[np.where(known, index, 0)], otherwise)


def _next(chosen: np.ndarray, count: int) -> np.ndarray:
    """Return the first chosen position at or after each position; ``count`` without one."""
    following = np.where(chosen, np.arange(count), count)
    return np.append(np.minimum.accumulate(following[::-1])[::-1], count)


def _open_at(times: TimeTags, place: np.ndarray) -> np.ndarray:
    """Return the block that is open before each tag, opened by the previous tag; -1 without one."""
    before = np.append(np.where(times.opens, times.block, -1), -1)
    return np.where(place > 0, before[place - 1], -1)


def _block(times: TimeTags, place: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Return the block of a word before each tag: the open one, else the one that the tag closes in the sentence."""
    is_open = _open_at(times, place)
    closing = np.append(np.where(times.opens, -1, times.block), -1)[place]
    return np.where(is_open >= 0, is_open, np.where(place < stop, closing, -1))


def _nullable(values: np.ndarray) -> pa.Array:
    return pa.array(values.astype(np.int32), mask=values < 0)
