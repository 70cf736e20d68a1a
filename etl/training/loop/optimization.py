"""The optimizer of all trainings, its learning rates by parameter, and their course."""

import math

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from conf.training_options import TrainingOptions
from udfs.models.trainable import TrainableModel


def adamw(model: TrainableModel, options: TrainingOptions) -> torch.optim.Optimizer:
    """Return AdamW, without decay of the weights Adam, with one group of parameters for each learning rate."""
    parameters = dict(model.named_parameters())
    groups: dict[float, list[nn.Parameter]] = {}
    for name, rate in model.learning_rates(options).items():
        groups.setdefault(rate, []).append(parameters[name])
    # One kernel for all parameters; the CPU has it since torch 2.4.
    fused = torch.__version__ >= "2.4"
    return torch.optim.AdamW(
        [{"params": values, "lr": rate} for rate, values in groups.items()],
        lr=options.learning_rate, betas=(0.9, options.beta2), eps=options.epsilon,
        weight_decay=options.weight_decay, fused=fused,
    )  # fmt: skip


def learning_rate_factor(step: int, steps: int, options: TrainingOptions) -> float:
    """Return the share of the learning rate at `step` (from 0) of `steps`: a linear rise, then `decay`."""
    rising = min(steps, max(options.warmup_steps, math.ceil(options.warmup_share * steps)))
    if step < rising:
        return (step + 1) / rising
    if options.decay == "none":
        return 1.0
    return max(0.0, (steps - step) / max(1, steps - rising))


def schedule(optimizer: torch.optim.Optimizer, options: TrainingOptions, steps: int) -> LambdaLR:
    """Return the learning rates' course over `steps` updates."""
    return LambdaLR(optimizer, lambda step: learning_rate_factor(step, steps, options))


def go_to_step(scheduler: LambdaLR, step: int) -> None:
    """Set the learning rates to those after `step` updates."""
    scheduler.last_epoch = step
    for group, base, factor in zip(
        scheduler.optimizer.param_groups, scheduler.base_lrs, scheduler.lr_lambdas, strict=True
    ):
        group["lr"] = base * factor(step)
