"""Trainings of several models that differ in their seed alone, and answer as one."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from conf.training_options import TrainingOptions
from etl.training.loop.checkpoints import Checkpoints
from etl.training.loop.reproducible import reproducible
from etl.training.loop.train import TrainingContext, train_model
from udfs.devices import training_device
from udfs.models.classifiers.classifier import Ensemble, SequenceClassifier
from udfs.models.trainable import EpochMetrics, TrainableModel, TrainingResult, TrainingRows


def train_members(
    kind: type[SequenceClassifier[Any]],
    start: Callable[[TrainingOptions], TrainableModel],
    rows: TrainingRows,
    options: TrainingOptions,
    members: int,
    out_dir: Path,
    context: TrainingContext,
    train: Callable[..., TrainingResult] = train_model,
) -> TrainingResult:
    """Train models with the seeds from ``options.seed`` on, and save them as one that averages their probabilities.

    A finished model's last checkpoint is kept until all are trained, so that a killed training repeats none of them.

    Args:
        kind: class of the models.
        start: from the options of a training to its untrained model.
        members: number of models.
        context: of all; ``checkpoints`` gets a folder for each seed.
        train: trains one of them, as `train_model` does.

    Returns:
        The ensemble's folder and its metrics on validation rows; the history has the epochs of all models in turn.
    """
    history: list[EpochMetrics] = []
    results = []
    updates = [0]
    places = [f"{context.checkpoints}/seed-{options.seed + number}" for number in range(members)]

    def on_epoch(before: int, epoch: EpochMetrics) -> None:
        if context.on_epoch is not None:
            context.on_epoch(replace(epoch, epoch=before + epoch.epoch))

    def on_update(before: int, number: int, loss: float) -> None:
        updates[0] = before + number
        if context.on_update is not None:
            context.on_update(before + number, loss)

    for number, place in enumerate(places):
        own = options.model_copy(update={"seed": options.seed + number})
        context.say(f"model {number + 1} of {members}, seed {own.seed}")
        told = replace(
            context,
            checkpoints=None if context.checkpoints is None else place,
            keep_checkpoint=True,
            on_epoch=partial(on_epoch, len(history)),
            on_update=partial(on_update, updates[0]),
        )
        result = train(partial(start, own), rows, own, out_dir / f"seed-{own.seed}", told)
        before = len(history)
        history += [replace(epoch, epoch=before + epoch.epoch) for epoch in result.history]
        results.append(result)
    model = Ensemble.join(kind, out_dir, [result.path.name for result in results])
    with reproducible(options):
        model.to(training_device(options.device))
        metrics = model.validate(model.encode_rows(rows.validation), options.batch_size)
    if context.checkpoints is not None:
        Checkpoints(context.checkpoints, "").clear()
    first = results[0]
    seconds = sum(result.seconds for result in results)
    return TrainingResult(out_dir, metrics, tuple(history), first.best_epoch, seconds, options, first.hardware)
