"""Trainings in MLflow: a run with its figures, the model in the registry, and the alias `champion`."""

import csv
import hashlib
import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Metric, Param
from mlflow.environment_variables import MLFLOW_REGISTRY_URI
from mlflow.exceptions import MlflowException, RestException
from mlflow.models import Model
from mlflow.models.signature import ModelSignature
from mlflow.types import ColSpec, DataType, Schema, TensorSpec
from mlflow.types.schema import Array

from conf.errors import InputError
from udfs.devices import hardware_parameters
from udfs.models.classifiers.training import EpochMetrics, TrainResult
from udfs.models.language.language_model import LanguageEpoch, LanguageResult
from udfs.models.loader import resolve
from udfs.models.pictures import Chart, loss_curve, update_curve

CHAMPION = "champion"
MODEL = "model"
FLAVOR = "safetensors_classifier"
MOST_METRICS = 1_000
"""That MLflow takes in one call."""
WRITERS = ("causal_language_model",)
"""Kinds of models that answer a text with a text."""


@dataclass(frozen=True)
class Store:
    """Where runs and models are kept.

    Attributes:
        tracking_uri: MLflow's store: `sqlite:///FILE`, `databricks`, a server's address.
        experiment: name, or a path on Databricks.
        artifact_root: folder or URI of a new experiment's artifacts; None leaves it to the store.
        registry_uri: the registry, where it is not the store (`databricks-uc`).
    """

    tracking_uri: str | None
    experiment: str
    artifact_root: str | None = None
    registry_uri: str | None = None

    def client(self) -> MlflowClient:
        return client_of(self.tracking_uri, self.registry_uri)

    def experiment_id(self) -> str:
        """The experiment's id; made when it is not there."""
        client = self.client()
        known = client.get_experiment_by_name(self.experiment)
        if known is not None:
            return str(known.experiment_id)
        try:
            return str(client.create_experiment(self.experiment, artifact_location=self.artifact_root))
        except MlflowException:  # made by another run meanwhile
            known = client.get_experiment_by_name(self.experiment)
            if known is None:
                raise
            return str(known.experiment_id)


@dataclass(frozen=True)
class Promotion:
    """What became of the alias: the new version's score and the old champion's on the same held-out rows."""

    promoted: bool
    version: str
    score: float
    champion_before: str | None
    champion_score: float | None
    reason: str


def client_of(tracking_uri: str | None, registry_uri: str | None = None) -> MlflowClient:
    """A client; the registry is the store itself unless named, or on Databricks its default."""
    return MlflowClient(tracking_uri, registry_uri or _registry_of(tracking_uri))


def _registry_of(tracking_uri: str | None) -> str | None:
    return None if tracking_uri is None or tracking_uri.startswith("databricks") else tracking_uri


@contextmanager
def mlflow_uris(tracking_uri: str | None, registry_uri: str | None = None) -> Iterator[None]:
    """MLflow's process-wide addresses inside; as before outside. For calls that lose what a client was given."""
    tracking = mlflow.get_tracking_uri() if mlflow.is_tracking_uri_set() else None
    # MLflow writes what is set to the environment, which child processes inherit.
    registry = MLFLOW_REGISTRY_URI.get()
    inside = registry_uri or _registry_of(tracking_uri)
    if tracking_uri is not None:
        mlflow.set_tracking_uri(tracking_uri)
    if inside is not None:
        mlflow.set_registry_uri(inside)
    try:
        yield
    finally:
        mlflow.set_tracking_uri(tracking)  # type: ignore[arg-type]  # None: not set
        mlflow.set_registry_uri(registry)
        if registry is None:
            MLFLOW_REGISTRY_URI.unset()


