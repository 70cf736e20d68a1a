"""Explicit marks of turns in subtitles: dialogue dashes, speaker labels, bracketed sounds.

The turn segmenter learns from the marks, so they are hidden from its features. In scoring, a mark overrides the
segmenter. The rules run in an executor's Python worker, on Arrow arrays of the sentences of many files.
"""

import re
from collections import Counter
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from etl.subtitles.turn_sentences import UNKNOWN_MS, Sentences, names_before_colons
from udfs.opus.speaker_labels import MIN_LABELS, labels_among, names_among

_compute: Any = pc
"""Arrow registers its functions at import, so type checkers do not know them."""

_DASH = r"[-\x{2010}-\x{2015}\x{2212}\x{2500}_]"
_CHEVRONS = r">\s?>(?:\s?>)?"
_SLASH = r"/\s?[\p{Lu}\p{Lo}\x{bf}\x{a1}]"
DIALOGUE_DASH = rf"^\s*(?:{_DASH}(?:\s*$|\s+[^-]|[^-\s\x{{2010}}-\x{{2015}}])|{_CHEVRONS}|{_SLASH})"
"""A regular expression that Arrow (RE2) and Spark (Java) read alike.

Live captions have `>>` before each speaker, some scripts a slash. A slash before a small letter is an I that a scanner
misread.
"""
_BROKEN_OFF = rf"(?:{_DASH}\s?{_DASH}|\x{{2014}})[\"']?\s*$"
_BRACKETED = r"\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}"
_NAME_IN_BRACKETS = (
    rf"^\s*(?:(?:{_DASH}|{_CHEVRONS}|/)\s*)?[\[(]\s(?P<name>\p{{L}}[^\[\]():]{{0,40}})\s[\])]\s(?P<rest>[^\s:].*)$"
)
_SONG = r"[\x{2669}-\x{266c}]|^[^\p{L}\p{N}]*#\s*[\p{L}\"'.]|[^\d\s]\s*#\s*$"
_NOTES = re.compile(r"[\u2669-\u266c]|(?<!\S)#(?!\s?\d)")
_OPENS_SONG = re.compile(r"[^\w\u2669-\u266c#]*([\u2669-\u266c]|#(?=\s*[^\W\d_]|\s*[\"'.]))(?=.*\w)")
_CLOSES_SONG = re.compile(r"([\u2669-\u266c]|(?<=[^\d\s])\s?#)\s*$")
_WORD = re.compile(r"\w")
_NOTES_AND_BLANKS = "\u2669\u266a\u266b\u266c# "
_MOST_SUNG = 8
"""Sentences of a song whose notes stand before the first and behind the last alone."""
NEW_TURN = 1
SAME_TURN = 0
UNMARKED = -1
MIN_DASHES = 10
MIN_DASH_SHARE = 0.15
"""An upload marks its turns by dashes if at least so many, and such a share, of its pairs within a block have one.

Ours. Of 90 uploads of fiction, those that mark every turn have 17 to 55%, those that mark some or none 0 to 12%; the
sentences without a dash of the latter say nothing.
"""


def opens_with_dash(texts: pa.Array) -> np.ndarray:
    """Return whether each sentence opens with a dialogue dash; a doubled dash marks a broken-off sentence."""
    return _booleans(_compute.match_substring_regex(texts, DIALOGUE_DASH))


def speaker_names(texts: pa.Array) -> pa.Array:
    """Return the name before a colon at the start of each sentence (``Anna :``) in capitals; null without one.

    Without such a name it is the text in brackets before words, ``[ Anna ] Come in .``, which may be no name.
    """
    names = np.full(len(texts), None, dtype=object)
    for row, (name, _) in names_before_colons(texts).items():
        names[row] = name.upper()
    return _compute.coalesce(pa.array(names, pa.string()), _compute.utf8_upper(_in_brackets(texts)))


