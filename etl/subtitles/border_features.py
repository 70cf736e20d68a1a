"""Hashed features of the border between two sentences: words, marks, pauses and speed (ours).

The turn segmenter of EDOS 3.1 reads words, one bit of layout and the film's genres. Between two cues without any mark
most of what tells a change of speaker is elsewhere: how the sentence before ends, how the next one opens, the pause
between them, and how these go together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from etl.subtitles.turn_features import MOST_REPEATS, PairContext, coded_tokens, hashed, shared_features
from etl.subtitles.turn_ragged import Ragged, mixed, side_by_side
from etl.subtitles.turn_sentences import UNKNOWN_MS, Sentences

_compute: Any = pc
GAPS_MS = (40, 150, 400, 1000, 2500, 5000)
"""Bounds of the bins of pauses; a pause below the first is a cue that follows at once."""
SPEEDS = (8.0, 13.0, 18.0)
"""Bounds of the bins of reading speed, in characters a second."""
_SHORTEST_SECONDS = 0.2
_PRONOUNS = frozenset(["you", "i", "your", "my", "we", "me", "he", "she", "they", "it", "i'm", "you're", "i'll"])
_MARKS = {".": 1, "?": 2, "!": 3, ",": 4, "...": 5, "-": 6, "--": 6, ";": 7, ":": 8, "♪": 9}
_QUOTES = frozenset(('"', "'", "''", "``", "”", "’", "»"))
UNKNOWN_BIN = 15


@dataclass(frozen=True)
class SentenceWords:
    """The words of sentences as hashes, and what each sentence shows at its edges.

    Attributes:
        tokens: hashed lower-case tokens.
        long: of each token, whether it is a word of more than three letters.
        pronoun: of each token, whether it is an English pronoun.
        mark: int64 code of the mark that ends each sentence, 0 none.
        low: whether it opens with a small letter.
        words: number of tokens that are words.
    """

    tokens: Ragged
    long: np.ndarray
    pronoun: np.ndarray
    mark: np.ndarray
    low: np.ndarray
    words: np.ndarray


def sentence_words(texts: pa.Array) -> SentenceWords:
    """Return the words of sentences without marks, with one blank between tokens as in OPUS."""
    counts, indices, names = coded_tokens(texts)
    row = np.repeat(np.arange(len(counts)), counts)

    def of_names(values: list[Any], kind: Any) -> np.ndarray:
        return np.array(values, dtype=kind)[indices] if names else np.zeros(0, dtype=kind)

    word = of_names([any(map(str.isalnum, name)) for name in names], bool)
    marks = of_names([_MARKS.get(name, 5 if name.endswith(("..", "…")) else 0) for name in names], np.int64)
    quote = of_names([name in _QUOTES for name in names], bool)
    hashes = hashed(np.array(names, dtype=object))[indices] if names else np.zeros(0, dtype=np.uint64)
    # The last token that is no quotation mark tells how the sentence ends.
    at = np.where(quote, -1, np.arange(len(indices)))
    ends = np.cumsum(counts)
    mark = np.zeros(len(counts), dtype=np.int64)
    some = counts > 0
    if some.any():
        last = np.maximum.reduceat(at, (ends - counts)[some])
        mark[some] = np.where(last >= 0, marks[last], 0)
    first = _compute.utf8_slice_codeunits(_compute.utf8_ltrim(texts, " \"'.-…“‘"), 0, 1)
    return SentenceWords(
        Ragged(counts, hashes),
        of_names([len(name) > 3 and name.isalpha() for name in names], bool),
        of_names([name in _PRONOUNS for name in names], bool),
        mark,
        np.asarray(_compute.utf8_is_lower(first), dtype=bool),
        np.bincount(row[word], minlength=len(counts)),
    )


def _edge(tokens: Ragged, place: int) -> np.ndarray:
    """Return each row's token at a place, from the end if it is negative; 0 where it has none."""
    found = np.zeros(len(tokens), dtype=np.uint64)
    needed = place + 1 if place >= 0 else -place
    some = tokens.counts >= needed
    base = tokens.offsets[:-1] if place >= 0 else tokens.offsets[1:]
    found[some] = tokens.values[(base + place)[some]]
    return found


def _only(tokens: Ragged, chosen: np.ndarray) -> Ragged:
    row = np.repeat(np.arange(len(tokens)), tokens.counts)
    return Ragged(np.bincount(row[chosen], minlength=len(tokens)), tokens.values[chosen])


