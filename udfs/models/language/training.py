"""The training loop of models that write: the loss is of a token, and a killed training goes on."""

import hashlib
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from conf.errors import InputError
from udfs.devices import training_device
from udfs.models.batches import batches_alike
from udfs.models.checkpoints import Checkpoints, put_weights, weights_digest, weights_of
from udfs.models.classifiers.training import reproducible
from udfs.models.language.language_model import (
    LanguageEpoch,
    LanguageModel,
    LanguageOptions,
    LanguageResult,
    mean_loss,
    perplexity_of,
)
from udfs.models.stepping import Stepper
from udfs.models.team import ALONE, Team

PROGRESS_SECONDS = 15.0


def fit_language_model(
    model: LanguageModel,
    train: Sequence[Any],
    valid: Sequence[Any],
    options: LanguageOptions,
    out_dir: Path,
    on_epoch: Callable[[LanguageEpoch], None] | None = None,
    progress: Callable[[str], None] = print,
    team: Team = ALONE,
    checkpoints: Path | None = None,
    on_update: Callable[[int, float], None] | None = None,
) -> LanguageResult:
    """Train `model`, an update on the mean loss of the tokens of `options.effective_batch` rows; save it to `out_dir`.

    All processes of a team call it with the same model and rows; the one that leads writes and tells.

    Args:
        train, valid: the model's encoded rows.
        checkpoints: folder for the state after each epoch, for this training alone. A training of the same start,
            rows and options that finds one there goes on from it, to the same weights; it is empty in the end.
        on_update: told each update's number, from 1, and the mean loss of its tokens.

    Raises:
        InputError: no rows, or none with a token that counts.
        ArithmeticError: the loss is no longer a number.
    """
    for rows, what in ((train, "training"), (valid, "validation")):
        if not rows or not model.counted(rows):
            raise InputError(f"no {what} rows with a token to learn from: check the files")
    with reproducible(options.seed, options.threads):
        return _Course(model, train, valid, options, team, progress, on_update).run(out_dir, on_epoch, checkpoints)


@dataclass
class _State:
    """What a checkpoint carries beside tensors."""

    history: list[LanguageEpoch] = field(default_factory=list)
    updates: int = 0
    seconds: float = 0.0
    scale: dict[str, Any] = field(default_factory=dict)

    @property
    def best(self) -> LanguageEpoch:
        return min(self.history, key=lambda epoch: epoch.validation_loss)


