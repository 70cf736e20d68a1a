"""Decoding rules that treat each row of a batch separately: repetition penalty, sampling, stop texts."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import LogitsProcessor, RepetitionPenaltyLogitsProcessor, StoppingCriteria

FEW = 1024
"""Number of the likeliest tokens, which nearly always include all of top-p."""


class RowPenalty(LogitsProcessor):
    """The usual repetition penalty, which ignores padding.

    Many models pad with the end token. Without this class, padded rows alone would be penalised for it.
    """

    def __init__(self, penalty: float, mask: Tensor) -> None:
        self._penalty = RepetitionPenaltyLogitsProcessor(penalty)
        self._mask = mask.bool()

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        width = self._mask.shape[1]
        seen = input_ids.clone()
        # Left padding: the last place of the prompt is a real token of the row.
        seen[:, :width] = torch.where(self._mask, input_ids[:, :width], input_ids[:, width - 1 : width])
        return self._penalty(seen, scores)

    def keep(self, places: Sequence[int]) -> None:
        self._mask = self._mask[list(places)]


class RowSampling(LogitsProcessor):
    """Top-p sampling with a random generator for each row; the scores then allow only the drawn token.

    transformers draws all rows of a batch from one stream, so a row's answer depends on the other rows. Here each step
    draws one number from the row's stream and looks it up in the row's cumulative probabilities.
    """

    def __init__(self, seeds: Sequence[int], temperature: float, top_p: float) -> None:
        self._streams = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._temperature = temperature
        self._top_p = top_p

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        probabilities = torch.softmax(scores.double() / self._temperature, dim=-1)
        falling, order = _likeliest(probabilities, self._top_p)
        before = falling.cumsum(dim=-1) - falling
        falling = falling * (before < self._top_p)
        drawn = torch.tensor([[torch.rand((), generator=one).item()] for one in self._streams], dtype=torch.float64)
        reached = falling.cumsum(dim=-1)
        place = (reached <= drawn.to(scores.device) * reached[:, -1:]).sum(dim=-1, keepdim=True)
        token = order.gather(1, place.clamp(max=order.shape[1] - 1))
        return torch.full_like(scores, float("-inf")).scatter(1, token, 0.0)

    def keep(self, places: Sequence[int]) -> None:
        self._streams = [self._streams[place].clone_state() for place in places]


def _likeliest(probabilities: Tensor, top_p: float) -> tuple[Tensor, Tensor]:
    """Return the highest probabilities in decreasing order, with their tokens; among equals the lower token is first.

    Sorting a whole vocabulary takes as long as a small network's step, so only `FEW` tokens are sorted where they
    include all of top-p.
    """
    if probabilities.shape[-1] > FEW:
        few = probabilities.topk(FEW, dim=-1)
        # topk may miss some tokens that are as likely as the last one.
        enough = (few.values * (few.values > few.values[:, -1:])).sum(dim=-1) > top_p + 1e-9
        if bool(enough.all()):
            tokens = few.indices.sort(dim=-1).values
            falling, order = probabilities.gather(1, tokens).sort(dim=-1, descending=True, stable=True)
            return falling, tokens.gather(1, order)
    falling, order = probabilities.sort(dim=-1, descending=True, stable=True)
    return falling, order


class RowStops(StoppingCriteria):
    """Ends a row when the end of its answer contains a stop text, however that text is tokenized."""

    def __init__(self, stops: Sequence[str], tokenizer: Any, width: int) -> None:
        self._stops = tuple(stops)
        self._tokenizer = tokenizer
        self._width = width
        self._reach = max(map(len, stops)) + 1

    def __call__(self, input_ids: Tensor, scores: Tensor, **kwargs: Any) -> Tensor:
        last = input_ids[:, max(self._width, input_ids.shape[1] - self._reach) :].tolist()
        texts = [self._tokenizer.decode(row, skip_special_tokens=True) for row in last]
        ended = [any(stop in text for stop in self._stops) for text in texts]
        return torch.tensor(ended, dtype=torch.bool, device=input_ids.device)
