"""The training loop of the classifiers."""

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from conf.errors import InputError
from udfs.devices import set_threads, training_device
from udfs.models.batches import Encoded, shuffled_batches
from udfs.models.classifiers.classifier import SequenceClassifier
from udfs.models.optimization import Update, adam, schedule
from udfs.models.team import ALONE, Team

PROGRESS_SECONDS = 15.0

Rows = Sequence[tuple[Any, Any]]
"""Items, each with its truth: a label id, or the ids of a model of several labels."""


@dataclass(frozen=True)
class TrainingOptions:
    """How a classifier is trained; the paper's where it says (EDOS C), for the optimizer RoBERTa's.

    Attributes:
        batch_size: rows the device sees at once.
        effective_batch: rows an optimizer step sees, gradients added up over batches.
        head_learning_rate: for the new layers above the encoder; None is `learning_rate`.
        warmup_share: share of the steps in which the rate rises from 0.
        layer_decay: the rate of an encoder layer over that of the layer above it; 1 is one rate for all.
        decay: `linear` to 0 after the warm-up, or `none`.
        last_epochs: so many epochs at the end go over the `last` rows alone.
        average_decay: judge and keep a running average of the weights, of which each update replaces all but
            this share; 0 keeps the weights themselves.
        beta2, epsilon, weight_decay: AdamW's, whose first beta is 0.9; without decay of the weights it is Adam.
        keep: the `best` epoch by validation loss, or the `last`.
        precision: `auto` is what the hardware does fast (`udfs.devices.chosen_precision`).
        threads: CPU threads; with the seed part of what makes a training repeatable.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
    """

    epochs: int = 4
    batch_size: int = 32
    effective_batch: int = 32
    learning_rate: float = 2e-5
    head_learning_rate: float | None = None
    layer_decay: float = 1.0
    warmup_share: float = 0.1
    decay: Literal["linear", "none"] = "linear"
    dropout: float = 0.1
    label_smoothing: float = 0.0
    last_epochs: int = 0
    average_decay: float = 0.0
    max_tokens: int = 100
    max_gradient_norm: float = 1.0
    beta2: float = 0.98
    epsilon: float = 1e-6
    weight_decay: float = 0.0
    keep: Literal["best", "last"] = "best"
    seed: int = 13
    threads: int = 2
    precision: Literal["auto", "fp32", "bf16", "fp16"] = "auto"
    device: str = "auto"


@dataclass(frozen=True)
class EpochMetrics:
    """One epoch: losses are means, the training one with label smoothing and dropout."""

    epoch: int
    train_loss: float
    validation_loss: float
    validation_accuracy: float
    validation_macro_f1: float
    seconds: float


@dataclass(frozen=True)
class TrainResult:
    """A finished training.

    Attributes:
        path: folder of the model of the epoch that was kept.
        metrics: that model's figures on the validation rows.
        history: every epoch.
        best_epoch: the one that was kept, from 1.
        options: as given.
    """

    path: Path
    metrics: dict[str, float]
    history: tuple[EpochMetrics, ...]
    best_epoch: int
    seconds: float
    options: TrainingOptions

    def params(self) -> dict[str, Any]:
        """The options as flat parameters for a tracking run."""
        return asdict(self.options)


@contextmanager
def reproducible(seed: int, threads: int) -> Iterator[None]:
    """Seeded torch with `threads` threads and deterministic kernels inside; as before outside."""
    before = torch.get_num_threads()
    strict = torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        set_threads(threads)
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # else cuBLAS is not deterministic
        torch.use_deterministic_algorithms(True, warn_only=True)
        # numpy looks up the smallest numbers once, and warns where there are no denormals.
        for kind in (np.float32, np.float64):
            np.finfo(kind)
        # Adam's averages for rare tokens decay into denormals, which a CPU computes a hundred times slower.
        torch.set_flush_denormal(True)
        try:
            yield
        finally:
            torch.set_flush_denormal(False)
            torch.use_deterministic_algorithms(strict)
            torch.set_num_threads(before)


