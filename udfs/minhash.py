"""MinHash signatures of shingle hashes on NumPy arrays, equal to those from Spark's ``xxhash64``."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(prime)
    for prime in (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
)
_SEED = np.uint64(42)
_SEEDS_TOGETHER = 8


def _rotated(number: Hashes, bits: int) -> Hashes:
    return (number << np.uint64(bits)) | (number >> np.uint64(64 - bits))


def _mixed(number: Hashes) -> Hashes:
    number ^= number >> np.uint64(33)
    number *= _P2
    number ^= number >> np.uint64(29)
    number *= _P3
    number ^= number >> np.uint64(32)
    return number


def hash_long(values: Hashes, seed: Hashes | np.uint64) -> Hashes:
    """Return the xxHash64 of 8-byte numbers."""
    number = (seed + _P5 + np.uint64(8)) ^ (_rotated(values * _P2, 31) * _P1)
    return _mixed(_rotated(number, 27) * _P1 + _P4)


def hash_int(values: Hashes, seed: Hashes) -> Hashes:
    """Return the xxHash64 of non-negative 4-byte numbers."""
    number = (seed + _P5 + np.uint64(4)) ^ (values * _P1)
    return _mixed(_rotated(number, 23) * _P2 + _P3)


def band_keys(shingles: NDArray[np.int64], starts: NDArray[np.int64], bands: int, rows: int) -> NDArray[np.int64]:
    """Return keys of shape (texts, bands): ``xxhash64`` of ``rows`` minima.

    Each minimum is the least ``xxhash64(shingle, seed)`` of a text. The seeds are 0 .. bands * rows - 1.

    Args:
        shingles: the shingles of all texts, concatenated.
        starts: start of each text's shingles; every text has at least one.
    """
    with np.errstate(over="ignore"):
        first = hash_long(shingles.view(np.uint64), _SEED)
        minima = np.empty((bands * rows, len(starts)), dtype=np.int64)
        for seed in range(0, bands * rows, _SEEDS_TOGETHER):
            seeds = np.arange(seed, min(seed + _SEEDS_TOGETHER, bands * rows), dtype=np.uint64)[:, None]
            hashed = hash_int(seeds, first[None, :]).view(np.int64)
            minima[seed : seed + len(seeds)] = np.minimum.reduceat(hashed, starts, axis=1)
        keys = np.full((bands, len(starts)), _SEED)
        for row in range(rows):
            keys = hash_long(minima[row::rows].view(np.uint64), keys)
    return keys.view(np.int64).T


def band_adder(bands: int, rows: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for ``mapInArrow`` that replaces the last column, shingles array<bigint>, by the band keys.

    Texts without shingles are dropped.
    """

    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            kept = batch.filter(pc.greater(batch.column(batch.num_columns - 1).value_lengths(), 0))
            lists = kept.column(kept.num_columns - 1)
            if not len(lists):
                continue
            lengths = lists.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
            shingles = np.array(lists.flatten(), dtype=np.int64)
            keys = band_keys(shingles, np.cumsum(lengths) - lengths, bands, rows)
            places = np.arange(0, keys.size + 1, bands, dtype=np.int32)
            signature = pa.ListArray.from_arrays(places, np.ascontiguousarray(keys).ravel())
            yield pa.RecordBatch.from_arrays([*kept.columns[:-1], signature], names=[*kept.schema.names[:-1], "bands"])

    return add
