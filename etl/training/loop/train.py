"""The training loop of all models, with gradient accumulation, selection of the best epoch and checkpoints."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from conf.training_options import TrainingOptions
from etl.training.loop.checkpoints import (
    Checkpoints,
    optimizer_state,
    put_optimizer_state,
    put_random_state,
    put_weights,
    random_state,
    training_digest,
    weights_of,
)
from etl.training.loop.optimization import OptimizerStep, adamw, go_to_step, schedule
from etl.training.loop.process_group import ALONE, ProcessGroup
from etl.training.loop.reproducible import reproducible
from udfs.devices import hardware_parameters, training_device
from udfs.models.batches import batches_alike
from udfs.models.trainable import EncodedRows, EpochMetrics, TrainableModel, TrainingResult, TrainingRows

PROGRESS_SECONDS = 15.0


@dataclass(frozen=True)
class TrainingContext:
    """The processes, checkpoints and callbacks of a training.

    Attributes:
        group: the processes that train the model together; all of them call `train_model` with the same rows.
        checkpoints: folder, or place in an object store, of this training's state after each epoch. One of the same
            start, rows and options resumes from it, to the same weights. It is deleted at the end.
        keep_checkpoint: do not delete it at the end, so that the same training again ends at once.
        on_epoch: called after each epoch.
        on_update: called with each update's number, from 1, and its mean loss.
        elsewhere: replaces `train_model` to train in other processes.
    """

    group: ProcessGroup = ALONE
    checkpoints: Path | str | None = None
    keep_checkpoint: bool = False
    on_epoch: Callable[[EpochMetrics], None] | None = None
    on_update: Callable[[int, float], None] | None = None
    say: Callable[[str], None] = print
    elsewhere: Callable[..., TrainingResult] | None = None


def train_model(
    start: Callable[[], TrainableModel],
    rows: TrainingRows,
    options: TrainingOptions,
    out_dir: Path,
    context: TrainingContext | None = None,
) -> TrainingResult:
    """Train a model, and save the epoch of the lowest validation loss, or the last epoch, to `out_dir`.

    Args:
        start: returns the model; it is called after torch is seeded.
        rows: in the form that the model's `encode_rows` takes.

    Raises:
        InputError: no rows, or rows that the model cannot be trained on.
        ArithmeticError: the loss is not finite.
    """
    context = context or TrainingContext()
    if context.elsewhere is not None:
        return context.elsewhere(start, rows, options, out_dir, context)
    with reproducible(options):
        model = start()
        if not context.group.leads:
            torch.manual_seed(options.seed + context.group.rank)  # another dropout in each process
        return _Training(model, encoded(model, rows), options, context).run(out_dir)


def encoded(model: TrainableModel, rows: TrainingRows) -> EncodedRows:
    """Return the rows in the form that the model's `forward` takes."""
    return rows if isinstance(rows, EncodedRows) else EncodedRows(*map(model.encode_rows, rows))


@dataclass
class _State:
    """The part of a checkpoint that is not tensors; `metrics` are those of the kept epoch."""

    history: list[EpochMetrics] = field(default_factory=list)
    updates: int = 0
    seconds: float = 0.0
    scale: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> EpochMetrics:
        return min(self.history, key=lambda epoch: epoch.validation_loss)


