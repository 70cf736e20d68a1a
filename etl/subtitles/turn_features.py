"""Hashed features of two adjacent sentences, for training and for scoring (EDOS 3.1).

There are seven groups: 1 lemma unigrams and bigrams of both; 2 first and final tokens of both; 3 first and final
bigrams of both; 4 whether both are in one subtitle block; 5 the film's genres; 6 the file's sentence density;
7 quadratic combinations. The paper does not list its combinations. Ours are, by group, 2+3 with 2+3, 2+3 with the
unigrams of 1, 4 with 2+3 and the unigrams of 1, and 4 with 5+6. All combinations cost four times as much and were no
better on held-out episodes.

The setting ``lengths`` adds two groups of ours: the binned number of tokens of each sentence, combined with 2, 3, 4
and the unigrams of 1; and the lemmas that both sentences share and their number, combined with the lengths.

Missing values (the block of a transcript's sentence, the genres of a film) give no feature.
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
DENSITY_STEP = 3.0
DENSITY_BINS = 12
"""Sentences per minute in one bin, and the number of bins; films have 3 to 35 sentences per minute."""
LENGTH_BINS = 9
MOST_REPEATS = 3
TYPICAL_FEATURES = 256
"""Every feature vector has the norm of one with this many ones, so that long sentences weigh no more than others."""


@dataclass(frozen=True)
class LemmaTable:
    """Look-up table from hashed words to hashed lemmas.

    Attributes:
        words: sorted uint64 hashes of the lower-case words that differ from their lemma.
        lemmas: the hashes of their lemmas.
    """

    words: np.ndarray
    lemmas: np.ndarray

    @classmethod
    def of(cls, lemmas: Mapping[str, str]) -> "LemmaTable":
        """Build the table from a mapping of lower-case words to lemmas."""
        changed = {word: lemma for word, lemma in lemmas.items() if word != lemma}
        words = hashed(np.array(list(changed), dtype=object))
        order = np.argsort(words, kind="stable")
        return cls(words[order], hashed(np.array(list(changed.values()), dtype=object))[order])

    def look_up(self, words: np.ndarray) -> np.ndarray:
        """Return the hashes of the lemmas; a word that the table lacks is returned unchanged."""
        if not len(self.words):
            return words
        at = np.minimum(np.searchsorted(self.words, words), len(self.words) - 1)
        return np.where(self.words[at] == words, self.lemmas[at], words)


@dataclass(frozen=True)
class FeatureSpace:
    """The features to compute and the number of hash buckets.

    Attributes:
        buckets: a power of two.
        lengths: whether to add the groups of lengths and of repeated lemmas (ours).
    """

    buckets: int = 2**20
    lengths: bool = True

    def bucket(self, features: Ragged) -> np.ndarray:
        """Return the bucket of each feature, the top bits of its hash."""
        bits = self.buckets.bit_length() - 1
        return (features.values >> np.uint64(64 - bits)).astype(np.int64)


@dataclass(frozen=True)
class PairContext:
    """Attributes of pairs besides their words.

    Attributes:
        same_block: int8, 1 shared, 0 not, -1 unknown.
        genres: hashed genres of each pair's film, from :func:`hashed_genres`.
        density: sentences per minute, NaN if unknown.
        gap_ms: the pause between both sentences, NaN if unknown.
        left_speed, right_speed: characters a second of each sentence, NaN if unknown.
        language: of each pair's film, as an object array; None if unknown.
    """

    same_block: np.ndarray
    genres: Ragged
    density: np.ndarray
    gap_ms: np.ndarray
    left_speed: np.ndarray
    right_speed: np.ndarray
    language: np.ndarray

    def part(self, pairs: slice) -> "PairContext":
        """Return the context of a slice of the pairs."""
        return self.rows(np.arange(len(self.density))[pairs])

    def rows(self, chosen: np.ndarray) -> "PairContext":
        """Return the context of the pairs at the given positions."""
        return PairContext(
            self.same_block[chosen],
            self.genres.rows(chosen),
            self.density[chosen],
            self.gap_ms[chosen],
            self.left_speed[chosen],
            self.right_speed[chosen],
            self.language[chosen],
        )


def hashed(words: np.ndarray) -> np.ndarray:
    """Return the uint64 hash of each word."""
    return pd.util.hash_array(words.astype(object), hash_key=_HASH_KEY, categorize=False)


def coded_tokens(texts: pa.Array) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the lower-case tokens of sentences, split at single blanks as in OPUS.

    Returns:
        the number of tokens of each sentence; all tokens, as positions in a list of words; and this list.
    """
    split = _compute.split_pattern(_compute.utf8_lower(texts), " ")
    tokens = split.flatten().dictionary_encode()
    counts = np.asarray(_compute.list_value_length(split), dtype=np.int64)
    row = np.repeat(np.arange(len(counts)), counts)
    kept = np.asarray(_compute.not_equal(split.flatten(), ""), dtype=bool)
    indices = np.asarray(tokens.indices, dtype=np.int64)[kept]
    return np.bincount(row[kept], minlength=len(counts)), indices, tokens.dictionary.to_pylist()


