"""Rows of hashed features of unequal length, as NumPy arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

_ODD = np.uint64(0x9E3779B97F4A7C15)
_PRIME = np.uint64(0xC2B2AE3D27D4EB4F)
_FINAL = np.uint64(0xBF58476D1CE4E5B9)


def mixed(first: np.ndarray, second: np.ndarray | np.uint64) -> np.ndarray:
    """Return an order-dependent 64-bit hash of two hashes (multiply and shift, as in SplitMix64)."""
    with np.errstate(over="ignore"):
        value = (first * _ODD) ^ (second * _PRIME + _FINAL)
        value ^= value >> np.uint64(31)
        value = value * _FINAL
        return value ^ (value >> np.uint64(29))


@dataclass(frozen=True)
class Ragged:
    """Rows of uint64 features.

    Attributes:
        counts: number of features of each row.
        values: the features of all rows, concatenated.
    """

    counts: np.ndarray
    values: np.ndarray

    @cached_property
    def offsets(self) -> np.ndarray:
        """The start of each row, and the end of the last."""
        return np.concatenate([[0], np.cumsum(self.counts)])

    def __len__(self) -> int:
        return len(self.counts)

    def rows(self, chosen: np.ndarray) -> "Ragged":
        """Return the rows at the given positions."""
        counts = self.counts[chosen]
        return Ragged(counts, self.values[_ranges(self.offsets[:-1][chosen], counts)])

    def salted(self, salt: int) -> "Ragged":
        """Return the features hashed with a salt, so that groups do not collide."""
        return Ragged(self.counts, mixed(self.values, np.uint64(salt)))

    def bigrams(self) -> "Ragged":
        """Return the hashes of each row's neighbouring features."""
        inner = np.ones(len(self.values), dtype=bool)
        inner[self.offsets[1:][self.counts > 0] - 1] = False
        left = np.flatnonzero(inner)
        return Ragged(np.maximum(self.counts - 1, 0), mixed(self.values[left], self.values[left + 1]))

    def firsts(self) -> "Ragged":
        """Return each row's first feature; none for an empty row."""
        some = self.counts > 0
        return Ragged(some.astype(np.int64), self.values[self.offsets[:-1][some]])

    def lasts(self) -> "Ragged":
        """Return each row's last feature; none for an empty row."""
        some = self.counts > 0
        return Ragged(some.astype(np.int64), self.values[self.offsets[1:][some] - 1])

    def crossed(self, other: "Ragged") -> "Ragged":
        """Return the hashes of all pairs of a row's feature and a feature of the other's same row."""
        per_value = np.repeat(other.counts, self.counts)
        starts = np.repeat(other.offsets[:-1], self.counts)
        crossed = mixed(np.repeat(self.values, per_value), other.values[_ranges(starts, per_value)])
        return Ragged(self.counts * other.counts, crossed)

    def crossed_with_itself(self) -> "Ragged":
        """Return the hashes of all unordered pairs of a row's features."""
        row = np.repeat(np.arange(len(self.counts)), self.counts)
        after = self.offsets[1:][row] - np.arange(len(self.values)) - 1
        partners = _ranges(np.arange(len(self.values)) + 1, after)
        counts = self.counts * (self.counts - 1) // 2
        return Ragged(counts, mixed(np.repeat(self.values, after), self.values[partners]))


def side_by_side(parts: Sequence[Ragged]) -> Ragged:
    """Return rows with the features of all parts, in order."""
    counts = np.sum([part.counts for part in parts], axis=0)
    starts = np.cumsum(counts) - counts
    values = np.empty(int(counts.sum()), dtype=np.uint64)
    for part in parts:
        values[_ranges(starts, part.counts)] = part.values
        starts = starts + part.counts
    return Ragged(counts, values)


def _ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return ``count`` consecutive integers from each ``start``, concatenated."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - ends + counts, counts)