def fit(
    model: SequenceClassifier[Any],
    train: Rows,
    valid: Rows,
    options: TrainingOptions,
    out_dir: Path,
    on_epoch: Callable[[EpochMetrics], None] | None = None,
    progress: Callable[[str], None] = print,
    team: Team = ALONE,
    last: Rows = (),
) -> TrainResult:
    """Train `model`, keep the epoch of the lowest validation loss (EDOS C) or the last, save it to `out_dir`.

    All processes of a team call it with the same model and rows; the one that leads writes and tells.

    Args:
        last: rows of the last `options.last_epochs` epochs; none means the training rows.

    Raises:
        InputError: no rows, or a label id outside the taxonomy.
        ArithmeticError: the loss is no longer a number.
    """
    _check(model, train, "training")
    _check(model, valid, "validation")
    if last:
        _check(model, last, "last epochs'")
    progress = progress if team.leads else _silent
    started = time.monotonic()
    device = training_device(options.device)
    model.to(device)
    course = _course(model, train, last, options)
    steps = [math.ceil(len(rows) / options.effective_batch) for rows, _ in course]
    optimizer = adam(model, options)
    scheduler = schedule(optimizer, options, sum(steps))
    shuffler = torch.Generator().manual_seed(options.seed)
    history: list[EpochMetrics] = []
    kept: tuple[float, dict[str, Tensor], dict[str, float], int] | None = None
    update = Update(model, optimizer, scheduler, options, device, team)
    for epoch, (rows, truth) in enumerate(course, start=1):
        began = time.monotonic()
        batches = shuffled_batches(rows, options.effective_batch, shuffler)
        report = _Progress(epoch, steps, started, progress)
        loss = 0.0
        model.train()
        for number, indices in enumerate(batches, start=1):
            batch_loss = update([rows[index] for index in indices], truth[indices])
            if not math.isfinite(batch_loss):
                raise ArithmeticError(f"the loss is {batch_loss} in epoch {epoch}: lower learning_rate or use fp32")
            loss += batch_loss * len(indices)
            report(number, batch_loss)
        figures = _validated(update.trained, valid, options.batch_size)
        history.append(
            EpochMetrics(
                epoch,
                loss / len(rows),
                figures["cross_entropy"],
                figures["accuracy"],
                figures["macro_f1"],
                time.monotonic() - began,
            )
        )
        progress(_line(history[-1], options.epochs))
        if on_epoch is not None:
            on_epoch(history[-1])
        if options.keep == "last" or kept is None or figures["cross_entropy"] < kept[0]:
            trained = update.trained.state_dict()
            state = {name: value.detach().cpu().clone() for name, value in trained.items()}
            kept = (figures["cross_entropy"], state, figures, epoch)
    assert kept is not None
    _, state, figures, kept_epoch = kept
    model.load_state_dict(state)
    model.settle(figures)
    model.to("cpu").eval()
    path = model.save(out_dir) if team.leads else out_dir
    return TrainResult(path, figures, tuple(history), kept_epoch, time.monotonic() - started, replace(options))


def evaluate(model: SequenceClassifier[Any], rows: Rows, batch_size: int) -> dict[str, float]:
    """`model.figures` on (item, truth) rows."""
    return model.figures(*_answers(model, rows, batch_size))


def _validated(model: SequenceClassifier[Any], rows: Rows, batch_size: int) -> dict[str, float]:
    return model.validation_figures(*_answers(model, rows, batch_size))


def _answers(model: SequenceClassifier[Any], rows: Rows, batch_size: int) -> tuple[NDArray[Any], list[Any]]:
    model.eval()
    return model.probabilities([item for item, _ in rows], batch_size).numpy(), [truth for _, truth in rows]


def _course(
    model: SequenceClassifier[Any], train: Rows, last: Rows, options: TrainingOptions
) -> list[tuple[list[Encoded], Tensor]]:
    """Each epoch's rows and their targets."""

    def ready(rows: Rows) -> tuple[list[Encoded], Tensor]:
        return model.encode([item for item, _ in rows]), model.targets([truth for _, truth in rows])

    ending = min(options.last_epochs, options.epochs) if last else 0
    whole = ready(train)
    return [whole] * (options.epochs - ending) + ([ready(last)] * ending if ending else [])


def _check(model: SequenceClassifier[Any], rows: Rows, what: str) -> None:
    if not rows:
        raise InputError(f"no {what} rows: check the files of labelled examples")
    model.check([truth for _, truth in rows], what)


def _silent(line: str) -> None:
    """What processes that do not lead say."""


def _line(metrics: EpochMetrics, epochs: int) -> str:
    return (
        f"epoch {metrics.epoch}/{epochs}: train loss {metrics.train_loss:.4f}, validation loss "
        f"{metrics.validation_loss:.4f}, accuracy {metrics.validation_accuracy:.4f}, macro-F1 "
        f"{metrics.validation_macro_f1:.4f}, {metrics.seconds:.0f} s"
    )


class _Progress:
    """A line every few seconds with the time left."""

    def __init__(self, epoch: int, steps: Sequence[int], started: float, say: Callable[[str], None]) -> None:
        self.epoch, self.steps, self.started, self.say = epoch, steps, started, say
        self.last = time.monotonic()

    def __call__(self, number: int, loss: float) -> None:
        now = time.monotonic()
        if now - self.last < PROGRESS_SECONDS:
            return
        self.last = now
        done = (sum(self.steps[: self.epoch - 1]) + number) / sum(self.steps)
        left = (now - self.started) * (1 - done) / done
        self.say(
            f"epoch {self.epoch}/{len(self.steps)}, step {number}/{self.steps[self.epoch - 1]}, loss {loss:.3f}, "
            f"{left / 60:.1f} minutes left"
        )
