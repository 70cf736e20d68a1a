"""Evaluation of classifiers on held-out rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from conf.errors import InputError
from etl.training.data_inputs import rows_digest
from etl.training.registration import HeldOutTest
from etl.training.tracking import TrackedRun
from udfs.devices import training_device
from udfs.models.classifiers.classifier import Classifier, SequenceClassifier
from udfs.models.trainable import TrainingResult

BATCH_SIZE = 64


class ClassifierTest(HeldOutTest):
    """The evaluation of a classifier on (item, truth) rows.

    Args:
        model: the class of the classifiers.
        metric: key of the model's ``figures``; higher is better.
        labels: to which the truths belong, by their places.
    """

    def __init__(
        self, model: type[SequenceClassifier[Any]], rows: Sequence[Any], metric: str, labels: Sequence[str], device: str
    ) -> None:
        self.model = model
        self.rows = rows
        self.metric = metric
        self.labels = list(labels)
        self.device = device

    def digest(self) -> str:
        return rows_digest(self.rows)

    def measure(self, tracked: TrackedRun, result: TrainingResult) -> dict[str, float]:
        return self.figures_and_classes(tracked, result)[0]

    def figures_and_classes(
        self, tracked: TrackedRun, result: TrainingResult
    ) -> tuple[dict[str, float], list[dict[str, Any]]]:
        """Evaluate a trained model, and log and return its metrics and those of its classes."""
        model = load_on_device(self.model, result.path, self.device)
        return log_answers(tracked, model, answers_to(model, self.rows), [truth for _, truth in self.rows])

    def log_choice(self, tracked: TrackedRun, path: Path) -> None:
        log_choice(tracked, load_on_device(self.model, path, self.device), self.rows)

    def score(self, path: Path) -> float:
        return self.score_of(load_on_device(self.model, path, self.device))

    def score_of(self, model: Classifier[Any]) -> float:
        """Return a loaded model's ``metric``."""
        if list(model.labels) != self.labels:
            raise InputError("it has other labels")
        return model.figures(answers_to(model, self.rows), [truth for _, truth in self.rows])[self.metric]

    def summary(self, figures: Mapping[str, float]) -> str:
        return f"accuracy {figures['accuracy']:.4f}, macro-F1 {figures['macro_f1']:.4f}"


def load_on_device(model: type[SequenceClassifier[Any]], path: Path, device: str) -> Any:
    """Load a trained classifier, or the mean of several, to the device of trainings."""
    return model.load_to_answer(path).to(training_device(device))


def answers_to(model: Classifier[Any], rows: Sequence[Any], batch_size: int = BATCH_SIZE) -> NDArray[Any]:
    """Return a model's probabilities on (item, truth) rows."""
    return model.probabilities([item for item, _ in rows], batch_size).numpy()


def log_answers(
    tracked: TrackedRun, model: Classifier[Any], probabilities: NDArray[Any], truths: Sequence[Any]
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Log and return a model's ``figures`` and ``class_figures`` on held-out rows, and log its chart."""
    figures = model.figures(probabilities, truths)
    classes = model.class_figures(probabilities, truths)
    tracked.log_metrics(figures, "held_out_")
    tracked.log_classes(classes, "held_out_")
    for chart in model.charts(probabilities, truths):
        tracked.log_chart(chart, "held_out_")
    return figures, classes


def log_choice(tracked: TrackedRun, model: Classifier[Any], rows: Sequence[Any]) -> None:
    """Log a model's charts of what was chosen on these validation rows."""
    for chart in model.choice_charts(answers_to(model, rows), [truth for _, truth in rows]):
        tracked.log_chart(chart, "validation_")
