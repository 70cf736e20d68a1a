"""The base class of models that write text, and their perplexity."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from conf.errors import InputError
from udfs.models.trainable import TrainableModel


class LanguageModel(TrainableModel):
    """A model that writes text; its `encode` makes rows of texts, and its loss is the mean over tokens.

    `counted` excludes padding and tokens that do not count in the loss. `forward` sums negative log-likelihoods in
    nats.
    """

    loss_metric = "loss"
    epoch_metrics = ("perplexity",)

    def check(self, rows: Sequence[Any], what: str) -> None:
        if not rows or not self.counted(rows):
            raise InputError(f"no {what} rows with a token to learn from: check the files")

    def validate(self, rows: Sequence[Any], batch_size: int) -> dict[str, float]:
        loss = mean_loss(self, rows, batch_size)
        return {"loss": loss, "perplexity": perplexity_of(loss)}


def network_state(weights: Mapping[str, Tensor] | None) -> dict[str, Tensor] | None:
    """Return weights by parameter as the state of the model's `network`; None for None."""
    return None if weights is None else {name.removeprefix("network."): value for name, value in weights.items()}


@torch.inference_mode()
def mean_loss(model: LanguageModel, rows: Sequence[Any], batch_size: int) -> float:
    """Return the mean loss of a counted token in nats; all tokens of all rows have the same weight."""
    model.eval()
    lengths = model.lengths(rows)
    order = sorted(range(len(rows)), key=lambda place: lengths[place])
    total = 0.0
    for start in range(0, len(order), batch_size):
        total += float(model([rows[place] for place in order[start : start + batch_size]]))
    return total / model.counted(rows)


def perplexity(model: LanguageModel, rows: Sequence[Any], batch_size: int) -> float:
    """Return e to the `mean_loss`."""
    return perplexity_of(mean_loss(model, rows, batch_size))


def perplexity_of(loss: float) -> float:
    """Return e to the loss of a token, limited so that it does not overflow."""
    return math.exp(min(loss, 700.0))