def _in_brackets(texts: pa.Array) -> pa.Array:
    return _compute.struct_field(_compute.extract_regex(texts, _NAME_IN_BRACKETS), "name")


def _with_colon(sentences: Sentences, labels: np.ndarray) -> np.ndarray:
    before = np.zeros(len(sentences), dtype=bool)
    before[list(sentences.before_colons)] = True
    return before & (labels >= 0)


def _is_english(said: list[str]) -> bool:
    """Return whether at least one token in fifty is one of two that hardly another language has."""
    tokens = Counter(token for text in said for token in text.split())
    return 50 * (tokens["the"] + tokens["you"]) >= tokens.total()


def speaker_labels(sentences: Sentences) -> np.ndarray:
    """Return a code for each sentence's speaker label; -1 without one.

    What stands before a colon is one by ``speaker_labels.labels_among``, in brackets without a colon by
    ``names_among``.
    """
    codes: dict[str, int] = {}
    labels = np.full(len(sentences), -1, dtype=np.int64)
    colons = sentences.before_colons
    bracketed = _in_brackets(sentences.text)
    rows = np.union1d(list(colons), np.flatnonzero(np.asarray(_compute.is_valid(bracketed)))).astype(np.int64)
    for file in np.unique(sentences.file[rows]):
        start, end = sentences.offsets[file], sentences.offsets[file + 1]
        own = rows[(rows >= start) & (rows < end)].tolist()
        found = {row: colons[row] for row in own if row in colons}
        inside = {row: name for row in own if row not in colons and (name := bracketed[row].as_py())}
        if inside:
            said = sentences.text.slice(start, end - start).to_pylist()
            names = names_among(Counter(inside.values()), said, "en" if _is_english(said) else None)
            found |= {row: (name, True) for row, name in inside.items() if name in names}
        known = labels_among(list(found.values()), int(end - start))
        for row, (name, _) in found.items():
            if name.upper() in known:
                labels[row] = codes.setdefault(name.upper(), len(codes))
    return labels


def without_dash(texts: pa.Array) -> pa.Array:
    """Return the sentences without an opening dialogue dash."""
    bare = _compute.replace_substring_regex(texts, rf"^\s*(?:{_DASH}|{_CHEVRONS}|/)\s*", "")
    return _compute.if_else(pa.array(opens_with_dash(texts)), bare, texts)


def with_closed_songs(sentences: Sentences, texts: pa.Array, labels: np.ndarray) -> pa.Array:
    """Return the sentences' texts, with a note before and behind each that is sung.

    Where only an opening note is written, the song goes on to a closing one, if the next note is one and near; or else
    with the sentence, and in its block up to another mark. A closing note alone ends what goes before it there.

    Args:
        sentences: of several files.
        texts: their texts without dashes.
        labels: the codes of :func:`speaker_labels`.
    """
    noted = np.flatnonzero(_booleans(_compute.match_substring_regex(texts, _SONG))).tolist()
    if not noted:
        return texts
    found = texts.to_pylist()
    sides = {row: _open_side(found[row]) for row in noted}
    marked = set(np.flatnonzero(opens_with_dash(sentences.text) | (labels >= 0)).tolist())
    others = marked.union(noted)
    for row, following in zip(noted, [*noted[1:], len(found)], strict=True):
        side = sides[row]
        first = last = row
        if side > 0 and sides.get(following, 0) < 0 and _near(sentences, row, following, marked):
            last = following
            sides[following] = 0
        while side > 0 and last < following - 1 and last + 1 not in others and _goes_on(sentences, last + 1):
            last += 1
        while side < 0 and _goes_on(sentences, first) and first not in marked and first - 1 not in sides:
            first -= 1
        if side:
            sign = "#" if "#" in found[row] else "\u266a"
            for sung in range(first, last + 1):
                found[sung] = f"{sign} {found[sung].strip(_NOTES_AND_BLANKS)} {sign}"
    return pa.array(found, pa.string())