def hashed_tokens(texts: pa.Array) -> Ragged:
    """Return the hashed lower-case tokens of each sentence."""
    counts, indices, words = coded_tokens(texts)
    return Ragged(counts, hashed(np.array(words, dtype=object))[indices])


def hashed_genres(genres: pa.Array) -> Ragged:
    """Return the hashed genres of each film; none for null."""
    counts = np.asarray(_compute.fill_null(_compute.list_value_length(genres), 0), dtype=np.int64)
    names = _compute.fill_null(_compute.cast(genres.flatten(), pa.string()), "")
    return Ragged(counts, hashed(np.array(names.to_pylist(), dtype=object)))


def density_bins(density: np.ndarray) -> Ragged:
    """Return the bin of each sentence density; none for NaN."""
    known = np.isfinite(density)
    bins = np.minimum(density[known] // DENSITY_STEP, DENSITY_BINS).astype(np.uint64)
    return Ragged(known.astype(np.int64), bins)


def length_bins(counts: np.ndarray) -> Ragged:
    """Return the bin of each number of tokens; bins widen, about 1.5 per doubling (ours)."""
    bins = np.minimum(np.ceil(np.log2(np.maximum(counts, 1)) * 1.5), LENGTH_BINS).astype(np.uint64)
    return Ragged(np.ones(len(counts), dtype=np.int64), bins)


def shared_features(left: Ragged, right: Ragged) -> Ragged:
    """Return the distinct features that both rows have."""
    keys = [
        mixed(side.values, np.repeat(np.arange(len(side)), side.counts).astype(np.uint64)) for side in (left, right)
    ]
    _, once = np.unique(keys[1], return_index=True)
    once = np.sort(once[np.isin(keys[1][once], keys[0])])
    row = np.repeat(np.arange(len(right)), right.counts)[once]
    return Ragged(np.bincount(row, minlength=len(right)), right.values[once])


def repeated(left: Ragged, right: Ragged) -> Ragged:
    """Return the distinct features that both rows have, and their number up to ``MOST_REPEATS`` (ours)."""
    shared = shared_features(left, right)
    number = np.minimum(shared.counts, MOST_REPEATS).astype(np.uint64)
    return side_by_side([shared.salted(1), Ragged(np.ones(len(right), dtype=np.int64), number)])


def pair_features(
    texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext, lemmas: LemmaTable, space: FeatureSpace
) -> Ragged:
    """Return the uint64 feature hashes of each pair; :meth:`FeatureSpace.bucket` maps them to indices.

    Args:
        texts: sentences without marks, with one blank between tokens.
        left, right: positions in ``texts`` of each pair's sentences.
        context: the pairs' context, in their order.
    """
    tokens = hashed_tokens(texts)
    lemma = Ragged(tokens.counts, lemmas.look_up(tokens.values))
    edges = [part for ngrams in (tokens, tokens.bigrams()) for part in (ngrams.firsts(), ngrams.lasts())]
    edge_tokens = side_by_side([part.salted(salt) for salt, part in enumerate(edges, 1)])
    lengths = length_bins(tokens.counts)
    words, pairs_of_words, ends, length = (
        side_by_side([part.rows(left).salted(100 + salt), part.rows(right).salted(200 + salt)])
        for salt, part in enumerate((lemma, lemma.bigrams(), edge_tokens, lengths))
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
    """Return the feature value for rows of ``counts`` features, which gives all rows one norm (ours)."""
    return np.sqrt(TYPICAL_FEATURES / np.maximum(counts, 1))


def margins(features: Ragged, weights: np.ndarray, intercept: float, space: FeatureSpace) -> np.ndarray:
    """Return the linear decision value of each row."""
    some = features.counts > 0
    sums = np.zeros(len(features))
    if some.any():
        sums[some] = np.add.reduceat(weights[space.bucket(features)], features.offsets[:-1][some])
    return sums * feature_value(features.counts) + intercept
