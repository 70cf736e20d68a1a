"""A second training that goes on from the model of a first one, on rows that the first one's answers are part of."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from conf.training_options import TrainingOptions
from etl.training.loop.checkpoints import Checkpoints
from etl.training.loop.train import TrainingContext, train_model
from udfs.models.trainable import EpochMetrics, TrainableModel, TrainingResult, TrainingRows


@dataclass(frozen=True)
class FurtherTraining:
    """A training as `train_model` takes it.

    Attributes:
        start: returns the model of the first training.
    """

    start: Callable[[], TrainableModel]
    rows: TrainingRows
    options: TrainingOptions


def train_twice(
    further: Callable[[Path], FurtherTraining],
    start: Callable[[], TrainableModel],
    rows: TrainingRows,
    options: TrainingOptions,
    out_dir: Path,
    context: TrainingContext,
) -> TrainingResult:
    """Train a model, go on with a second training, and save the second one's model to `out_dir`.

    The first one's last checkpoint is kept until the second ends, so that a killed training repeats neither.

    Args:
        further: from the folder of the first model to the second training.

    Returns:
        The second training's result, with the epochs of both.
    """
    place = context.checkpoints
    with tempfile.TemporaryDirectory() as scratch:
        first = train_model(start, rows, options, Path(scratch) / "first", replace(context, keep_checkpoint=True))
        before = len(first.history)

        def on_epoch(epoch: EpochMetrics) -> None:
            if context.on_epoch is not None:
                context.on_epoch(replace(epoch, epoch=before + epoch.epoch))

        second = further(first.path)
        # Losses by update are reported of the first training alone: their numbers would begin again.
        second_context = replace(context, checkpoints=place and f"{place}-second", on_epoch=on_epoch, on_update=None)
        result = train_model(second.start, second.rows, second.options, out_dir, second_context)
    if place is not None and not context.keep_checkpoint:
        Checkpoints(place, "").clear()
    return replace(
        result,
        history=(*first.history, *(replace(epoch, epoch=before + epoch.epoch) for epoch in result.history)),
        best_epoch=before + result.best_epoch,
        seconds=first.seconds + result.seconds,
    )