def _open_side(text: str) -> int:
    """Return 1 for a text with an opening note alone, -1 for one with a closing note alone, else 0."""
    opening = _OPENS_SONG.match(text) is not None
    closing = _CLOSES_SONG.search(text) is not None and _WORD.search(text) is not None
    return opening - closing if len(_NOTES.findall(text)) % 2 else 0


def _near(sentences: Sentences, one: int, other: int, marked: set[int]) -> bool:
    near = other - one <= _MOST_SUNG and sentences.file[one] == sentences.file[other]
    return near and marked.isdisjoint(range(one + 1, other + 1))


def _goes_on(sentences: Sentences, row: int) -> bool:
    """Return whether a sentence is in the block of the one before it."""
    return 0 < row < len(sentences) and not sentences.first[row] and bool(sentences.same_block[row])


def hidden_marks(sentences: Sentences, labels: np.ndarray) -> pa.Array:
    """Return the sentences without dialogue dashes, speaker labels, bracketed text and repeated blanks.

    ``labels`` are the codes of :func:`speaker_labels`.
    """
    texts = without_dash(sentences.text)
    bare = _compute.replace_substring_regex(texts, r"^[^:]*:", "")
    texts = _compute.if_else(pa.array(_with_colon(sentences, labels)), bare, texts)
    texts = _compute.replace_substring_regex(texts, _BRACKETED, " ")
    return _compute.utf8_trim_whitespace(_compute.replace_substring_regex(texts, r"\s+", " "))


@dataclass(frozen=True)
class Spoken(Sentences):
    """Spoken sentences of a batch with their marks, concatenated.

    A sentence without words (a label, a sound in brackets) is merged with the next spoken one of its file, because
    OPUS often splits ``Anna :`` from Anna's words. Sentences without words at the end of a file are kept, with
    ``words`` false.

    Attributes:
        words: whether the text, without marks, has a letter or digit.
        opens_at: flat index of the first merged sentence.
        dash, label: its marks; the label's code is -1 without one.
        labels: the label's code of each sentence before these are merged (:func:`speaker_labels`).
        with_colon: whether its label has a colon; names in brackets stand before those alone whom one does not see.
        chevrons: whether its mark is `>>`, which stands before each speaker.
        after_break: whether the sentence before it, of the same file, is broken off by a doubled dash.
    """

    words: np.ndarray
    opens_at: np.ndarray
    dash: np.ndarray
    label: np.ndarray
    labels: np.ndarray
    with_colon: np.ndarray
    chevrons: np.ndarray
    after_break: np.ndarray

    @property
    def pairable(self) -> np.ndarray:
        """Whether it and its left neighbour both have words."""
        pairable = self.words & ~self.first
        pairable[1:] &= self.words[:-1]
        return pairable

    @property
    def new_by_dash(self) -> np.ndarray:
        """Whether a dash within a block opens a turn at the sentence."""
        return self.dash & self.same_block & self.pairable

    @cached_property
    def dashed(self) -> np.ndarray:
        """Whether each file marks all turns within blocks by dashes (``MIN_DASHES``, ``MIN_DASH_SHARE``)."""
        files = len(self.offsets) - 1
        found = np.bincount(self.file[self.new_by_dash], minlength=files)
        pairs = np.bincount(self.file[self.same_block & self.pairable], minlength=files)
        return (found >= MIN_DASHES) & (found >= MIN_DASH_SHARE * pairs)

    @cached_property
    def labelled(self) -> np.ndarray:
        """Whether each file labels its speakers (``MIN_LABELS``)."""
        return np.bincount(self.file[self.with_colon], minlength=len(self.offsets) - 1) >= MIN_LABELS

    @property
    def opening_dash(self) -> np.ndarray:
        """Whether a dash opens a block in which another sentence has one, too.

        Such a dash says that the block has two speakers, not that another person spoke in the block before. Where
        another upload shows both sentences in one block, 64% of them open a turn; a block's only dash always does.
        A dash after a sentence that is broken off says that another person interrupts.
        """
        alone = self.dash & ~self.chevrons & ~self.same_block & (self.label < 0) & ~self.after_break
        return alone & self.among(self.dash & self.same_block)

    @property
    def certain(self) -> np.ndarray:
        """The decision of each sentence's marks, see ``decided``, without that of an ``opening_dash``, as int8."""
        return np.where(self.opening_dash, np.int8(UNMARKED), self.decided)

    @property
    def decided(self) -> np.ndarray:
        """The decision of the marks for each sentence and its left neighbour, as int8.

        NEW_TURN: the sentence has a dash, or a label other than that of the speaker so far. SAME_TURN: it has that
        label again, or no mark, but another sentence of the shared block has one, or the file marks all its turns by
        dashes. UNMARKED: the marks decide nothing.
        """
        labelled = self.label >= 0
        marked = self.among(self.dash) | self.among(labelled) | self.dashed[self.file]
        decided = np.where(self.same_block & marked, np.int8(SAME_TURN), np.int8(UNMARKED))
        decided[self.dash | labelled] = NEW_TURN
        # A label that its speaker already has, from the sentence before or through others that go on in its block.
        others = np.cumsum((decided != SAME_TURN) & ~labelled)
        places = np.flatnonzero(labelled)
        left, right = places[:-1], places[1:]
        again = (self.label[left] == self.label[right]) & (others[left] == others[right]) & ~self.dash[right]
        decided[right[again]] = SAME_TURN
        decided[self.first] = UNMARKED
        return decided


