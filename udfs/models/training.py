"""The training loop of both classifiers."""

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from conf.errors import InputError
from udfs.devices import set_threads, training_device
from udfs.models.batches import Encoded, collate, shuffled_batches
from udfs.models.classifier import ENCODER, SequenceClassifier
from udfs.models.metrics import classification_metrics

PROGRESS_SECONDS = 15.0


@dataclass(frozen=True)
class TrainingOptions:
    """How a classifier is trained; the paper's where it says (EDOS C), for the optimizer RoBERTa's.

    Attributes:
        batch_size: rows the device sees at once.
        effective_batch: rows an optimizer step sees, gradients added up over batches.
        head_learning_rate: for the new layers above the encoder; None is `learning_rate`.
        warmup_share: share of the steps in which the rate rises from 0.
        decay: `linear` to 0 after the warm-up, or `none`.
        precision: `auto` is bf16 (else fp16) on a GPU and fp32 on the CPU.
        threads: CPU threads; with the seed part of what makes a training repeatable.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
    """

    epochs: int = 4
    batch_size: int = 32
    effective_batch: int = 32
    learning_rate: float = 2e-5
    head_learning_rate: float | None = None
    warmup_share: float = 0.1
    decay: Literal["linear", "none"] = "linear"
    dropout: float = 0.1
    label_smoothing: float = 0.0
    max_tokens: int = 100
    max_gradient_norm: float = 1.0
    seed: int = 13
    threads: int = 2
    precision: Literal["auto", "fp32", "bf16", "fp16"] = "auto"
    device: str = "auto"


@dataclass(frozen=True)
class EpochMetrics:
    """One epoch: losses are mean cross-entropies, the training one with label smoothing and dropout."""

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
        path: folder of the model of the epoch with the lowest validation loss.
        metrics: that model's figures on the validation rows (`classification_metrics`).
        history: every epoch.
        best_epoch: from 1.
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
    train: Sequence[tuple[Any, int]],
    valid: Sequence[tuple[Any, int]],
    options: TrainingOptions,
    out_dir: Path,
    on_epoch: Callable[[EpochMetrics], None] | None = None,
    progress: Callable[[str], None] = print,
) -> TrainResult:
    """Train `model`, keep the epoch of the lowest validation cross-entropy (EDOS C), save it to `out_dir`.

    Raises:
        InputError: no rows, or a label id outside the taxonomy.
        ArithmeticError: the loss is no longer a number.
    """
    _check(train, "training", len(model.labels))
    _check(valid, "validation", len(model.labels))
    started = time.monotonic()
    device = training_device(options.device)
    model.to(device)
    rows = model.encode([item for item, _ in train])
    truth = torch.tensor([label for _, label in train])
    optimizer = adam(model, options)
    scheduler = _schedule(optimizer, options, math.ceil(len(rows) / options.effective_batch) * options.epochs)
    shuffler = torch.Generator().manual_seed(options.seed)
    history: list[EpochMetrics] = []
    best: tuple[float, dict[str, Tensor], dict[str, float]] | None = None
    step = _Step(model, optimizer, scheduler, options, device)
    for epoch in range(1, options.epochs + 1):
        began = time.monotonic()
        batches = shuffled_batches(rows, options.effective_batch, shuffler)
        report = _Progress(epoch, options.epochs, len(batches), started, progress)
        loss = 0.0
        model.train()
        for number, indices in enumerate(batches, start=1):
            batch_loss = step([rows[index] for index in indices], truth[indices])
            if not math.isfinite(batch_loss):
                raise ArithmeticError(f"the loss is {batch_loss} in epoch {epoch}: lower learning_rate or use fp32")
            loss += batch_loss * len(indices)
            report(number, batch_loss)
        figures = evaluate(model, valid, options.batch_size)
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
        if best is None or figures["cross_entropy"] < best[0]:
            state = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}
            best = (figures["cross_entropy"], state, figures)
    assert best is not None
    model.load_state_dict(best[1])
    model.to("cpu").eval()
    best_epoch = min(history, key=lambda metrics: metrics.validation_loss).epoch
    path = model.save(out_dir)
    return TrainResult(path, best[2], tuple(history), best_epoch, time.monotonic() - started, replace(options))


def evaluate(model: SequenceClassifier[Any], rows: Sequence[tuple[Any, int]], batch_size: int) -> dict[str, float]:
    """`classification_metrics` of `model` on (item, label id) rows."""
    model.eval()
    probabilities = model.probabilities([item for item, _ in rows], batch_size).numpy()
    return classification_metrics(probabilities, [label for _, label in rows])


