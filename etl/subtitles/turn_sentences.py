"""The sentences of a batch of subtitle files as flat arrays, for rules about neighbouring sentences."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from udfs.opus.speaker_labels import label_of

_compute: Any = pc
UNKNOWN_MS = np.iinfo(np.int64).min
"""A missing time."""


def names_before_colons(texts: pa.Array) -> dict[int, tuple[str, bool]]:
    """Return what ``label_of`` finds in each sentence in which it finds a label."""
    rows = np.flatnonzero(np.asarray(_compute.fill_null(_compute.match_substring(texts, " :"), False), dtype=bool))
    said = _compute.take(texts, pa.array(rows)).to_pylist()
    return {row: label for row, text in zip(rows.tolist(), said, strict=True) if (label := label_of(text)) is not None}


@dataclass(frozen=True)
class Sentences:
    """Flattened ``sentences`` of ``subtitles.files``.

    Attributes:
        text: one string per sentence, never null.
        file: position of the sentence's file in the batch.
        offsets: start of each file's sentences, and the end of the last; one more than files.
        block_first, block_last: subtitle blocks of the first and last word.
        start_ms, end_ms: milliseconds from the film's start, or ``UNKNOWN_MS``.
    """

    text: pa.Array
    file: np.ndarray
    offsets: np.ndarray
    block_first: np.ndarray
    block_last: np.ndarray
    start_ms: np.ndarray
    end_ms: np.ndarray

    def __len__(self) -> int:
        return len(self.text)

    @classmethod
    def of(cls, column: pa.Array) -> "Sentences":
        """Flatten an Arrow ``list<struct<block_first, block_last, start_ms, end_ms, text, ...>>`` column."""
        lengths = np.asarray(_compute.fill_null(_compute.list_value_length(column), 0), dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        flat = column.flatten()

        def numbers(name: str, missing: int) -> np.ndarray:
            values = _compute.cast(_compute.struct_field(flat, name), pa.int64())
            return np.asarray(_compute.fill_null(values, missing), dtype=np.int64)

        return cls(
            text=_compute.fill_null(_compute.cast(_compute.struct_field(flat, "text"), pa.string()), ""),
            file=np.repeat(np.arange(len(lengths)), lengths),
            offsets=offsets,
            block_first=numbers("block_first", -1),
            block_last=numbers("block_last", -1),
            start_ms=numbers("start_ms", UNKNOWN_MS),
            end_ms=numbers("end_ms", UNKNOWN_MS),
        )

    @cached_property
    def first(self) -> np.ndarray:
        """Whether the sentence opens its file."""
        opens = np.zeros(len(self), dtype=bool)
        opens[self.offsets[:-1][np.diff(self.offsets) > 0]] = True
        return opens

    @cached_property
    def before_colons(self) -> dict[int, tuple[str, bool]]:
        """The names that ``names_before_colons`` finds."""
        return names_before_colons(self.text)

    @cached_property
    def same_block(self) -> np.ndarray:
        """Whether the sentence begins in the subtitle block in which its left neighbour ends."""
        shared = np.zeros(len(self), dtype=bool)
        shared[1:] = (self.block_first[1:] == self.block_last[:-1]) & (self.block_first[1:] >= 0)
        return shared & ~self.first

    @cached_property
    def silence_ms(self) -> np.ndarray:
        """Milliseconds from the left neighbour's end to the sentence's start, or ``UNKNOWN_MS``."""
        silence = np.full(len(self), UNKNOWN_MS, dtype=np.int64)
        known = (self.start_ms[1:] != UNKNOWN_MS) & (self.end_ms[:-1] != UNKNOWN_MS) & ~self.first[1:]
        silence[1:][known] = (self.start_ms[1:] - self.end_ms[:-1])[known]
        return silence

    def among(self, marked: np.ndarray) -> np.ndarray:
        """Return whether a marked sentence begins in the same block as the sentence.

        Where a file joins several CDs, blocks are numbered from 1 again, so that numbers recur.
        """
        again = self.first.copy()
        again[1:] |= (self.block_first[1:] < self.block_first[:-1]) & (self.block_first[1:] >= 0)
        keys = np.cumsum(again) * (int(self.block_first.max(initial=0)) + 2) + self.block_first + 1
        return np.isin(keys, np.unique(keys[marked]))
