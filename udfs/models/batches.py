"""Token sequences in batches: the input of classifiers and of language models."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from udfs.devices import with_back_off

WIDTH_STEP = 8
NARROW = 32
NARROW_STEP = 2
"""Most turns have some ten tokens: up to this width, steps of 8 would make a quarter of the computation padding."""
ROW_STEP = 8
BATCH_TOKENS = 2048
"""Tokens up to which a batch of narrow rows is filled; below some 500, each takes a third more time on a CPU."""
_NUMPY = {torch.int64: np.int64, torch.float32: np.float32, torch.bool: np.bool_}


class Encoded(NamedTuple):
    """One text or dialogue as token ids, each with the factor that its token embedding is multiplied by.

    `types` are token types, for a network that reads them; () is the first type for all.
    """

    ids: tuple[int, ...]
    weights: tuple[float, ...]
    types: tuple[int, ...] = ()


@dataclass(frozen=True)
class Batch:
    """Right-padded rows (rows, width): ids, mask and types int64, weights float32."""

    ids: Tensor
    mask: Tensor
    weights: Tensor
    types: Tensor

    def to(self, device: torch.device) -> "Batch":
        return Batch(self.ids.to(device), self.mask.to(device), self.weights.to(device), self.types.to(device))


def unweighted(rows: Iterable[Sequence[int]]) -> list[Encoded]:
    """Return rows of token ids whose factors are 1."""
    return [Encoded(tuple(ids), (1.0,) * len(ids)) for ids in rows]


def padded(
    rows: Sequence[Sequence[float]], fill: float = 0, width: int = 0, dtype: torch.dtype = torch.int64
) -> Tensor:
    """Return right-padded rows (rows, width); the width is at least the longest row's length."""
    taken = _taken(rows, width)
    out = np.full(taken.shape, fill, dtype=_NUMPY[dtype])
    out[taken] = np.fromiter(chain.from_iterable(rows), dtype=out.dtype, count=int(taken.sum()))
    return torch.from_numpy(out)


def row_mask(rows: Sequence[Any], width: int = 0) -> Tensor:
    """Return the mask (rows, width) of right-padded rows with `ids`: 1 for a token, 0 for padding."""
    return torch.from_numpy(_taken([row.ids for row in rows], width).astype(np.int64))


def _taken(rows: Sequence[Sequence[float]], width: int) -> NDArray[np.bool_]:
    """Return which places (rows, width) of right-padded rows are not padding."""
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    return np.arange(max(width, int(lengths.max()))) < lengths[:, None]


def collate(rows: Sequence[Any], pad_id: int, width: int = 0) -> Batch:
    """Pad rows such as `Encoded` on the right to `width`, by default the longest row's length."""
    ids = padded([row.ids for row in rows], pad_id, width)
    width = ids.shape[1]
    weights = padded([row.weights for row in rows], 0.0, width, torch.float32)
    return Batch(ids, row_mask(rows, width), weights, padded([row.types for row in rows], 0, width))


def padded_width(length: int, max_tokens: int) -> int:
    """Return the width that a row is computed at: its length rounded up, whatever its neighbours are."""
    step = NARROW_STEP if length <= NARROW else WIDTH_STEP
    return max(length, min(-(-length // step) * step, max_tokens))


def batches_of_equal_width(widths: Iterable[int], batch_size: int, tokens: int = 0) -> Iterator[tuple[int, list[int]]]:
    """Yield (width, indices) with at most `batch_size` rows, or as many as `tokens` holds, of one width, widest first.

    Rows of one width are computed in one shape, so a row's score does not depend on how rows were
    spread over partitions.
    """
    by_width: dict[int, list[int]] = {}
    for index, width in enumerate(widths):
        by_width.setdefault(width, []).append(index)
    for width in sorted(by_width, reverse=True):
        indices = by_width[width]
        rows = max(batch_size, tokens // width)
        for start in range(0, len(indices), rows):
            yield width, indices[start : start + rows]


def mean_pooled(states: Tensor, mask: Tensor) -> Tensor:
    """Return the mean of each row's states (rows, width, size) without padding."""
    kept = mask.unsqueeze(-1).to(states.dtype)
    return (states * kept).sum(dim=1) / kept.sum(dim=1).clamp(min=1)


def answers_alike(
    rows: Sequence[Any], batch_size: int, max_tokens: int, answer: Callable[[Sequence[Any], int], Tensor]
) -> Tensor:
    """Return a network's answers (rows, ...) on the CPU; none depends on the number of other rows.

    Matrix products of very few rows take another path and differ in the last bit: batches are filled up. Answers stay
    on the device until all are there, so that it does not wait while the next batch is made.

    Args:
        rows: with `ids`; at least one.
        batch_size: rows in one batch; more of narrow rows, up to `BATCH_TOKENS`; fewer when memory does not suffice.
        max_tokens: width of the widest row.
        answer: from rows and their width to their answers, of one shape for all widths.
    """
    answers: list[Tensor] = []
    order: list[int] = []
    widths = [padded_width(len(row.ids), max_tokens) for row in rows]
    for width, indices in batches_of_equal_width(widths, batch_size, BATCH_TOKENS):

        def at_width(part: Sequence[Any], width: int = width) -> list[Tensor]:
            return [answer(part, width)]

        filler = [rows[indices[-1]]] * (-len(indices) % ROW_STEP)
        found = with_back_off(at_width, [*(rows[index] for index in indices), *filler])
        answers.append(torch.cat(found)[: len(indices)])
        order += indices
    places = torch.empty(len(rows), dtype=torch.int64)
    places[torch.tensor(order)] = torch.arange(len(rows))
    return torch.cat(answers).cpu()[places]


def batches_alike(
    lengths: Sequence[int], batch_size: int, generator: torch.Generator, pool: int = 50
) -> list[list[int]]:
    """Return one epoch's batches of indices: shuffled, sorted by length in pools of batches, shuffled again."""
    order = torch.randperm(len(lengths), generator=generator).tolist()
    batches: list[list[int]] = []
    for start in range(0, len(order), pool * batch_size):
        near = sorted(order[start : start + pool * batch_size], key=lambda index: lengths[index])
        batches += [near[first : first + batch_size] for first in range(0, len(near), batch_size)]
    return [batches[index] for index in torch.randperm(len(batches), generator=generator).tolist()]
