"""One tracked training: run, figures on held-out rows, registered version, alias to the better model."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from udfs.models.classifier import SequenceClassifier
from udfs.models.loader import ResolvedModel, resolve
from udfs.models.metrics import classification_metrics, confusion_counts, per_class_metrics
from udfs.models.tracking import CHAMPION, Promotion, Store, TrackedRun, promote_if_better, rows_digest, tracked_run
from udfs.models.training import EpochMetrics, TrainResult, evaluate

Rows = Sequence[tuple[Any, int]]


@dataclass(frozen=True)
class TrackedTraining:
    """What came of it: the champion after the training, the new model's figures, the alias's story."""

    champion: ResolvedModel
    figures: dict[str, float]
    promotion: Promotion


def train_tracked(
    store: Store,
    name: str,
    *,
    params: Mapping[str, Any],
    tags: Mapping[str, str],
    train: Callable[[Path, Callable[[EpochMetrics], None]], TrainResult],
    load: Callable[[Path], SequenceClassifier[Any]],
    held_out: Rows,
    metric: str,
    folder: Path,
    batch_size: int = 64,
) -> TrackedTraining:
    """Train, measure on held-out rows, log, register, and move the champion's alias if the new model is better.

    Args:
        store: MLflow's.
        name: of the registered model, and of the run.
        params, tags: of the run; tags hold the versions of the data.
        train: writes the model to the folder it is given, calling back after each epoch.
        load: reads a model's folder.
        held_out: (item, label id) rows never trained on.
        metric: of ``classification_metrics``; higher is better.
        folder: where resolved models go.
    """

    def score(path: Path) -> float:
        return evaluate(load(path), held_out, batch_size)[metric]

    with tempfile.TemporaryDirectory() as scratch, tracked_run(store, name, params, tags) as run:
        result = train(Path(scratch) / "model", run.on_epoch)
        model = load(result.path)
        figures, _ = log_measured(run, result, model, held_out, batch_size)
        source = run.log_model(result.path, model.kind)
        version = run.register(name, source, {"kind": model.kind})
    digest = rows_digest(held_out)
    promotion = promote_if_better(store, name, version, figures[metric], score, metric, digest, folder)
    champion = resolve(f"models:/{name}@{CHAMPION}", folder, store.tracking_uri, registry_uri=store.registry_uri)
    return TrackedTraining(champion, figures, promotion)


def log_measured(
    run: TrackedRun, result: TrainResult, model: SequenceClassifier[Any], held_out: Rows, batch_size: int = 64
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Measure a trained model on held-out rows and log it: epochs, figures, classes, confusion matrix.

    Returns:
        ``classification_metrics`` and ``per_class_metrics``.
    """
    truth = [label for _, label in held_out]
    probabilities = model.probabilities([item for item, _ in held_out], batch_size).numpy()
    figures = classification_metrics(probabilities, truth)
    classes = per_class_metrics(probabilities, truth, model.labels)
    run.log_history(result)
    run.log_metrics(figures, "held_out_")
    run.log_classes(classes, "held_out_")
    run.log_confusion(confusion_counts(probabilities, truth), model.labels, "held_out_")
    return figures, classes
