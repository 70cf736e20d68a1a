"""Decoding a batch that shrinks: rows whose text has ended leave it, so that long answers do not hold up short ones."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteria, StoppingCriteriaList


class RowRule(Protocol):
    """A logits processor with something of its own for each row."""

    def keep(self, places: Sequence[int]) -> None:
        """Go on with these rows, in this order; a row may be there twice."""


class BatchRules(NamedTuple):
    """How the rows of a batch are decoded.

    Attributes:
        rules: of the kind ``RowRule``.
        stops: what ends a row besides the tokens of ``config.eos_token_id``.
        config: without bounds of length.
        step: rows are computed in multiples of it; whenever so many have ended, the others go on without them.
    """

    rules: Sequence[Any]
    stops: StoppingCriteria | None
    config: GenerationConfig
    step: int


def write_rows(network: Any, ids: Tensor, mask: Tensor, most: Sequence[int], how: BatchRules) -> list[list[int]]:
    """Return the new tokens of each row, its end and perhaps some padding after it among them.

    Args:
        network: a causal language model.
        ids, mask: (rows, width), padded on the left.
        most: new tokens of each row.
    """
    rules, stops, config, step = how
    width, ends = ids.shape[1], torch.tensor(config.eos_token_id, device=ids.device)
    answers: list[list[int]] = [[] for _ in most]
    rows = list(range(len(most)))
    ids, mask, cache = _kept(rows, ids, mask, None, rules, step)
    while rows:
        written = ids.shape[1] - width
        bounds = torch.tensor([most[row] for row in rows], device=ids.device)
        ended = _RowEnds(width, ends, bounds, stops, step)
        config.max_new_tokens = int(bounds.max()) - written
        out = network.generate(
            input_ids=ids, attention_mask=mask, past_key_values=cache, generation_config=config,
            logits_processor=LogitsProcessorList(rules), stopping_criteria=StoppingCriteriaList([ended]),
        )  # fmt: skip
        ids = out.sequences
        gone = ended.rows.tolist()
        for place, row in enumerate(rows):
            if gone[place]:
                answers[row] = ids[place, width:].tolist()
        left = [place for place, one in enumerate(gone) if not one]
        rows = [rows[place] for place in left]
        if rows:
            mask = torch.cat([mask, mask.new_ones(len(mask), ids.shape[1] - mask.shape[1])], dim=1)
            ids, mask, cache = _kept(left, ids, mask, out.past_key_values, rules, step)
    return answers


def _kept(
    places: Sequence[int], ids: Tensor, mask: Tensor, cache: Any, rules: Sequence[RowRule], step: int
) -> tuple[Tensor, Tensor, Any]:
    """These rows, filled up with the last of them: products of very few rows take another path."""
    filled = [*places, *[places[-1]] * (-len(places) % step)]
    chosen = torch.tensor(filled, device=ids.device)
    for rule in rules:
        rule.keep(filled)
    if cache is not None:
        cache.batch_select_indices(chosen)
    return ids[chosen], mask[chosen], cache


class _RowEnds(StoppingCriteria):
    """Ends each row at its own end, and all once the rows that go on fit into a smaller batch.

    Attributes:
        rows: (rows,) those that have ended; rows that only fill the batch are not among them.
    """

    def __init__(self, width: int, ends: Tensor, most: Tensor, stops: StoppingCriteria | None, step: int) -> None:
        self._width, self._ends, self._most, self._stops, self._step = width, ends, most, stops, step
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
