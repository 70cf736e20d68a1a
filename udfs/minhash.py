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
_BLOCK = 1 << 14


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


def hash_int_into(values: Hashes, seed: int, out: Hashes, spare: Hashes) -> None:
    """Write the xxHash64 of a non-negative 4-byte number, from each of the seeds, into ``out``.

    Args:
        values: the seeds of xxHash64 plus ``_P5`` plus 4.
        out, spare: arrays of the shape of ``values``; both are overwritten, so that no array is made.
    """
    np.bitwise_xor(values, np.uint64(seed * int(_P1) % 2**64), out=out)
    np.left_shift(out, np.uint64(23), out=spare)
    np.right_shift(out, np.uint64(64 - 23), out=out)
    np.bitwise_or(out, spare, out=out)
    np.multiply(out, _P2, out=out)
    np.add(out, _P3, out=out)
    for bits, prime in ((33, _P2), (29, _P3), (32, None)):
        np.right_shift(out, np.uint64(bits), out=spare)
        np.bitwise_xor(out, spare, out=out)
        if prime is not None:
            np.multiply(out, prime, out=out)


def least_hashes(shingles: NDArray[np.int64], starts: NDArray[np.int64], seeds: int) -> NDArray[np.int64]:
    """Return the least ``xxhash64(shingle, seed)`` of each text, of shape (seeds, texts), for the seeds 0 .. seeds - 1.

    Texts are taken in blocks of about ``_BLOCK`` shingles, whose hashes stay in the processor's cache.

    Args:
        shingles: the shingles of all texts, concatenated.
        starts: start of each text's shingles; every text has at least one.
    """
    base = hash_long(shingles.view(np.uint64), _SEED) + (_P5 + np.uint64(4))
    ends = np.append(starts[1:], len(shingles))
    minima = np.empty((seeds, len(starts)), dtype=np.int64)
    hashed = spare = np.empty(0, dtype=np.uint64)
    first = 0
    while first < len(starts):
        # A text longer than a block is a block.
        last = max(first + 1, int(np.searchsorted(ends, starts[first] + _BLOCK, side="right")))
        values = base[starts[first] : ends[last - 1]]
        if len(values) > len(hashed):
            hashed = np.empty(len(values), dtype=np.uint64)
            spare = np.empty_like(hashed)
        out = hashed[: len(values)]
        for seed in range(seeds):
            hash_int_into(values, seed, out, spare[: len(values)])
            minima[seed, first:last] = np.minimum.reduceat(out.view(np.int64), starts[first:last] - starts[first])
        first = last
    return minima


def band_keys(shingles: NDArray[np.int64], starts: NDArray[np.int64], bands: int, rows: int) -> NDArray[np.int64]:
    """Return keys of shape (texts, bands): ``xxhash64`` of ``rows`` minima, those of ``least_hashes``.

    Args:
        shingles: the shingles of all texts, concatenated.
        starts: start of each text's shingles; every text has at least one.
    """
    with np.errstate(over="ignore"):
        minima = least_hashes(shingles, starts, bands * rows)
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
