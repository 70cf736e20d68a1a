"""One tracked training: run, figures on held-out rows, registered version, alias to the better model."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from udfs.models.classifiers.classifier import SequenceClassifier
from udfs.models.classifiers.training import EpochMetrics, Rows, TrainResult, evaluate
from udfs.models.loader import ResolvedModel, resolve
from udfs.models.tracking import CHAMPION, Promotion, Store, TrackedRun, promote_if_better, rows_digest, tracked_run


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
        held_out: (item, truth) rows never trained on.
        metric: of the model's ``figures``; higher is better.
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
    """Measure a trained model on held-out rows and log it: epochs, figures, classes, the model's chart.

    Returns:
        The model's ``figures`` and ``class_figures``.
    """
    truths = [truth for _, truth in held_out]
    probabilities = model.probabilities([item for item, _ in held_out], batch_size).numpy()
    run.log_history(result)
    return log_answers(run, model, probabilities, truths)


def log_answers(
    run: TrackedRun, model: SequenceClassifier[Any], probabilities: NDArray[Any], truths: Sequence[Any]
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Log and return a model's ``figures`` and ``class_figures`` on held-out rows; log its chart."""
    figures = model.figures(probabilities, truths)
    classes = model.class_figures(probabilities, truths)
    run.log_metrics(figures, "held_out_")
    run.log_classes(classes, "held_out_")
    run.log_chart(model.chart(probabilities, truths), "held_out_")
    return figures, classes
