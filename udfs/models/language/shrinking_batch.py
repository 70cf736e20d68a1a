"""Decoding of a batch that shrinks: finished rows are removed, so that they do not wait for longer answers."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList


class RowRule(Protocol):
    """A logits processor with state for each row."""

    def keep(self, places: Sequence[int]) -> None:
        """Keep the state of these rows, in this order; a row may occur twice."""


class BatchRules(NamedTuple):
    """The decoding settings of a batch.

    Attributes:
        rules: logits processors of the type ``RowRule``.
        stops: ends a row, as the tokens of ``config.eos_token_id`` do.
        config: without length limits.
        step: the batch size is a multiple of it; the batch shrinks when that many rows have ended.
    """

    rules: Sequence[Any]
    stops: StoppingCriteria | None
    config: GenerationConfig
    step: int


def write_rows(network: Any, ids: Tensor, mask: Tensor, most: Sequence[int], how: BatchRules) -> list[list[int]]:
    """Return the new tokens of each row, including its end token and possibly padding after it.

    Args:
        ids, mask: (rows, width), padded on the left.
        most: limit on the new tokens of each row.
    """
    rules, stops, config, step = how
    width = ids.shape[1]
    ends = torch.tensor(config.eos_token_id, device=ids.device)
    answers: list[list[int]] = [[] for _ in most]
    rows = list(range(len(most)))
    ids, mask, cache = _kept(rows, ids, mask, None, rules, step)
    while rows:
        written = ids.shape[1] - width
        bounds = torch.tensor([most[row] for row in rows], device=ids.device)
        ended = _RowEnds(width, ends, bounds, stops, step)
        config.max_new_tokens = int(bounds.max()) - written
        out = network.generate(
            input_ids=ids,
            attention_mask=mask,
            past_key_values=cache,
            generation_config=config,
            logits_processor=LogitsProcessorList(rules),
            stopping_criteria=StoppingCriteriaList([ended]),
        )
        ids = out.sequences
        finished = ended.rows.tolist()
        for place, row in enumerate(rows):
            if finished[place]:
                answers[row] = ids[place, width:].tolist()
        left = [place for place, done in enumerate(finished) if not done]
        rows = [rows[place] for place in left]
        if rows:
            mask = torch.cat([mask, mask.new_ones(len(mask), ids.shape[1] - mask.shape[1])], dim=1)
            ids, mask, cache = _kept(left, ids, mask, out.past_key_values, rules, step)
    return answers


def _kept(
    places: Sequence[int], ids: Tensor, mask: Tensor, cache: Any, rules: Sequence[RowRule], step: int
) -> tuple[Tensor, Tensor, Any]:
    """Select rows, and repeat the last one up to a multiple of `step`, because tiny products take another path."""
    filled = [*places, *[places[-1]] * (-len(places) % step)]
    chosen = torch.tensor(filled, device=ids.device)
    for rule in rules:
        rule.keep(filled)
    if cache is not None:
        cache.batch_select_indices(chosen)
    return ids[chosen], mask[chosen], cache


class _RowEnds(StoppingCriteria):
    """Ends each row separately, and all rows once the unfinished ones fit into a smaller batch.

    Attributes:
        rows: (rows,) whether each row has ended; rows that only fill the batch are excluded.
    """

    def __init__(self, width: int, ends: Tensor, most: Tensor, stops: StoppingCriteria | None, step: int) -> None:
        self._width = width
        self._ends = ends
        self._most = most
        self._stops = stops
        self._step = step
        self.rows = torch.zeros_like(most, dtype=torch.bool)

    def __call__(self, input_ids: Tensor, scores: Tensor, **kwargs: Any) -> Tensor:
        number = len(self.rows)
        ended = torch.isin(input_ids[:, -1], self._ends)
        if self._stops is not None:
            ended |= self._stops(input_ids, scores)
        self.rows |= ended[:number] | (self._most <= input_ids.shape[1] - self._width)
        left = number - int(self.rows.sum())
        if -(-left // self._step) < -(-number // self._step):
            return torch.ones_like(ended)
        return torch.cat([self.rows, ended[number:]])