class _Course:
    """A training from its first epoch, or the one after its last checkpoint, to its end."""

    def __init__(
        self,
        model: LanguageModel,
        train: Sequence[Any],
        valid: Sequence[Any],
        options: LanguageOptions,
        team: Team,
        progress: Callable[[str], None],
        on_update: Callable[[int, float], None] | None,
    ) -> None:
        self.model, self.train, self.valid, self.options, self.team = model, train, valid, options, team
        self.on_update = on_update if team.leads else None
        self.say = progress if team.leads else _silent
        self.lengths = model.lengths(train)
        device = training_device(options.device)
        self.training = self._digest()
        model.to(device)
        self.network = team.wrapped(model, model.blocks())
        self.optimizer = torch.optim.AdamW(
            [value for value in model.parameters() if value.requires_grad],
            lr=options.learning_rate, betas=options.betas, eps=options.epsilon, weight_decay=options.weight_decay,
            fused=torch.__version__ >= "2.4",
        )  # fmt: skip
        self.per_epoch = math.ceil(len(train) / options.effective_batch)
        steps = self.per_epoch * options.epochs
        self.scheduler = LambdaLR(self.optimizer, lambda step: rate_factor(step, steps, options))
        self.stepper = Stepper(
            model, self.optimizer, self.scheduler, options.precision, options.max_gradient_norm, device
        )
        self.shuffler = torch.Generator().manual_seed(options.seed)
        self.state = _State()
        self.best: dict[str, Tensor] | None = None

    def run(
        self, out_dir: Path, on_epoch: Callable[[LanguageEpoch], None] | None, folder: Path | None
    ) -> LanguageResult:
        options, state = self.options, self.state
        kept = Checkpoints(folder, self.training) if folder is not None else None
        if kept is not None:
            self._restore(kept)
            state = self.state
        for epoch in range(len(state.history) + 1, options.epochs + 1):
            if self._out_of_patience():
                break
            began = time.monotonic()
            train_loss = self._epoch(epoch)
            loss = mean_loss(self.model, self.valid, options.batch_size)
            seconds = time.monotonic() - began
            state.seconds += seconds
            state.history.append(LanguageEpoch(epoch, train_loss, loss, perplexity_of(loss), seconds))
            self.say(_line(state.history[-1], options.epochs))
            if options.keep == "best" and state.best is state.history[-1]:
                self.best = weights_of(self.model, self.team.leads or not self.team.sharded)
            if on_epoch is not None and self.team.leads:
                on_epoch(state.history[-1])
            if kept is not None and (self.team.leads or self.team.sharded):
                state.scale = self.stepper.scaler.state_dict()
                kept.save(
                    epoch, self.model, self.best, self.optimizer, self.shuffler, asdict(state), self.team.leads
                )  # fmt: skip
        path = self._saved(out_dir)
        if kept is not None and self.team.leads:
            kept.clear()
        chosen = state.best if options.keep == "best" else state.history[-1]
        metrics = {"loss": chosen.validation_loss, "perplexity": chosen.validation_perplexity}
        return LanguageResult(path, metrics, tuple(state.history), chosen.epoch, state.seconds, options)

    def _saved(self, out_dir: Path) -> Path:
        """The kept weights, in the model and in `out_dir`; a sharded model's are in `out_dir` alone."""
        if self.team.sharded:
            weights = weights_of(self.model, self.team.leads) if self.best is None else self.best
            return self.model.save(out_dir, weights) if self.team.leads else out_dir
        if self.best is not None:
            put_weights(self.model, self.best)
        self.model.to("cpu").eval()
        return self.model.save(out_dir) if self.team.leads else out_dir

    def _epoch(self, epoch: int) -> float:
        self.model.train()
        total, tokens, told, started = 0.0, 0, time.monotonic(), time.monotonic()
        batches = batches_alike(self.lengths, self.options.effective_batch, self.shuffler)
        for number, places in enumerate(batches, start=1):
            loss, count = self._update([self.train[place] for place in places])
            if not math.isfinite(loss):
                raise ArithmeticError(f"the loss is {loss} in epoch {epoch}: lower learning_rate or use fp32")
            total, tokens = total + loss, tokens + count
            if time.monotonic() - told >= PROGRESS_SECONDS:
                told = time.monotonic()
                left = (told - started) / number * (self.per_epoch * (self.options.epochs - epoch + 1) - number)
                self.say(
                    f"epoch {epoch}/{self.options.epochs}, step {number}/{self.per_epoch}, "
                    f"loss {loss / max(1, count):.3f}, {left / 60:.1f} minutes left"
                )
        return total / max(1, tokens)

    def _update(self, rows: Sequence[Any]) -> tuple[float, int]:
        """Learn from an effective batch: the sum of its tokens' losses, and their number."""
        own, tokens = self.team.part(len(rows)), self.model.counted(rows)
        size, total = self.options.batch_size, 0.0
        most = math.ceil(len(rows) / self.team.size)
        for start in range(0, most, size):
            # A process without rows takes part all the same, with a row that does not count.
            places = own[start : start + size]
            part = [rows[place] for place in places or [0]]
            with self.team.waiting(self.network, start + size >= most):
                with self.stepper.autocast():
                    loss = float(bool(places)) * self.network(part, self.options.label_smoothing)
                # A team's gradients are averaged: times its size they are summed.
                self.stepper.backward(loss * (self.team.size / max(1, tokens)))
            total += float(loss.detach())
        self.stepper.step()
        self.state.updates += 1
        total = self.team.total(total, self.stepper.device)
        if self.on_update is not None:
            self.on_update(self.state.updates, total / max(1, tokens))
        return total, tokens

    def _restore(self, kept: Checkpoints) -> None:
        found = kept.restore(self.model, self.optimizer, self.shuffler)
        if found is None:
            return
        course, self.best = found
        history = [LanguageEpoch(**epoch) for epoch in course["history"]]
        self.state = _State(history, course["updates"], course["seconds"], course["scale"])
        if self.state.scale:
            self.stepper.scaler.load_state_dict(self.state.scale)
        self.scheduler.last_epoch = self.state.updates
        for group, base in zip(self.optimizer.param_groups, self.scheduler.base_lrs, strict=True):
            group["lr"] = base * self.scheduler.lr_lambdas[0](self.state.updates)
        self.say(f"goes on after epoch {len(history)}/{self.options.epochs}, from its checkpoint")

    def _out_of_patience(self) -> bool:
        history, patience = self.state.history, self.options.patience
        return patience is not None and bool(history) and len(history) - self.state.best.epoch >= patience

    def _digest(self) -> str:
        """Of the start, the rows' sizes and the options."""
        facts = [asdict(self.options), self.lengths, self.model.lengths(self.valid), weights_digest(self.model)]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def rate_factor(step: int, steps: int, options: LanguageOptions) -> float:
    """Share of the learning rate at `step` (from 0) of `steps`: a linear rise, then `decay`."""
    rising = min(options.warmup_steps, steps)
    if step < rising:
        return (step + 1) / rising
    if options.decay == "none":
        return 1.0
    return max(0.0, (steps - step) / max(1, steps - rising))


def _silent(line: str) -> None:
    """What processes that do not lead say."""


def _line(epoch: LanguageEpoch, epochs: int) -> str:
    return (
        f"epoch {epoch.epoch}/{epochs}: train loss {epoch.train_loss:.4f}, validation loss "
        f"{epoch.validation_loss:.4f}, perplexity {epoch.validation_perplexity:.2f}, {epoch.seconds:.0f} s"
    )