class TrackedRun:
    """A training's run in MLflow, as `tracked_run` opens it."""

    def __init__(self, client: MlflowClient, run_id: str, artifact_uri: str) -> None:
        self.client, self.run_id, self.artifact_uri = client, run_id, artifact_uri

    def on_epoch(self, epoch: EpochMetrics | LanguageEpoch) -> None:
        """Log one epoch; the callback that a training takes."""
        for name, value in asdict(epoch).items():
            if name != "epoch":
                self.client.log_metric(self.run_id, name, value, step=epoch.epoch)

    def log_metrics(self, metrics: Mapping[str, float], prefix: str = "") -> None:
        """Log figures, each name after `prefix`."""
        rows = [Metric(f"{prefix}{name}", float(value), 0, 0) for name, value in metrics.items()]
        self.client.log_batch(self.run_id, metrics=rows)

    def log_history(self, result: TrainResult | LanguageResult) -> None:
        """Log the best epoch, its validation figures, the seconds and the loss curve."""
        figures = {"best_epoch": result.best_epoch, "training_seconds": result.seconds}
        self.log_metrics(figures)
        self.log_metrics(result.metrics, "best_validation_")
        self.client.log_dict(self.run_id, {"epochs": [asdict(epoch) for epoch in result.history]}, "history.json")
        self.client.log_figure(self.run_id, loss_curve(result.history), "loss.png")

    def log_updates(self, losses: Mapping[int, float]) -> None:
        """Log the mean loss of each update's tokens, as a metric by step and as a picture."""
        rows = [Metric("update_loss", loss, 0, number) for number, loss in losses.items()]
        for start in range(0, len(rows), MOST_METRICS):
            self.client.log_batch(self.run_id, metrics=rows[start : start + MOST_METRICS])
        self.client.log_figure(self.run_id, update_curve(losses), "update_loss.png")

    def log_classes(self, per_class: Sequence[Mapping[str, Any]], prefix: str = "") -> None:
        """Log one row a class (`per_class_metrics`) as CSV and JSON."""
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=list(per_class[0]))
        writer.writeheader()
        writer.writerows(per_class)
        self.client.log_text(self.run_id, text.getvalue(), f"{prefix}per_class.csv")
        self.client.log_dict(self.run_id, {"classes": [dict(row) for row in per_class]}, f"{prefix}per_class.json")

    def log_chart(self, chart: Chart, prefix: str = "") -> None:
        """Log a chart as CSV and as a picture."""
        text = io.StringIO()
        csv.writer(text).writerows(chart.rows)
        self.client.log_text(self.run_id, text.getvalue(), f"{prefix}{chart.name}.csv")
        self.client.log_figure(self.run_id, chart.figure, f"{prefix}{chart.name}.png")

    def log_model(self, folder: Path, kind: str) -> str:
        """Log a model folder as it is, safetensors and JSON, with an MLmodel file; return its URI."""
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / MODEL
            shutil.copytree(folder, copy)
            description = Model(artifact_path=MODEL, run_id=self.run_id, signature=signature_of(kind))
            description.add_flavor(FLAVOR, kind=kind, data=".")
            description.save(str(copy / "MLmodel"))
            self.client.log_artifacts(self.run_id, str(copy), MODEL)
        return f"{self.artifact_uri.rstrip('/')}/{MODEL}"

    def register(self, name: str, source: str, tags: Mapping[str, str] | None = None) -> str:
        """Make the logged model at `source` the next version of `name` in the registry; return its number."""
        try:
            self.client.create_registered_model(name)
        except (MlflowException, RestException) as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
        version = self.client.create_model_version(name, source, run_id=self.run_id, tags=dict(tags or {}))
        return str(version.version)


@contextmanager
def tracked_run(
    store: Store, name: str, params: Mapping[str, Any], tags: Mapping[str, str] | None = None
) -> Iterator[TrackedRun]:
    """A run named `name` with `params`; `tags` hold the data's versions. An error inside marks it failed."""
    client = store.client()
    run = client.create_run(store.experiment_id(), run_name=name, tags=dict(tags or {}))
    tracked = TrackedRun(client, run.info.run_id, run.info.artifact_uri)
    found = hardware_parameters(params["precision"], params.get("device", "auto")) if "precision" in params else {}
    logged = {**params, **found}
    client.log_batch(run.info.run_id, params=[Param(key, str(value)) for key, value in logged.items()])
    try:
        yield tracked
    except BaseException:
        client.set_terminated(run.info.run_id, status="FAILED")
        raise
    client.set_terminated(run.info.run_id)


