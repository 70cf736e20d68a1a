"""The optimizer of the classifiers, its learning rates, and one update from many micro-batches."""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from udfs.models.batches import Encoded, collate
from udfs.models.classifiers.classifier import ENCODER, SequenceClassifier
from udfs.models.stepping import Stepper
from udfs.models.team import ALONE, Team

if TYPE_CHECKING:
    from udfs.models.classifiers.training import TrainingOptions


def adam(model: nn.Module, options: "TrainingOptions") -> torch.optim.Optimizer:
    """AdamW, without decay of the weights Adam; one group for each learning rate."""
    groups: dict[float, list[nn.Parameter]] = {}
    layers = encoder_layers(model)
    for name, value in model.named_parameters():
        if value.requires_grad:
            groups.setdefault(learning_rate(name, layers, options), []).append(value)
    # One kernel for all parameters; the CPU has it since torch 2.4.
    fused = torch.__version__ >= "2.4"
    return torch.optim.AdamW(
        [{"params": values, "lr": rate} for rate, values in groups.items()],
        lr=options.learning_rate, betas=(0.9, options.beta2), eps=options.epsilon,
        weight_decay=options.weight_decay, fused=fused,
    )  # fmt: skip


def encoder_layers(model: nn.Module) -> int:
    """How many transformer layers the model's encoder has."""
    found = (_layer(name) for name, _ in model.named_parameters())
    return 1 + max((layer for layer in found if layer is not None), default=-1)


def learning_rate(name: str, layers: int, options: "TrainingOptions") -> float:
    """A parameter's rate: the head's own, the top layer's, `layer_decay` times that for each layer further down.

    The embeddings, and whatever of the encoder belongs to no layer, lie below the first layer.
    """
    if not name.startswith(f"{ENCODER}."):
        return options.head_learning_rate or options.learning_rate
    layer = _layer(name)
    depth = layers if layer is None else layers - 1 - layer
    return options.learning_rate * options.layer_decay**depth


def _layer(name: str) -> int | None:
    found = re.search(r"\.layer\.(\d+)\.", name)
    return int(found[1]) if found else None


def learning_rate_factor(step: int, steps: int, options: "TrainingOptions") -> float:
    """Share of the learning rate at `step` (from 0) of `steps`: a linear rise, then `decay`."""
    rising = math.ceil(options.warmup_share * steps)
    if step < rising:
        return (step + 1) / rising
    if options.decay == "none":
        return 1.0
    return max(0.0, (steps - step) / max(1, steps - rising))


def schedule(optimizer: torch.optim.Optimizer, options: "TrainingOptions", steps: int) -> LambdaLR:
    """The learning rates' course over `steps` updates."""
    return LambdaLR(optimizer, lambda step: learning_rate_factor(step, steps, options))


class Update:
    """One optimizer step over a batch, in micro-batches whose gradients add up to the batch's mean.

    In a team each process takes its part of the batch, so that the number of updates, the rows of each and its
    gradient do not depend on how many processes there are.
    """

    def __init__(
        self,
        model: SequenceClassifier[Any],
        optimizer: torch.optim.Optimizer,
        scheduler: LambdaLR,
        options: "TrainingOptions",
        device: torch.device,
        team: Team = ALONE,
    ) -> None:
        self.model = model
        self.options, self.device, self.team = options, device, team
        self.network = team.wrapped(model)
        self.stepper = Stepper(model, optimizer, scheduler, options.precision, options.max_gradient_norm, device)
        self.average: AveragedModel | None = None
        if options.average_decay > 0:
            self.average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(options.average_decay))

    @property
    def trained(self) -> SequenceClassifier[Any]:
        """The model to judge and keep: of the averaged weights, where they are averaged."""
        return self.model if self.average is None else self.average.module  # type: ignore[return-value]

    def __call__(self, rows: Sequence[Encoded], truth: Tensor) -> float:
        """Learn from a batch; returns its mean loss."""
        own = list(self.team.part(len(rows)))
        # A process without rows takes part all the same, with a row that does not count.
        counts, own = float(bool(own)), own or [0]
        total = 0.0
        for start in range(0, len(own), self.options.batch_size):
            part = own[start : start + self.options.batch_size]
            last = start + self.options.batch_size >= len(own)
            with self.team.waiting(self.network, last):
                batch = collate([rows[index] for index in part], self.model.pad_id).to(self.device)
                with self.stepper.autocast():
                    logits = self.network(batch)
                summed = self.model.loss(logits.float(), truth[part].to(self.device), self.options.label_smoothing)
                loss = counts * summed / len(rows)
                # A team's gradients are averaged: times its size they are summed.
                self.stepper.backward(loss * self.team.size)
            total += float(loss.detach())
        self.stepper.step()
        if self.average is not None:
            self.average.update_parameters(self.model)
        return self.team.total(total, self.device)
