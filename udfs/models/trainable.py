"""What a model supplies to be trained, and what a training gives back."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa
from torch import Tensor, nn

from conf.training_options import TrainingOptions


class TrainingRows(NamedTuple):
    """The rows of a training; ``last`` are those of the last `options.last_epochs` epochs, none: the training rows."""

    train: Sequence[Any]
    validation: Sequence[Any]
    last: Sequence[Any] = ()


class EncodedRows(TrainingRows):
    """The same as a model's `forward` takes them."""


@dataclass(frozen=True)
class EpochMetrics:
    """One epoch.

    Attributes:
        train_loss, validation_loss: means; the training one with label smoothing and dropout.
        validation: further figures on the validation rows.
    """

    epoch: int
    train_loss: float
    validation_loss: float
    validation: Mapping[str, float]
    seconds: float

    def flat(self) -> dict[str, float]:
        """Return all figures by name, as tracking has them."""
        further = {f"validation_{name}": value for name, value in self.validation.items()}
        losses = {"train_loss": self.train_loss, "validation_loss": self.validation_loss}
        return {"epoch": self.epoch, **losses, **further, "seconds": self.seconds}


@dataclass(frozen=True)
class TrainingResult:
    """A finished training.

    Attributes:
        path: folder of the model of the epoch that was kept.
        metrics: that model's figures on the validation rows.
        history: every epoch.
        best_epoch: the one that was kept, from 1.
        seconds: of training, those before an interruption counted.
        options: as given.
        hardware: what was chosen of it: device, precision, threads.
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
        kind: its name in folders and in the registry.
        row, schema: an encoded row, and its columns in Parquet.
        sharded: whether the processes of a training hold a part of it each: for models too large for one device.
        loss_metric: the validation loss among what `validate` returns.
        epoch_metrics: further ones that are told of each epoch.
    """

    kind: ClassVar[str]
    row: ClassVar[type]
    schema: ClassVar[pa.Schema]
    sharded: ClassVar[bool] = False
    loss_metric: ClassVar[str]
    epoch_metrics: ClassVar[tuple[str, ...]]

    def encode_rows(self, rows: Sequence[Any]) -> Sequence[Any]:
        """Return training rows as `forward` takes them; here they are that already."""
        return rows

    @abstractmethod
    def check(self, rows: Sequence[Any], what: str) -> None:
        """Raise an `InputError` where encoded rows cannot be learned from; `what` names them."""

    def lengths(self, rows: Sequence[Any]) -> list[int]:
        """Return what each encoded row costs, in tokens: rows of like length are batched."""
        return [len(row.ids) for row in rows]

    def counted(self, rows: Sequence[Any]) -> int:
        """Return how many units the loss is a mean of: rows, or tokens."""
        return len(rows)

    @abstractmethod
    def forward(self, rows: Sequence[Any], label_smoothing: float = 0.0) -> Tensor:
        """Return the SUM of the losses of the encoded rows' units, as fp32."""

    @abstractmethod
    def validate(self, rows: Sequence[Any], batch_size: int) -> dict[str, float]:
        """Return figures on encoded rows, `loss_metric` and `epoch_metrics` among them."""

    def settle(self, metrics: Mapping[str, float]) -> None:
        """Take what was chosen on validation rows, before the model is saved."""

    def learning_rates(self, options: TrainingOptions) -> dict[str, float]:
        """Return each trained parameter's rate."""
        return {name: options.learning_rate for name, value in self.named_parameters() if value.requires_grad}

    def blocks(self) -> list[nn.Module]:
        """Return the layers that follow each other: what a sharded training holds whole, one at a time."""
        return []

    def stored(self) -> tuple[Path, dict[str, Any]] | None:
        """Return the folder that the model was read from and what `load` was told, where it need not be saved again."""
        return None

    @classmethod
    def load(cls, folder: str | Path) -> "TrainableModel":
        """Read a model that `save` wrote."""
        raise NotImplementedError

    @abstractmethod
    def save(self, folder: Path, weights: Mapping[str, Tensor] | None = None) -> Path:
        """Write the model to `folder`, without pickles, and return it.

        Args:
            weights: by parameter, where the model itself does not hold them.
        """
