"""The features of two adjacent sentences (EDOS 3.1), hashed; the same code for training and for scoring.

The seven groups: 1 lemma unigrams and bigrams of both; 2 first and final tokens of both; 3 first and final
bigrams of both; 4 whether both stand in one subtitle block; 5 the film's genres; 6 the file's sentence density;
7 quadratic combinations. The paper does not say which combinations it kept; ours are, by group, 2+3 with 2+3, 2+3
with the unigrams of 1, 4 with 2+3 and the unigrams of 1, and 4 with 5+6: all with all was no better on held-out
episodes at four times the cost.

Two groups are ours, behind one setting (``lengths``): how many tokens each sentence has, in bins, and its
combinations with 2, 3, 4 and the unigrams of 1; and the lemmas that both sentences have and how many they are,
with the lengths.

What is not known (the block of a transcript's sentence, a film without genres) gives no feature, not a false one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from etl.subtitles.turn_ragged import Ragged, mixed, side_by_side

_compute: Any = pc
_HASH_KEY = "edos-turn-hashes"
DENSITY_STEP, DENSITY_BINS = 3.0, 12
"""Sentences a minute in one bin, and how many bins; films stand between 3 and 35."""
LENGTH_BINS = 9
MOST_REPEATS = 3
TYPICAL_FEATURES = 256
"""Every row is as long a vector as one of so many different features: long sentences have more, not a louder voice."""


@dataclass(frozen=True)
class LemmaTable:
    """Lemmas by word, both hashed: what a worker looks up.

    Attributes:
        words: sorted uint64 hashes of lower-case words that are not their own lemma.
        lemmas: the hashes of their lemmas.
    """

    words: np.ndarray
    lemmas: np.ndarray

    @classmethod
    def of(cls, lemmas: Mapping[str, str]) -> "LemmaTable":
        """From word to lemma; the words in lower case."""
        changed = {word: lemma for word, lemma in lemmas.items() if word != lemma}
        words = _hashed(np.array(list(changed), dtype=object))
        order = np.argsort(words, kind="stable")
        return cls(words[order], _hashed(np.array(list(changed.values()), dtype=object))[order])

    def look_up(self, words: np.ndarray) -> np.ndarray:
        """Hashes of the lemmas; a word that the table lacks is its own."""
        if not len(self.words):
            return words
        at = np.minimum(np.searchsorted(self.words, words), len(self.words) - 1)
        return np.where(self.words[at] == words, self.lemmas[at], words)


@dataclass(frozen=True)
class FeatureSpace:
    """Which features, into how many buckets.

    Attributes:
        buckets: a power of two.
        lengths: ours: the groups of lengths and of repeated lemmas, and their combinations.
    """

    buckets: int = 2**20
    lengths: bool = True

    def bucket(self, features: Ragged) -> np.ndarray:
        """The bucket of each feature: the top bits of its hash."""
        bits = self.buckets.bit_length() - 1
        return (features.values >> np.uint64(64 - bits)).astype(np.int64)


@dataclass(frozen=True)
class PairContext:
    """What is known of pairs beyond their words.

    Attributes:
        same_block: int8, 1 shared, 0 not, -1 unknown.
        genres: each pair's film's genres, hashed; see :func:`hashed_genres`.
        density: sentences a minute, not a number when unknown.
    """

    same_block: np.ndarray
    genres: Ragged
    density: np.ndarray

    def part(self, pairs: slice) -> "PairContext":
        """Of some of the pairs."""
        chosen = np.arange(len(self.density))[pairs]
        return PairContext(self.same_block[pairs], self.genres.rows(chosen), self.density[pairs])


def _hashed(words: np.ndarray) -> np.ndarray:
    return pd.util.hash_array(words.astype(object), hash_key=_HASH_KEY, categorize=False)


def hashed_tokens(texts: pa.Array) -> Ragged:
    """The lower-case tokens of each sentence, hashed; tokens are apart by one blank, as OPUS has them."""
    split = _compute.split_pattern(_compute.utf8_lower(texts), " ")
    tokens = split.flatten().dictionary_encode()
    counts = np.asarray(_compute.list_value_length(split), dtype=np.int64)
    hashes = _hashed(np.array(tokens.dictionary.to_pylist(), dtype=object))
    row = np.repeat(np.arange(len(counts)), counts)
    indices = np.asarray(tokens.indices, dtype=np.int64)
    empty = np.asarray(_compute.equal(split.flatten(), ""), dtype=bool)
    kept = ~empty
    return Ragged(np.bincount(row[kept], minlength=len(counts)), hashes[indices[kept]])


def hashed_genres(genres: pa.Array) -> Ragged:
    """The genres of each film, hashed; none for a null."""
    counts = np.asarray(_compute.fill_null(_compute.list_value_length(genres), 0), dtype=np.int64)
    names = _compute.fill_null(_compute.cast(genres.flatten(), pa.string()), "")
    return Ragged(counts, _hashed(np.array(names.to_pylist(), dtype=object)))


def density_bins(density: np.ndarray) -> Ragged:
    """The sentence density's bin; none where it is not a number."""
    known = np.isfinite(density)
    bins = np.minimum(density[known] // DENSITY_STEP, DENSITY_BINS).astype(np.uint64)
    return Ragged(known.astype(np.int64), bins)


def length_bins(counts: np.ndarray) -> Ragged:
    """How many tokens a sentence has, in bins that widen: two for each doubling (ours)."""
    bins = np.minimum(np.ceil(np.log2(np.maximum(counts, 1)) * 1.5), LENGTH_BINS).astype(np.uint64)
    return Ragged(np.ones(len(counts), dtype=np.int64), bins)


def repeated(left: Ragged, right: Ragged) -> Ragged:
    """The features that a row of both has, once each, and how many they are, up to ``MOST_REPEATS`` (ours)."""
    keys = [
        mixed(side.values, np.repeat(np.arange(len(side)), side.counts).astype(np.uint64)) for side in (left, right)
    ]
    _, once = np.unique(keys[1], return_index=True)
    once = np.sort(once[np.isin(keys[1][once], keys[0])])
    row = np.repeat(np.arange(len(right)), right.counts)[once]
    shared = Ragged(np.bincount(row, minlength=len(right)), right.values[once])
    number = np.minimum(shared.counts, MOST_REPEATS).astype(np.uint64)
    return side_by_side([shared.salted(1), Ragged(np.ones(len(right), dtype=np.int64), number)])


def pair_features(
    texts: pa.Array,
    left: np.ndarray,
    right: np.ndarray,
    context: PairContext,
    lemmas: LemmaTable,
    space: FeatureSpace,
) -> Ragged:
    """The hashed features of each pair.

    Args:
        texts: sentences without their marks, tokens apart by one blank.
        left, right: positions in ``texts`` of each pair's sentences.
        context: of the pairs, in their order.
        lemmas: see :class:`LemmaTable`.
        space: which features.

    Returns:
        uint64 hashes; :meth:`FeatureSpace.bucket` makes them indices.
    """
    tokens = hashed_tokens(texts)
    lemma = Ragged(tokens.counts, lemmas.look_up(tokens.values))
    edges = side_by_side(
        [
            tokens.firsts().salted(1),
            tokens.lasts().salted(2),
            (token_bigrams := tokens.bigrams()).firsts().salted(3),
            token_bigrams.lasts().salted(4),
        ]
    )
    lengths = length_bins(tokens.counts)
    words, pairs_of_words, ends, length = (
        side_by_side([part.rows(left).salted(100 + salt), part.rows(right).salted(200 + salt)])
        for salt, part in enumerate((lemma, lemma.bigrams(), edges, lengths))
    )
    known = context.same_block >= 0
    block = Ragged(known.astype(np.int64), context.same_block[known].astype(np.uint64)).salted(300)
    film = side_by_side([context.genres.salted(301), density_bins(context.density).salted(302)])
    groups = [words, pairs_of_words, ends, block, film]
    groups += [ends.crossed_with_itself(), ends.crossed(words)]
    groups += [block.crossed(ends), block.crossed(words), block.crossed(film)]
    if space.lengths:
        repeats = repeated(lemma.rows(left), lemma.rows(right)).salted(400)
        groups += [repeats, repeats.crossed(length)]
        groups += [length, length.crossed_with_itself(), length.crossed(ends), length.crossed(words)]
        groups += [block.crossed(length)]
    return side_by_side(groups)


def feature_value(counts: np.ndarray | int) -> np.ndarray:
    """The value of each feature of a row that has so many (ours): the row's length is the same for all."""
    return np.sqrt(TYPICAL_FEATURES / np.maximum(counts, 1))


def margins(features: Ragged, weights: np.ndarray, intercept: float, space: FeatureSpace) -> np.ndarray:
    """The linear decision value of each row."""
    some = features.counts > 0
    sums = np.zeros(len(features))
    if some.any():
        sums[some] = np.add.reduceat(weights[space.bucket(features)], features.offsets[:-1][some])
    return sums * feature_value(features.counts) + intercept


__all__ = [
    "FeatureSpace",
    "LemmaTable",
    "PairContext",
    "density_bins",
    "feature_value",
    "hashed_genres",
    "hashed_tokens",
    "length_bins",
    "margins",
    "pair_features",
]