class _Training:
    """A training from its first epoch, or from its last checkpoint, to its end."""

    def __init__(
        self, model: TrainableModel, rows: EncodedRows, options: TrainingOptions, context: TrainingContext
    ) -> None:
        self.model = model
        self.rows = rows
        self.options = options
        self.group = context.group
        model.check(rows.train, "training")
        model.check(rows.validation, "validation")
        if rows.last:
            model.check(rows.last, "last epochs'")
        self.context = context if self.group.leads else TrainingContext(say=lambda line: None)
        self.checkpoints = None
        if context.checkpoints is not None:
            self.checkpoints = Checkpoints(context.checkpoints, training_digest(model, rows, options))
        device = training_device(options.device)
        model.to(device)
        self.network = self.group.wrap(model, model.blocks())
        optimizer = adamw(model, options)
        last = min(options.last_epochs, options.epochs) if rows.last else 0
        self.epoch_rows = [rows.train] * (options.epochs - last) + [rows.last] * last
        self.steps = [math.ceil(len(some) / options.effective_batch) for some in self.epoch_rows]
        scheduler = schedule(optimizer, options, sum(self.steps))
        self.stepper = OptimizerStep(model, optimizer, scheduler, options, device)
        self.shuffler = torch.Generator().manual_seed(options.seed)
        self.state = _State()
        self.best: dict[str, Tensor] | None = None

    def run(self, out_dir: Path) -> TrainingResult:
        self._restore()
        options = self.options
        state = self.state
        for epoch in range(len(state.history) + 1, options.epochs + 1):
            if self._out_of_patience():
                break
            self._run_epoch(epoch)
            if self.context.on_epoch is not None:
                self.context.on_epoch(state.history[-1])
            self._checkpoint(epoch)
        path = self._save(out_dir)
        if self.checkpoints is not None and self.group.leads and not self.context.keep_checkpoint:
            self.checkpoints.clear()
        kept = state.best if options.keep == "best" else state.history[-1]
        hardware = hardware_parameters(options.precision, options.device)
        history = tuple(state.history)
        return TrainingResult(path, state.metrics, history, kept.epoch, state.seconds, options, hardware)

    def _run_epoch(self, epoch: int) -> None:
        """Train, validate, and keep the weights if they are the best so far."""
        state = self.state
        began = time.monotonic()
        train_loss = self._train_epoch(epoch)
        metrics = self.model.validate(self.rows.validation, self.options.batch_size)
        seconds = time.monotonic() - began
        further = {name: metrics[name] for name in self.model.epoch_metrics}
        loss = metrics[self.model.loss_metric]
        state.seconds += seconds
        state.history.append(EpochMetrics(epoch, train_loss, loss, further, seconds))
        self.context.say(_line(state.history[-1], self.options.epochs))
        best = state.best is state.history[-1]
        if best or self.options.keep == "last":
            state.metrics = metrics
        if best and self.options.keep == "best":
            self.best = weights_of(self.model, self.group.leads or not self.group.sharded)

    def _train_epoch(self, epoch: int) -> float:
        """Train on the epoch's rows, and return their mean loss."""
        self.model.train()
        rows = self.epoch_rows[epoch - 1]
        steps = self.steps[epoch - 1]
        began = reported = time.monotonic()
        total = 0.0
        counted = 0
        batches = batches_alike(self.model.lengths(rows), self.options.effective_batch, self.shuffler)
        for number, places in enumerate(batches, start=1):
            loss, count = self._update([rows[place] for place in places])
            if not math.isfinite(loss):
                raise ArithmeticError(f"the loss is {loss} in epoch {epoch}: lower learning_rate or use fp32")
            total = total + loss
            counted = counted + count
            if time.monotonic() - reported >= PROGRESS_SECONDS:
                reported = time.monotonic()
                left = (reported - began) / number * (sum(self.steps) - self.state.updates)
                self.context.say(
                    f"epoch {epoch}/{self.options.epochs}, step {number}/{steps}, loss {loss / max(1, count):.3f}, "
                    f"{left / 60:.1f} minutes left"
                )
        return total / max(1, counted)

    def _update(self, rows: Sequence[Any]) -> tuple[float, int]:
        """Update the weights with an effective batch; return the sum of its units' losses, and their number.

        Each process computes a part of the batch. Updates, their rows and gradients do not depend on the number of
        processes.
        """
        local = self.group.local_rows(len(rows))
        count = self.model.counted(rows)
        size = self.options.batch_size
        total = 0.0
        most = math.ceil(len(rows) / self.group.size)
        for start in range(0, most, size):
            # A process without rows computes one row with weight 0, because all must synchronize.
            places = local[start : start + size]
            part = [rows[place] for place in places or [0]]
            with self.group.accumulate(self.network, last=start + size >= most):
                with self.stepper.autocast():
                    loss = float(bool(places)) * self.network(part, self.options.label_smoothing)
                # The group averages gradients; multiplying by its size gives their sum.
                self.stepper.backward(loss * (self.group.size / max(1, count)))
            total += float(loss.detach())
        self.stepper.step()
        self.state.updates += 1
        total = self.group.total(total, self.stepper.device)
        if self.context.on_update is not None:
            self.context.on_update(self.state.updates, total / max(1, count))
        return total, count

    def _out_of_patience(self) -> bool:
        history = self.state.history
        patience = self.options.patience
        return patience is not None and bool(history) and len(history) - self.state.best.epoch >= patience

    def _save(self, out_dir: Path) -> Path:
        """Write the kept weights to `out_dir`, and copy them to the model if it is not sharded."""
        leads = self.group.leads
        weights = self.best
        if self.group.sharded:
            weights = weights_of(self.model, leads) if weights is None else weights
            return self.model.save(out_dir, weights) if leads else out_dir
        if weights is not None:
            put_weights(self.model, weights)
        self.model.settle(self.state.metrics)
        self.model.to("cpu").eval()
        return self.model.save(out_dir) if leads else out_dir

    def _checkpoint(self, epoch: int) -> None:
        """Write a checkpoint: the leading process writes the state of all processes."""
        if self.checkpoints is None:
            return
        leads = self.group.leads
        sharded = self.group.sharded
        randoms = self.group.gathered(random_state())
        if not leads and not sharded:
            return
        parts = {"weights": weights_of(self.model, leads), "optimizer": optimizer_state(self.stepper.optimizer, leads)}
        if not leads:
            return
        parts["random"] = {f"{rank}.{name}": state for rank, one in enumerate(randoms) for name, state in one.items()}
        parts["random"]["shuffle"] = self.shuffler.get_state()
        if self.best is not None:
            parts["best"] = self.best
        self.state.scale = self.stepper.scaler.state_dict()
        self.checkpoints.save(epoch, parts, asdict(self.state))

    def _restore(self) -> None:
        """Restore the newest checkpoint of this training, if there is one."""
        found = self.checkpoints.newest() if self.checkpoints is not None else None
        if found is None:
            return
        course, parts = found
        history = [EpochMetrics(**epoch) for epoch in course["history"]]
        self.state = _State(history, *(course[name] for name in ("updates", "seconds", "scale", "metrics")))
        put_weights(self.model, parts["weights"])
        put_optimizer_state(self.stepper.optimizer, parts["optimizer"])
        self.best = dict(parts["best"]) if "best" in parts else None
        self.shuffler.set_state(parts["random"]["shuffle"])
        rank = f"{self.group.rank}."
        random = {name.removeprefix(rank): one for name, one in parts["random"].items() if name.startswith(rank)}
        put_random_state(random)
        if self.state.scale:
            self.stepper.scaler.load_state_dict(self.state.scale)
        go_to_step(self.stepper.scheduler, self.state.updates)
        self.context.say(f"resumed after epoch {len(history)}/{self.options.epochs} from a checkpoint")


def _line(epoch: EpochMetrics, epochs: int) -> str:
    further = "".join(f"{name.replace('macro_f1', 'macro-F1')} {one:.4f}, " for name, one in epoch.validation.items())
    return (
        f"epoch {epoch.epoch}/{epochs}: train loss {epoch.train_loss:.4f}, validation loss "
        f"{epoch.validation_loss:.4f}, {further}{epoch.seconds:.0f} s"
    )
