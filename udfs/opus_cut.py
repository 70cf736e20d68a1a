"""The quick way through a file in OPUS's own regular writing: libxml2 checks it whole, the bytes are then cut.

All of a file's tags are found and judged at once, as arrays; no object is made for a word or a sentence. What is not
written exactly so (comments, CDATA, character references, stray or nested elements, words with blanks, odd times)
is left to the tree in ``udfs.opus_xml``, with the same result.
"""

import re
from collections import Counter
from dataclasses import dataclass
from xml.sax.saxutils import unescape

import numpy as np
import pyarrow as pa

from udfs.opus_sentences import ADVERT_BLOCK, Sentences

_HEAD = re.compile(rb'<\?xml version="1\.0" encoding="(?:utf|UTF)-8" ?\?>\s*<document id="([^"<>&]*)">\s*')
_ALTERNATIVE = re.compile(rb' alternative="([^"<>]*)"')
_WHITE_IN_WORD = re.compile(
    rb"[\t\n\x0b\x0c\r\x1c-\x1f]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80"
)
_QUOTES = {"&quot;": '"', "&apos;": "'"}
_NO, _S, _S_END, _W, _W_END, _TIME = range(6)
# What may follow what, from the tag in the row to the one in the column.
_FOLLOWS = np.zeros((6, 6), dtype=bool)
_FOLLOWS[_S, [_S_END, _W, _TIME]] = _FOLLOWS[_W_END, [_S_END, _W, _TIME]] = _FOLLOWS[_TIME, [_S_END, _W, _TIME]] = True
_FOLLOWS[_W, _W_END] = _FOLLOWS[_S_END, _S] = True
_TIME_OPENS, _VALUE_OPENS = b'<time id="T', b'" value="'
_CLOCK_WEIGHTS = np.array([36_000_000, 3_600_000, 0, 600_000, 60_000, 0, 10_000, 1_000, 0, 100, 10, 1])
_CLOCK_SIGNS = {2: ord(":"), 5: ord(":"), 8: ord(",")}
_MOST_DIGITS = 9


@dataclass
class Cut:
    """A file cut into sentences, and its ``<meta>`` as it stands."""

    document_id: str
    sentences: Sentences
    token_count: int
    meta: str | None
    quirks: Counter[str]


@dataclass
class _Times:
    """The time tags of a file in order: place in the bytes, block, whether it opens the block, milliseconds."""

    at: np.ndarray
    block: np.ndarray
    opens: np.ndarray
    ms: np.ndarray


def cut_regular(data: bytes, truecase: bool) -> Cut | None:
    """Cut a well-formed file; None when any of it is not in the regular writing."""
    head = _HEAD.match(data)
    if head is None or b"<!" in data or b"&#" in data or b"\r" in data:
        return None
    end = data.rfind(b"<meta>")
    if end < 0:
        end = data.rfind(b"</document>")
    body = np.frombuffer(data, dtype=np.uint8)[head.end() : end].copy()
    tags = np.flatnonzero(body == ord("<"))
    closes = np.flatnonzero(body == ord(">"))
    if not len(tags) or len(tags) != len(closes) or (closes < tags).any() or (tags[1:] < closes[:-1]).any():
        return None
    kinds = _kinds(body, tags, closes)
    follows = kinds[0] == _S and kinds[-1] == _S_END and _FOLLOWS[kinds[:-1], kinds[1:]].all()
    times = _times(body, tags[kinds == _TIME], closes[kinds == _TIME]) if follows else None
    if times is None:
        return None
    quirks: Counter[str] = Counter()
    words = np.flatnonzero(kinds == _W)
    begins, ends = closes[words] + 1, tags[words + 1]
    if (begins == ends).any():
        return None
    if b"alternative=" in data:
        quirks["word_truecased"] = _use_alternatives(data[head.end() : end], tags[words], begins, ends, truecase)
    opened, closed = tags[kinds == _S], tags[kinds == _S_END]
    first, after_last = np.searchsorted(tags[words], opened), np.searchsorted(tags[words], closed)
    texts = _texts(body, begins, ends, tags[words + 1], first, after_last)
    if texts is None:
        return None
    sentences = _timed(times, texts, opened, closed, tags[words], first, after_last, quirks)
    meta = data[end : data.rfind(b"</document>")].decode() if data.startswith(b"<meta>", end) else None
    return Cut(head[1].decode(), sentences, len(words), meta, quirks)


def _kinds(body: np.ndarray, tags: np.ndarray, closes: np.ndarray) -> np.ndarray:
    """What each tag is; ``_NO`` for one that has no place in the regular writing."""
    kinds = np.zeros(len(tags), dtype=np.int8)
    for kind, name in ((_S, b"<s "), (_W, b"<w "), (_S_END, b"</s>"), (_W_END, b"</w>")):
        fits = closes - tags >= len(name) - 1
        for place, sign in enumerate(name):
            fits &= body[np.minimum(tags + place, len(body) - 1)] == sign
        # A tag that closes itself holds nothing.
        kinds[fits & (body[closes - 1] != ord("/"))] = kind
    kinds[(body[tags + 1] == ord("t")) & (body[closes - 1] == ord("/"))] = _TIME
    return kinds


