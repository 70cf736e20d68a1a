"""The interface of a trainable model, and the result of a training."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa
from torch import Tensor, nn

from conf.training_options import TrainingOptions


class TrainingRows(NamedTuple):
    """The rows of a training; the last `options.last_epochs` epochs use ``last``, or ``train`` where it is empty."""

    train: Sequence[Any]
    validation: Sequence[Any]
    last: Sequence[Any] = ()


class EncodedRows(TrainingRows):
    """Training rows in the form that a model's `forward` takes."""


@dataclass(frozen=True)
class EpochMetrics:
    """The metrics of one epoch.

    Attributes:
        train_loss, validation_loss: means; the training loss includes label smoothing and dropout.
        validation: further metrics on the validation rows.
    """

    epoch: int
    train_loss: float
    validation_loss: float
    validation: Mapping[str, float]
    seconds: float

    def flat(self) -> dict[str, float]:
        """Return all metrics by the names that are logged."""
        further = {f"validation_{name}": value for name, value in self.validation.items()}
        losses = {"train_loss": self.train_loss, "validation_loss": self.validation_loss}
        return {"epoch": self.epoch, **losses, **further, "seconds": self.seconds}


@dataclass(frozen=True)
class TrainingResult:
    """A finished training.

    Attributes:
        path: folder of the kept epoch's model.
        metrics: that model's metrics on the validation rows.
        best_epoch: number of the kept epoch, from 1.
        seconds: of training, including the time before an interruption.
        hardware: chosen device, precision and threads.
    """

    path: Path
    metrics: dict[str, float]
    history: tuple[EpochMetrics, ...]
    best_epoch: int
    seconds: float
    options: TrainingOptions
    hardware: Mapping[str, str] = field(default_factory=dict)


class TrainableModel(nn.Module):
    """A model that the training loop can train.

    Attributes:
        kind: name in folders and in the registry.
        row, schema: an encoded row, and its columns in Parquet.
        sharded: whether each process of a training holds a part of the model, which is too large for one device.
        loss_metric: name of the validation loss in the result of `validate`.
        epoch_metrics: names of further metrics that are logged for each epoch.
    """

    kind: ClassVar[str]
    row: ClassVar[type]
    schema: ClassVar[pa.Schema]
    sharded: ClassVar[bool] = False
    loss_metric: ClassVar[str]
    epoch_metrics: ClassVar[tuple[str, ...]]

    def encode_rows(self, rows: Sequence[Any]) -> Sequence[Any]:
        """Return training rows in the form that `forward` takes; by default they are unchanged."""
        return rows

    @abstractmethod
    def check(self, rows: Sequence[Any], what: str) -> None:
        """Raise an `InputError` for encoded rows that cannot be trained on; `what` names the rows."""

    def lengths(self, rows: Sequence[Any]) -> list[int]:
        """Return the length of each encoded row in tokens, by which rows are batched."""
        return [len(row.ids) for row in rows]

    def counted(self, rows: Sequence[Any]) -> int:
        """Return the number of units that the loss is a mean of: rows or tokens."""
        return len(rows)

    @abstractmethod
    def forward(self, rows: Sequence[Any], label_smoothing: float = 0.0) -> Tensor:
        """Return the SUM of the losses of the encoded rows' units, as fp32."""

    @abstractmethod
    def validate(self, rows: Sequence[Any], batch_size: int) -> dict[str, float]:
        """Return metrics on encoded rows, `loss_metric` and `epoch_metrics` among them."""

    def settle(self, metrics: Mapping[str, float]) -> None:
        """Set the values that were chosen on validation rows, before the model is saved."""

    def learning_rates(self, options: TrainingOptions) -> dict[str, float]:
        """Return each trained parameter's learning rate."""
        return {name: options.learning_rate for name, value in self.named_parameters() if value.requires_grad}

    def blocks(self) -> list[nn.Module]:
        """Return the consecutive layers that a sharded training gathers one at a time."""
        return []

    def stored(self) -> tuple[Path, dict[str, Any]] | None:
        """Return the folder that the model was read from and the arguments of `load`; None if it must be saved."""
        return None

    @classmethod
    def load(cls, folder: str | Path) -> "TrainableModel":
        """Read a model that `save` wrote."""
        raise NotImplementedError

    @abstractmethod
    def save(self, folder: Path, weights: Mapping[str, Tensor] | None = None) -> Path:
        """Write the model to `folder` without pickles, and return the folder.

        Args:
            weights: by parameter, where the model does not hold them.
        """