def adam(model: nn.Module, options: TrainingOptions) -> torch.optim.Optimizer:
    """Adam with betas 0.9 and 0.98 and epsilon 1e-6 (EDOS C)."""
    trained = [(name, value) for name, value in model.named_parameters() if value.requires_grad]
    groups: list[dict[str, Any]] = [
        {"params": [value for name, value in trained if name.startswith(f"{ENCODER}.")]},
        {
            "params": [value for name, value in trained if not name.startswith(f"{ENCODER}.")],
            "lr": options.head_learning_rate or options.learning_rate,
        },
    ]
    # One kernel for all parameters; the CPU has it since torch 2.4.
    fused = torch.__version__ >= "2.4"
    return torch.optim.Adam(groups, lr=options.learning_rate, betas=(0.9, 0.98), eps=1e-6, fused=fused)


def learning_rate_factor(step: int, steps: int, options: TrainingOptions) -> float:
    """Share of the learning rate at `step` (from 0) of `steps`: a linear rise, then `decay`."""
    rising = math.ceil(options.warmup_share * steps)
    if step < rising:
        return (step + 1) / rising
    if options.decay == "none":
        return 1.0
    return max(0.0, (steps - step) / max(1, steps - rising))


def _schedule(
    optimizer: torch.optim.Optimizer, options: TrainingOptions, steps: int
) -> torch.optim.lr_scheduler.LambdaLR:
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: learning_rate_factor(step, steps, options))


class _Step:
    """One optimizer step over a batch, in micro-batches whose gradients add up to the batch's mean."""

    def __init__(
        self,
        model: SequenceClassifier[Any],
        optimizer: torch.optim.Optimizer,
        scheduler: torch.optim.lr_scheduler.LambdaLR,
        options: TrainingOptions,
        device: torch.device,
    ) -> None:
        self.model, self.optimizer, self.scheduler = model, optimizer, scheduler
        self.options, self.device = options, device
        self.loss = nn.CrossEntropyLoss(label_smoothing=options.label_smoothing, reduction="sum")
        self.dtype = _precision(options.precision, device)
        self.scaler = torch.amp.GradScaler(device.type, enabled=self.dtype == torch.float16)

    def __call__(self, rows: Sequence[Encoded], truth: Tensor) -> float:
        total = 0.0
        for start in range(0, len(rows), self.options.batch_size):
            part = slice(start, start + self.options.batch_size)
            batch = collate(rows[part], self.model.pad_id).to(self.device)
            with self._autocast():
                logits = self.model(batch)
            loss = self.loss(logits.float(), truth[part].to(self.device)) / len(rows)
            self.scaler.scale(loss).backward()
            total += float(loss.detach())
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.options.max_gradient_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        self.scheduler.step()
        return total

    def _autocast(self) -> Any:
        if self.dtype == torch.float32:
            return nullcontext()
        return torch.autocast(self.device.type, dtype=self.dtype)


def _precision(name: str, device: torch.device) -> torch.dtype:
    named = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
    if name != "auto":
        return named[name]
    if device.type != "cuda":
        return torch.float32
    return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16


def _check(rows: Sequence[tuple[Any, int]], what: str, classes: int) -> None:
    if not rows:
        raise InputError(f"no {what} rows: check the files of labelled examples")
    wrong = next((label for _, label in rows if not 0 <= label < classes), None)
    if wrong is not None:
        raise InputError(f"label id {wrong} in the {what} rows is outside the taxonomy's 0..{classes - 1}")


def _line(metrics: EpochMetrics, epochs: int) -> str:
    return (
        f"epoch {metrics.epoch}/{epochs}: train loss {metrics.train_loss:.4f}, validation loss "
        f"{metrics.validation_loss:.4f}, accuracy {metrics.validation_accuracy:.4f}, macro-F1 "
        f"{metrics.validation_macro_f1:.4f}, {metrics.seconds:.0f} s"
    )


class _Progress:
    """A line every few seconds with the time left."""

    def __init__(self, epoch: int, epochs: int, batches: int, started: float, say: Callable[[str], None]) -> None:
        self.epoch, self.epochs, self.batches, self.started, self.say = epoch, epochs, batches, started, say
        self.last = time.monotonic()

    def __call__(self, number: int, loss: float) -> None:
        now = time.monotonic()
        if now - self.last < PROGRESS_SECONDS:
            return
        self.last = now
        done = ((self.epoch - 1) * self.batches + number) / (self.epochs * self.batches)
        left = (now - self.started) * (1 - done) / done
        self.say(
            f"epoch {self.epoch}/{self.epochs}, step {number}/{self.batches}, loss {loss:.3f}, "
            f"{left / 60:.1f} minutes left"
        )