def _times(body: np.ndarray, tags: np.ndarray, closes: np.ndarray) -> _Times | None:
    """``<time id="T4S" value="00:01:02,345" />`` of each time tag; None when one is written in another way."""
    stop = closes - 1 - (body[closes - 2] == ord(" "))  # behind the value's last quote
    value, mark = stop - 13, stop - 13 - len(_VALUE_OPENS) - 1
    digits = mark - tags - len(_TIME_OPENS)
    if ((digits < 1) | (digits > _MOST_DIGITS)).any():
        return None
    fits = body[stop - 1] == ord('"')
    for start, text in ((tags, _TIME_OPENS), (mark + 1, _VALUE_OPENS)):
        for place, sign in enumerate(text):
            fits &= body[start + place] == sign
    clock = body[value[:, None] + np.arange(12)].astype(np.int64) - ord("0")
    for place, sign in _CLOCK_SIGNS.items():
        fits &= clock[:, place] == sign - ord("0")
        clock[:, place] = 0
    fits &= ((clock >= 0) & (clock <= 9)).all(axis=1)
    opens = body[mark] == ord("S")
    fits &= opens | (body[mark] == ord("E"))
    block = np.zeros(len(tags), dtype=np.int64)
    for place in range(int(digits.max(initial=0))):
        here = place < digits
        digit = body[tags + len(_TIME_OPENS) + np.minimum(place, digits - 1)].astype(np.int64) - ord("0")
        fits &= ~here | ((digit >= 0) & (digit <= 9))
        block = np.where(here, block * 10 + digit, block)
    return _Times(tags, block, opens, clock @ _CLOCK_WEIGHTS) if fits.all() else None


def _use_alternatives(body: bytes, words: np.ndarray, begins: np.ndarray, ends: np.ndarray, truecase: bool) -> int:
    """Point the words that have a truecased form to it; how many have one."""
    found = [(match.start(), *match.span(1)) for match in _ALTERNATIVE.finditer(body)]
    if truecase and found:
        at, starts, stops = (np.array(column) for column in zip(*found, strict=True))
        said = np.array([not body[start:stop].isspace() and stop > start for _, start, stop in found])
        word = np.searchsorted(words, at) - 1
        begins[word[said]], ends[word[said]] = starts[said], stops[said]
    return len(found)


def _texts(
    body: np.ndarray,
    begins: np.ndarray,
    ends: np.ndarray,
    closing: np.ndarray,
    first: np.ndarray,
    after_last: np.ndarray,
) -> pa.Array | None:
    """The sentences' words with a blank between two; None when a word has white space in it.

    The blanks take the place of the words' closing tags, all but the last of each sentence.
    """
    body[closing] = ord(" ")
    kept = np.zeros(len(body) + 1, dtype=np.int8)
    kept[begins] += 1
    kept[ends] -= 1
    chosen = np.add.accumulate(kept[:-1], dtype=np.int8).astype(bool)
    inner = np.ones(len(closing), dtype=bool)
    inner[after_last[after_last > first] - 1] = False
    chosen[closing[inner]] = True
    text = body[chosen]
    lengths = ends - begins + inner
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    packed = text.tobytes()
    if packed.count(b" ") != int(inner.sum()) or _WHITE_IN_WORD.search(packed) is not None:
        return None
    bounds = np.append(offsets[first], len(packed)).astype(np.int32)
    texts = pa.StringArray.from_buffers(len(first), pa.py_buffer(bounds), pa.py_buffer(packed))
    return _unescaped(texts) if b"&" in packed else texts


def _unescaped(texts: pa.Array) -> pa.Array:
    return pa.array([unescape(text, _QUOTES) if "&" in text else text for text in texts.to_pylist()], pa.string())


def _timed(
    times: _Times, texts: pa.Array, opened: np.ndarray, closed: np.ndarray, words: np.ndarray, first: np.ndarray,
    after_last: np.ndarray, quirks: Counter[str],
) -> Sentences:  # fmt: skip
    """Times and blocks of the sentences: the rules of ``opus_sentences``, for all sentences at once."""
    count, ids = len(times.at), np.arange(len(times.at))
    spoken = after_last > first
    have, stop = np.searchsorted(times.at, opened), np.searchsorted(times.at, closed)
    # Tags before the first word, and from the first one behind the last word on; without words: all of them.
    early = np.where(spoken, np.searchsorted(times.at, _at(words, first, closed)), stop)
    late = np.where(spoken, np.searchsorted(times.at, _at(words, after_last - 1, opened)), have)
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
    """``places[index]``; the other value where there is no such place."""
    known = (index >= 0) & (index < len(places))
    return np.where(known, np.append(places, 0)[np.where(known, index, 0)], otherwise)


def _next(chosen: np.ndarray, count: int) -> np.ndarray:
    """For each place the first chosen one at or behind it; ``count`` where there is none."""
    following = np.where(chosen, np.arange(count), count)
    return np.append(np.minimum.accumulate(following[::-1])[::-1], count)


def _open_at(times: _Times, place: np.ndarray) -> np.ndarray:
    """The block that is open before the tag at a place: the one that the tag before it opened; else -1."""
    before = np.append(np.where(times.opens, times.block, -1), -1)
    return np.where(place > 0, before[place - 1], -1)


def _block(times: _Times, place: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """The block of a word before the tag at a place: what is open, else what that tag closes in the sentence."""
    is_open = _open_at(times, place)
    closing = np.append(np.where(times.opens, -1, times.block), -1)[place]
    return np.where(is_open >= 0, is_open, np.where(place < stop, closing, -1))


def _nullable(values: np.ndarray) -> pa.Array:
    return pa.array(values.astype(np.int32), mask=values < 0)
