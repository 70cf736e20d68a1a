"""Training rows whose truths are probabilities of all labels (ours)."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from conf.training_options import TrainingOptions
from etl.training.held_out_classifiers import answers_to, load_on_device
from etl.training.loop.reproducible import reproducible
from udfs.devices import autocast, chosen_precision, training_device
from udfs.models.classifiers.classifier import SequenceClassifier

SoftRows = list[tuple[Any, tuple[float, ...]]]
PLACES = 4
"""Decimals of a probability, so that rows are the same on machines whose last bits differ."""


def teacher_answers(
    kind: type[SequenceClassifier[Any]], folder: Path, options: TrainingOptions, items: Sequence[Any]
) -> NDArray[Any]:
    """Return the probabilities (items, labels) of the classifier in a folder, in the precision of the training."""
    teacher = load_on_device(kind, folder, options.device)
    device = training_device(options.device)
    dtype = chosen_precision(options.precision, device).dtype
    # A local session leaves one thread to this process: the training's number is set for the answers, too.
    with reproducible(options), autocast(device, dtype):
        return answers_to(teacher, [(item, None) for item in items])


def soft_rows(items: Sequence[Any], probabilities: NDArray[Any]) -> SoftRows:
    """Return each item with its probabilities, rounded."""
    shares = probabilities.astype(float).round(PLACES).tolist()
    return [(item, tuple(row)) for item, row in zip(items, shares, strict=True)]


def one_hot(rows: Iterable[tuple[Any, int]], labels: int) -> SoftRows:
    """Return labelled rows with the probability 1 of their label."""
    return [(item, tuple(float(label == place) for place in range(labels))) for item, label in rows]
