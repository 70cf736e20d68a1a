"""Models that write: what they have in common, how they are measured, and what their training is asked and gives."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn


class LanguageModel(nn.Module):
    """A model that writes. Its rows are of its own kind: what its `encode` makes of texts."""

    kind: ClassVar[str]

    @abstractmethod
    def lengths(self, rows: Sequence[Any]) -> list[int]:
        """What each row costs, in tokens: rows of like length are batched."""

    @abstractmethod
    def counted(self, rows: Sequence[Any]) -> int:
        """How many tokens of the rows the loss is of: padding and what is only read are left out."""

    @abstractmethod
    def forward(self, rows: Sequence[Any], label_smoothing: float = 0.0) -> Tensor:
        """The SUM over the counted tokens of their negative log-likelihood in nats, as fp32."""

    @abstractmethod
    def save(self, folder: Path, weights: Mapping[str, Tensor] | None = None) -> Path:
        """Write the model to `folder`, without pickles, and return it.

        Args:
            weights: by parameter, where the model itself holds a part of them alone.
        """

    def blocks(self) -> list[nn.Module]:
        """The layers that follow each other: what a sharded training holds whole, one at a time."""
        return []


def network_state(weights: Mapping[str, Tensor] | None) -> dict[str, Tensor] | None:
    """The weights that `save` is given as the state of the model's `network`; None: its own."""
    return None if weights is None else {name.removeprefix("network."): value for name, value in weights.items()}


@dataclass(frozen=True)
class LanguageOptions:
    """How a model that writes is trained.

    Attributes:
        batch_size: rows the device sees at once.
        effective_batch: rows an optimizer step sees, gradients added up over batches.
        warmup_steps: updates in which the rate rises from 0.
        decay: `linear` to 0 after the warm-up, or `none`.
        weight_decay: AdamW's; with 0 it is Adam.
        keep: the epoch of the lowest validation loss, or the last.
        patience: end after so many epochs without a lower validation loss; None goes through all.
        precision: `auto` is what the hardware does fast (`udfs.devices.chosen_precision`).
        threads: CPU threads; with the seed part of what makes a training repeatable.
    """

    epochs: int = 1
    batch_size: int = 2
    effective_batch: int = 2
    learning_rate: float = 5e-5
    warmup_steps: int = 0
    decay: Literal["linear", "none"] = "linear"
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    label_smoothing: float = 0.0
    max_gradient_norm: float = 1.0
    keep: Literal["best", "last"] = "best"
    patience: int | None = None
    seed: int = 13
    threads: int = 2
    precision: Literal["auto", "fp32", "bf16", "fp16"] = "auto"
    device: str = "auto"


@dataclass(frozen=True)
class LanguageEpoch:
    """One epoch: losses are mean negative log-likelihoods of a token in nats, the training one with dropout."""

    epoch: int
    train_loss: float
    validation_loss: float
    validation_perplexity: float
    seconds: float


@dataclass(frozen=True)
class LanguageResult:
    """A finished training.

    Attributes:
        path: folder of the kept model.
        metrics: its figures on the validation rows: `loss`, `perplexity`, both of a token.
        history: every epoch.
        best_epoch: the kept one, from 1.
        seconds: of training, those before an interruption counted.
    """

    path: Path
    metrics: dict[str, float]
    history: tuple[LanguageEpoch, ...]
    best_epoch: int
    seconds: float
    options: LanguageOptions


@torch.inference_mode()
def mean_loss(model: LanguageModel, rows: Sequence[Any], batch_size: int) -> float:
    """Mean negative log-likelihood of a counted token, in nats: all tokens count alike, whatever row they are of."""
    model.eval()
    lengths = model.lengths(rows)
    order = sorted(range(len(rows)), key=lambda place: lengths[place])
    total = 0.0
    for start in range(0, len(order), batch_size):
        total += float(model([rows[place] for place in order[start : start + batch_size]]))
    return total / model.counted(rows)


def perplexity(model: LanguageModel, rows: Sequence[Any], batch_size: int) -> float:
    """Of a token: e to the `mean_loss`."""
    return perplexity_of(mean_loss(model, rows, batch_size))


def perplexity_of(loss: float) -> float:
    """e to the loss of a token; a hopeless one stays a number."""
    return math.exp(min(loss, 700.0))
