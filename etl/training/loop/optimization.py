"""The optimizer of all trainings: learning rates, precision, gradient scaling and clipping."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from conf.training_options import TrainingOptions
from udfs.devices import autocast, chosen_precision
from udfs.models.trainable import TrainableModel


def adamw(model: TrainableModel, options: TrainingOptions) -> torch.optim.Optimizer:
    """Return AdamW with one parameter group for each learning rate; without weight decay it is Adam."""
    parameters = dict(model.named_parameters())
    groups: dict[float, list[nn.Parameter]] = {}
    for name, rate in model.learning_rates(options).items():
        groups.setdefault(rate, []).append(parameters[name])
    return torch.optim.AdamW(
        [{"params": values, "lr": rate} for rate, values in groups.items()],
        lr=options.learning_rate,
        betas=(0.9, options.beta2),
        eps=options.epsilon,
        weight_decay=options.weight_decay,
        fused=torch.__version__ >= "2.4",  # the CPU has the kernel since 2.4
    )


def learning_rate_factor(step: int, steps: int, options: TrainingOptions) -> float:
    """Return the factor of the learning rate at `step` (from 0) of `steps`: a linear warmup, then `decay`."""
    rising = min(steps, max(options.warmup_steps, math.ceil(options.warmup_share * steps)))
    if step < rising:
        return (step + 1) / rising
    if options.decay == "none":
        return 1.0
    return max(0.0, (steps - step) / max(1, steps - rising))


def schedule(optimizer: torch.optim.Optimizer, options: TrainingOptions, steps: int) -> LambdaLR:
    """Return the scheduler of the learning rates over `steps` updates."""
    return LambdaLR(optimizer, lambda step: learning_rate_factor(step, steps, options))


def go_to_step(scheduler: LambdaLR, step: int) -> None:
    """Set the learning rates to those after `step` updates."""
    scheduler.last_epoch = step
    for group, base, factor in zip(
        scheduler.optimizer.param_groups, scheduler.base_lrs, scheduler.lr_lambdas, strict=True
    ):
        group["lr"] = base * factor(step)


class OptimizerStep:
    """The updates of an optimizer in one precision.

    accelerate 1.15 makes bit-identical updates, as fast at MiniLM's size and 1.5 times slower for a tiny model. But it
    fixes the precision of the whole process with its first use, and one driver trains many models.

    Args:
        model: its gradients are clipped together.
        options: `precision` and `max_gradient_norm` are used.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        scheduler: LambdaLR,
        options: TrainingOptions,
        device: torch.device,
    ) -> None:
        self.model = model
        self.optimizer = optimizer
        self.scheduler = scheduler
        self.max_gradient_norm = options.max_gradient_norm
        self.device = device
        self.dtype = chosen_precision(options.precision, device).dtype
        self.scaler = torch.amp.GradScaler(device.type, enabled=self.dtype == torch.float16)

    def autocast(self) -> Any:
        """Return the context manager for the forward pass of a micro-batch."""
        return autocast(self.device, self.dtype)

    def backward(self, loss: Tensor) -> None:
        """Add a micro-batch's gradients."""
        self.scaler.scale(loss).backward()

    def step(self) -> None:
        """Update the parameters from the accumulated gradients, and clear these."""
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.max_gradient_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        self.scheduler.step()
