"""Token sequences in batches: what both networks read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor

from udfs.devices import with_back_off

WIDTH_STEP = 8
NARROW, NARROW_STEP = 32, 2
"""Most turns have some ten tokens: up to this width a step of 8 would compute a quarter of padding."""
ROW_STEP = 8


class Encoded(NamedTuple):
    """One text or dialogue as token ids, each with the factor its token embedding is multiplied by.

    `types` are the tokens' types, for a network that reads them; () is the first type for all.
    """

    ids: tuple[int, ...]
    weights: tuple[float, ...]
    types: tuple[int, ...] = ()


class HasIds(Protocol):
    """Whatever is read as token ids."""

    @property
    def ids(self) -> tuple[int, ...]: ...


class HasWeights(HasIds, Protocol):
    """What is read as token ids, each with its factor and its type, as an `Encoded` is."""

    @property
    def weights(self) -> tuple[float, ...]: ...

    @property
    def types(self) -> tuple[int, ...]: ...


Row = TypeVar("Row", bound=HasIds)


@dataclass(frozen=True)
class Batch:
    """Right-padded rows (rows, width): ids, mask and types int64, weights float32."""

    ids: Tensor
    mask: Tensor
    weights: Tensor
    types: Tensor

    def to(self, device: torch.device) -> "Batch":
        return Batch(self.ids.to(device), self.mask.to(device), self.weights.to(device), self.types.to(device))


def collate(rows: Sequence[HasWeights], pad_id: int, width: int | None = None) -> Batch:
    """Pad `rows` on the right to `width`, by default the longest row's length."""
    width = width or max(len(row.ids) for row in rows)
    ids = torch.full((len(rows), width), pad_id, dtype=torch.int64)
    mask = torch.zeros((len(rows), width), dtype=torch.int64)
    weights = torch.zeros((len(rows), width), dtype=torch.float32)
    types = torch.zeros((len(rows), width), dtype=torch.int64)
    for index, row in enumerate(rows):
        ids[index, : len(row.ids)] = torch.tensor(row.ids, dtype=torch.int64)
        mask[index, : len(row.ids)] = 1
        weights[index, : len(row.ids)] = torch.tensor(row.weights, dtype=torch.float32)
        if row.types:
            types[index, : len(row.ids)] = torch.tensor(row.types, dtype=torch.int64)
    return Batch(ids, mask, weights, types)


def padded_width(length: int, max_tokens: int) -> int:
    """The width a row is always computed at: its own length rounded up, whatever its neighbours are."""
    step = NARROW_STEP if length <= NARROW else WIDTH_STEP
    return max(length, min(-(-length // step) * step, max_tokens))


def batches_of_equal_width(rows: Sequence[HasIds], batch_size: int, max_tokens: int) -> Iterator[tuple[int, list[int]]]:
    """Yield (width, indices) with at most `batch_size` rows of one padded width, the longest first.

    Rows of one width are computed in one shape, so a row's score does not depend on how rows were
    spread over partitions.
    """
    by_width: dict[int, list[int]] = {}
    for index, row in enumerate(rows):
        by_width.setdefault(padded_width(len(row.ids), max_tokens), []).append(index)
    for width in sorted(by_width, reverse=True):
        indices = by_width[width]
        for start in range(0, len(indices), batch_size):
            yield width, indices[start : start + batch_size]


def mean_pooled(states: Tensor, mask: Tensor) -> Tensor:
    """The mean of a row's states (rows, width, size), padding left out."""
    kept = mask.unsqueeze(-1).to(states.dtype)
    return (states * kept).sum(dim=1) / kept.sum(dim=1).clamp(min=1)


def answers_alike(
    rows: Sequence[Row], batch_size: int, max_tokens: int, answer: Callable[[Sequence[Row], int], list[Tensor]]
) -> list[Tensor]:
    """A network's answer to each row, in order; it does not depend on how many neighbours a row has.

    Matrix products of very few rows take another path and differ in the last bit: batches are filled up.

    Args:
        rows: any number.
        batch_size: rows the network sees at once; fewer when they do not fit into memory.
        max_tokens: the widest row.
        answer: from rows and their width to one tensor a row, on the CPU.
    """
    answers: dict[int, Tensor] = {}
    for width, indices in batches_of_equal_width(rows, batch_size, max_tokens):

        def at_width(part: Sequence[Row], width: int = width) -> list[Tensor]:
            return answer(part, width)

        filler = [rows[indices[-1]]] * (-len(indices) % ROW_STEP)
        found = with_back_off(at_width, [*(rows[index] for index in indices), *filler])
        answers.update(zip(indices, found, strict=False))
    return [answers[index] for index in range(len(rows))]


def batches_alike(
    lengths: Sequence[int], batch_size: int, generator: torch.Generator, pool: int = 50
) -> list[list[int]]:
    """One epoch's batches of indices: shuffled, sorted by length in pools of batches, shuffled again."""
    order = torch.randperm(len(lengths), generator=generator).tolist()
    batches: list[list[int]] = []
    for start in range(0, len(order), pool * batch_size):
        near = sorted(order[start : start + pool * batch_size], key=lambda index: lengths[index])
        batches += [near[first : first + batch_size] for first in range(0, len(near), batch_size)]
    return [batches[index] for index in torch.randperm(len(batches), generator=generator).tolist()]