def _bins(values: np.ndarray, bounds: Sequence[float]) -> np.ndarray:
    found = np.searchsorted(np.array(bounds, dtype=np.float64), values, side="right").astype(np.int64)
    return np.where(np.isnan(values), UNKNOWN_BIN, found)


def border_features(
    words: SentenceWords, left: np.ndarray, right: np.ndarray, context: PairContext, lexical: bool = True
) -> Ragged:
    """Return the hashed features of each border.

    Args:
        left, right: positions of each border's sentences.
        context: the borders' context, in their order.
        lexical: whether words are among the features; without them the features serve any language.
    """
    gap = _bins(context.gap_ms, GAPS_MS)
    block = context.same_block.astype(np.int64) + 1
    gap = np.where(block == 2, UNKNOWN_BIN + 1, gap)
    mark, next_mark = words.mark[left], words.mark[right]
    low = words.low[right].astype(np.int64)
    length, next_length = (np.minimum(words.words[side], 12) // 3 for side in (left, right))
    speed, next_speed = (_bins(value, SPEEDS) for value in (context.left_speed, context.right_speed))
    long = _only(words.tokens, words.long)
    shared = np.minimum(shared_features(long.rows(left), long.rows(right)).counts, MOST_REPEATS)
    plain: list[tuple[np.ndarray, ...]] = [
        (mark,),
        (low,),
        (gap,),
        (block,),
        (next_mark,),
        (length,),
        (next_length,),
        (gap, mark),
        (gap, mark, low),
        (mark, low),
        (mark, next_mark),
        (gap, mark, next_mark),
        (length, next_length),
        (length, mark),
        (next_length, next_mark, mark),
        (speed, next_speed),
        (speed, gap, mark),
        (shared,),
        (shared, mark),
        (gap, length, next_length),
        (block, mark, next_mark),
    ]
    if lexical:
        first, second = _edge(words.tokens, 0)[right], _edge(words.tokens, 1)[right]
        last, before = _edge(words.tokens, -1)[left], _edge(words.tokens, -2)[left]
        opening = _edge(words.tokens, 0)[left]
        plain += [
            (first,),
            (first, second),
            (mark, first),
            (mark, first, second),
            (gap, mark, first),
            (before, last),
            (before,),
            (before, first),
            (opening, first),
            (block, first),
        ]
    columns = np.empty((len(left), len(plain)), dtype=np.uint64)
    for number, parts in enumerate(plain):
        value: np.ndarray = np.full(len(left), np.uint64(1000 + number))
        for part in parts:
            value = mixed(value, part.astype(np.uint64))
        columns[:, number] = value
    groups = [Ragged(np.full(len(left), len(plain), dtype=np.int64), columns.ravel())]
    if lexical:
        pairs = words.tokens.bigrams()
        pronouns = _only(words.tokens, words.pronoun)
        groups += [
            words.tokens.rows(left).salted(1),
            words.tokens.rows(right).salted(2),
            pairs.rows(left).salted(3),
            pairs.rows(right).salted(4),
            pronouns.rows(left).salted(5).crossed(pronouns.rows(right).salted(6)),
        ]
    return side_by_side(groups)


def border_codes(context: PairContext) -> np.ndarray:
    """Return for each border a code of its layout: both sentences in one cue or the pause, and how fast each is said.

    Codes are from 1 to 80, as the window encoder reads them.
    """
    unknown = len(GAPS_MS) + 1
    gap = np.where(np.isnan(context.gap_ms), unknown, _bins(context.gap_ms, GAPS_MS))
    gap = np.where(context.same_block == 1, unknown + 1, gap)
    fast, next_fast = (
        np.where(np.isnan(speed), 2, speed >= SPEEDS[1]).astype(np.int64)
        for speed in (context.left_speed, context.right_speed)
    )
    return 1 + 9 * gap + 3 * fast + next_fast


def spoken_speeds(lines: Sentences) -> np.ndarray:
    """Return each sentence's characters a second while it is shown, NaN where its times are not known."""
    known = (lines.start_ms != UNKNOWN_MS) & (lines.end_ms != UNKNOWN_MS)
    seconds = np.where(known, lines.end_ms - lines.start_ms, 1000) / 1000
    letters = np.asarray(_compute.utf8_length(lines.text), dtype=np.float64)
    return np.where(known, letters / np.maximum(seconds, _SHORTEST_SECONDS), np.nan)