def spoken(sentences: Sentences) -> Spoken:
    """Return the spoken sentences of a batch with their marks."""
    if not len(sentences):
        none = np.zeros(0, dtype=np.int64)
        no = np.zeros(0, dtype=bool)
        values: dict[str, Any] = {part.name: getattr(sentences, part.name) for part in fields(sentences)}
        values |= dict.fromkeys(("opens_at", "label", "labels"), none)
        return Spoken(**values, words=no, dash=no, with_colon=no, chevrons=no, after_break=no)
    dash = opens_with_dash(sentences.text)
    chevrons = _booleans(_compute.match_substring_regex(sentences.text, rf"^\s*{_CHEVRONS}"))
    broken_off = _booleans(_compute.match_substring_regex(sentences.text, _BROKEN_OFF))
    labels = speaker_labels(sentences)
    with_colon = _with_colon(sentences, labels)
    texts = hidden_marks(sentences, labels)
    words = _booleans(_compute.match_substring_regex(texts, r"[\p{L}\p{N}]"))
    starts = np.flatnonzero(sentences.first | np.concatenate([[True], words[:-1]]))
    ends = np.concatenate([starts[1:], [len(words)]]) - 1
    known_starts = np.where(sentences.start_ms == UNKNOWN_MS, np.iinfo(np.int64).max, sentences.start_ms)
    begins = np.minimum.reduceat(known_starts, starts)
    return Spoken(
        text=_compute.take(texts, pa.array(ends)),
        file=sentences.file[starts],
        offsets=np.searchsorted(starts, sentences.offsets),
        block_first=sentences.block_first[starts],
        block_last=sentences.block_last[ends],
        start_ms=np.where(begins == np.iinfo(np.int64).max, UNKNOWN_MS, begins),
        end_ms=sentences.end_ms[ends],
        words=words[ends],
        opens_at=starts,
        dash=np.logical_or.reduceat(dash, starts),
        label=np.maximum.reduceat(labels, starts),
        labels=labels,
        with_colon=np.logical_or.reduceat(with_colon, starts),
        chevrons=np.logical_or.reduceat(chevrons, starts),
        after_break=np.concatenate([[False], broken_off[:-1]])[starts] & ~sentences.first[starts],
    )


def _booleans(values: pa.Array) -> np.ndarray:
    return np.asarray(_compute.fill_null(values, False), dtype=bool)