def promote_if_better(
    store: Store,
    name: str,
    version: str,
    mine: float,
    score: Callable[[Path], float],
    metric: str,
    held_out: str,
    cache_dir: Path,
    lower: bool = False,
) -> Promotion:
    """Move the alias `champion` to `version` if it beats today's champion on the same held-out rows.

    The champion is scored here and now by `score`, so that no figure from other rows decides. Equal scores
    leave the alias where it is; a champion that can no longer be read gives way.

    Args:
        mine: the new version's figure on the held-out rows, just measured.
        score: folder of a model to its figure on the held-out rows.
        metric: the figure's name.
        held_out: digest of the held-out rows (`rows_digest`), kept with the version.
        lower: a lower figure is the better one, as of perplexity.
    """
    client = store.client()
    before = champion_version(store, name)
    theirs: float | None = None
    if before == version:
        promoted, reason = True, "it is the champion already"
    elif before is None:
        promoted, reason = True, "there was no champion"
    else:
        try:
            theirs = score(_resolved(store, name, before, cache_dir))
            promoted = mine < theirs if lower else mine > theirs
            verb = "beats" if promoted else "does not beat"
            reason = f"{metric} {mine:.4f} {verb} version {before}'s {theirs:.4f}"
        except InputError as error:
            promoted, reason = True, f"version {before} cannot be read: {error}"
    if promoted:
        client.set_registered_model_alias(name, CHAMPION, version)
    tags = {metric: f"{mine:.6f}", "held_out": held_out, "promotion": reason[:500]}
    for key, value in tags.items():
        client.set_model_version_tag(name, version, key, value)
    return Promotion(promoted, version, mine, before, theirs, reason)


def champion_version(store: Store, name: str) -> str | None:
    """The champion's version number; None when there is none."""
    try:
        return str(store.client().get_model_version_by_alias(name, CHAMPION).version)
    except (MlflowException, RestException):
        return None


def rows_digest(rows: Sequence[Any]) -> str:
    """Sha256 of rows that JSON can write, whatever their order."""
    lines = sorted(json.dumps(row, ensure_ascii=False) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def signature_of(kind: str) -> ModelSignature:
    """What a model of `kind` reads and answers, as the registry of Unity Catalog asks for."""
    if kind in WRITERS:
        return ModelSignature(Schema([ColSpec(DataType.string, "prompt")]), Schema([ColSpec(DataType.string, "text")]))
    text, turns = ColSpec(DataType.string, "text"), ColSpec(Array(DataType.string), "turns")
    if kind == "multi_label_classifier":
        reads: list[ColSpec | TensorSpec] = [ColSpec(DataType.string, "context", required=False), text]
        answers: list[ColSpec | TensorSpec] = [
            ColSpec(Array(DataType.string), "labels"),
            ColSpec(Array(DataType.float), "probabilities"),
        ]
        return ModelSignature(Schema(reads), Schema(answers))
    if kind == "reply_generator":
        return ModelSignature(Schema([turns]), Schema([ColSpec(DataType.string, "reply")]))
    one: list[ColSpec | TensorSpec] = [ColSpec(DataType.string, "label"), ColSpec(DataType.float, "confidence")]
    return ModelSignature(Schema([text if kind == "weak_labeler" else turns]), Schema(one))


def _resolved(store: Store, name: str, version: str, cache_dir: Path) -> Path:
    uri = f"models:/{name}/{version}"
    return resolve(uri, cache_dir, store.tracking_uri, registry_uri=store.registry_uri).path
