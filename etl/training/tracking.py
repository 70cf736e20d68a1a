"""Trainings in MLflow: runs with metrics, registered models, and the alias `champion`."""

import csv
import io
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlflow import MlflowClient
from mlflow.entities import Metric, Param
from mlflow.exceptions import MlflowException
from mlflow.models import Model

from conf.errors import InputError
from conf.redaction import redacted
from conf.settings import LakehouseSettings
from etl.pipeline.mlflow_client import client_of
from etl.pipeline.model_loader import resolve
from etl.training.data_inputs import delta_inputs
from etl.training.experiment import TAGS, code_tags, describe_experiment
from etl.training.signatures import SERVED, signature_of

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput

    from udfs.models.pictures import Chart
    from udfs.models.trainable import EpochMetrics, TrainingResult

CHAMPION = "champion"
FILMS = "films"
PILOT = 0.5
"""A corpus with a smaller share of another's films is a pilot of it."""
MODEL = "model"
CARD = "README.md"
FLAVOR = "safetensors_classifier"
MOST_METRICS = 1_000
"""MLflow's limit for one call."""


@dataclass(frozen=True)
class ModelStore:
    """The MLflow store of runs and models.

    Attributes:
        tracking_uri: `sqlite:///FILE`, `databricks` or a server's address.
        experiment: name, or a path on Databricks.
        artifact_root: folder or URI of a new experiment's artifacts; None for the store's default.
        registry_uri: the registry, where it is not the store (`databricks-uc`).
        lakehouse: where the tables are that trainings read.
    """

    tracking_uri: str | None
    experiment: str
    artifact_root: str | None = None
    registry_uri: str | None = None
    lakehouse: LakehouseSettings | None = None

    def client(self) -> MlflowClient:
        return client_of(self.tracking_uri, self.registry_uri)

    def experiment_id(self) -> str:
        """Return the experiment's id; create the experiment if it does not exist."""
        client = self.client()
        known = client.get_experiment_by_name(self.experiment)
        if known is None:
            try:
                return str(client.create_experiment(self.experiment, self.artifact_root, tags=TAGS))
            except MlflowException:  # another run may have created it meanwhile
                known = client.get_experiment_by_name(self.experiment)
                if known is None:
                    raise
        return str(known.experiment_id)


@dataclass(frozen=True)
class Promotion:
    """The decision on the champion's alias, with the scores of both versions on the same held-out rows."""

    promoted: bool
    version: str
    score: float
    champion_before: str | None
    champion_score: float | None
    reason: str

    @property
    def in_words(self) -> str:
        """Which version is used from now on, and why."""
        if self.champion_before is None:
            return f"version {self.version}, the first, is in use"
        return f"version {self.version if self.promoted else self.champion_before} is in use: {self.reason}"


class TrackedRun:
    """A training's run in MLflow, which `tracked_run` opens.

    Attributes:
        derive: returns further metrics of an epoch, which are logged with it.
        updates: each update's mean loss, by number.
    """

    def __init__(self, client: MlflowClient, run_id: str, artifact_uri: str) -> None:
        self.client = client
        self.run_id = run_id
        self.artifact_uri = artifact_uri
        self.derive: Callable[[EpochMetrics], Mapping[str, float]] = lambda epoch: {}
        self.updates: dict[int, float] = {}
        self._logged: set[int] = set()

    def on_epoch(self, epoch: "EpochMetrics") -> None:
        """Log one epoch; a callback of the training loop."""
        self._logged.add(epoch.epoch)
        for name, value in {**epoch.flat(), **self.derive(epoch)}.items():
            if name != "epoch":
                self.client.log_metric(self.run_id, name, value, step=epoch.epoch)

    def log_inputs(self, inputs: Iterable["DatasetInput"]) -> None:
        """Log the data that a training reads."""
        if given := list(inputs):
            self.client.log_inputs(self.run_id, datasets=given)

    def log_metrics(self, metrics: Mapping[str, float], prefix: str = "") -> None:
        """Log metrics, with `prefix` before each name."""
        rows = [Metric(f"{prefix}{name}", float(value), 0, 0) for name, value in metrics.items()]
        self.client.log_batch(self.run_id, metrics=rows)

    def log_history(self, result: "TrainingResult") -> None:
        """Log the best epoch, its validation metrics, seconds, hardware, and epochs not yet logged."""
        for epoch in result.history:
            if epoch.epoch not in self._logged:  # from before an interruption
                self.on_epoch(epoch)
        self.client.log_batch(self.run_id, params=_params(result.hardware))
        self.log_metrics({"best_epoch": result.best_epoch, "training_seconds": result.seconds})
        self.log_metrics(result.metrics, "best_validation_")

    def log_updates(self) -> None:
        """Log the mean loss of each update, as a metric by step."""
        rows = [Metric("update_loss", loss, 0, number) for number, loss in self.updates.items()]
        for start in range(0, len(rows), MOST_METRICS):
            self.client.log_batch(self.run_id, metrics=rows[start : start + MOST_METRICS])

    def log_classes(self, per_class: Sequence[Mapping[str, Any]], prefix: str = "") -> None:
        """Log one row a class (`per_class_metrics`) as JSON."""
        self.client.log_dict(self.run_id, {"classes": [dict(row) for row in per_class]}, f"{prefix}per_class.json")

    def log_chart(self, chart: "Chart", prefix: str = "") -> None:
        """Log a chart as CSV and PNG."""
        text = io.StringIO()
        csv.writer(text).writerows(chart.rows)
        self.client.log_text(self.run_id, text.getvalue(), f"{prefix}{chart.name}.csv")
        self.client.log_figure(self.run_id, chart.figure, f"{prefix}{chart.name}.png")

    def log_model(self, folder: Path, kind: str, card: str = "") -> str:
        """Log a copy of a model folder with an MLmodel file and its card, and return its URI.

        A classifier can also be loaded as a pyfunc, and served.
        """
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / MODEL
            shutil.copytree(folder, copy)
            description = Model(artifact_path=MODEL, run_id=self.run_id, signature=signature_of(kind))
            description.add_flavor(FLAVOR, kind=kind, data=".")
            if kind in SERVED:
                description.add_flavor(
                    "python_function", loader_module="udfs.serving", python_version=platform.python_version()
                )
            description.save(str(copy / "MLmodel"))
            if card:
                (copy / CARD).write_text(card, encoding="utf-8")
            self.client.log_artifacts(self.run_id, str(copy), MODEL)
        return f"{self.artifact_uri.rstrip('/')}/{MODEL}"

    def register(self, name: str, source: str, tags: Mapping[str, str] | None = None) -> str:
        """Register the logged model at `source` as the next version of `name`, and return the version number."""
        try:
            self.client.create_registered_model(name)
        except MlflowException as error:
            if error.error_code not in ("RESOURCE_ALREADY_EXISTS", "ALREADY_EXISTS"):  # the latter: Unity Catalog
                raise
        version = self.client.create_model_version(name, source, run_id=self.run_id, tags=_tags(tags or {}))
        return str(version.version)


@contextmanager
def tracked_run(
    store: ModelStore, name: str, params: Mapping[str, Any], tags: Mapping[str, str] | None = None
) -> Iterator[TrackedRun]:
    """Open a run named `name` with `params`; an error inside sets its status to FAILED.

    Args:
        tags: of the run. The tag ``training`` identifies the training, whose killed earlier runs are closed; tags
            ``data.<table>``, the versions of the tables that it reads, are logged as inputs as well.
    """
    tags = _tags({**code_tags(), **(tags or {})})
    close_killed_runs(store, tags.get("training"))
    client = store.client()
    experiment = store.experiment_id()
    describe_experiment(client, experiment)
    run = client.create_run(experiment, run_name=name, tags=tags)
    tracked = TrackedRun(client, run.info.run_id, run.info.artifact_uri)
    try:
        client.log_batch(run.info.run_id, params=_params(params))
        if read := delta_inputs(tags, store.lakehouse):
            client.log_inputs(run.info.run_id, read)
        yield tracked
    except BaseException:
        client.set_terminated(run.info.run_id, status="FAILED")
        raise
    client.set_terminated(run.info.run_id)


def _params(values: Mapping[str, Any]) -> list[Param]:
    return [Param(key, redacted(str(value))) for key, value in values.items()]


def _tags(values: Mapping[str, str]) -> dict[str, str]:
    return {key: redacted(str(value)) for key, value in values.items()}


def close_killed_runs(store: ModelStore, training: str | None) -> None:
    """Set the status of a training's earlier runs from RUNNING to KILLED."""
    if training is None:
        return
    client = store.client()
    running = f"attributes.status = 'RUNNING' and tags.training = '{training}'"
    for run in client.search_runs([store.experiment_id()], running):
        client.set_terminated(run.info.run_id, status="KILLED")


@dataclass(frozen=True)
class Candidate:
    """A registered version that may become the champion.

    Attributes:
        metric, score: the metric that is compared, measured on the held-out rows.
        held_out: digest of these rows (`rows_digest`), a tag of the version.
        lower: whether a lower score is better, as for perplexity.
        films: how many films the corpus had that the model learned from, a tag of the version; None if it does not
            count. A corpus with fewer than half of another's films is a pilot of it: its model does not replace the
            other's, and gives way to it, whatever the scores.
    """

    name: str
    version: str
    metric: str
    score: float
    held_out: str
    lower: bool = False
    films: int | None = None


def promote_if_better(
    store: ModelStore, candidate: Candidate, score: Callable[[Path], float], cache_dir: Path
) -> Promotion:
    """Move the alias `champion` to the candidate if it beats the current champion on the same held-out rows.

    The champion is scored again, because its logged metrics may come from other rows. Equal scores do not move the
    alias. A champion that cannot be read, or has other labels, is replaced.

    Args:
        score: from a model's folder to its metric on the held-out rows.
    """
    name = candidate.name
    version = candidate.version
    mine = candidate.score
    client = store.client()
    before = champion_version(store, name)
    theirs: float | None = None
    if before == version:
        promoted = True
        reason = "it is the champion already"
    elif before is None:
        promoted = True
        reason = "there was none before"
    elif (whole := _whole_of(candidate, _films_of(client, name, before))) is not None:
        promoted, reason = whole
        reason = f"{reason} (version {before})"
    else:
        try:
            champion = resolve(
                f"models:/{name}/{before}", cache_dir, store.tracking_uri, registry_uri=store.registry_uri
            )
            theirs = score(champion.path)
            promoted = mine < theirs if candidate.lower else mine > theirs
            verb = "beats" if promoted else "does not beat"
            reason = f"{candidate.metric} {mine:.4f} {verb} version {before}'s {theirs:.4f}"
        except InputError as error:
            promoted = True
            reason = f"version {before} cannot be compared: {error}"
    if promoted:
        client.set_registered_model_alias(name, CHAMPION, version)
    tags = {candidate.metric: f"{mine:.6f}", "held_out": candidate.held_out, "promotion": reason[:500]}
    if candidate.films is not None:
        tags[FILMS] = str(candidate.films)
    for key, value in _tags(tags).items():
        client.set_model_version_tag(name, version, key, value)
    _tag_versions(client, candidate, before if promoted else None, promoted, reason)
    return Promotion(promoted, version, mine, before, theirs, reason)


def _tag_versions(
    client: MlflowClient, candidate: Candidate, replaced: str | None, promoted: bool, reason: str
) -> None:
    """Tag the candidate's run with the decision, and the run of the champion that it replaces."""
    tags_of = {candidate.version: {"champion": "yes" if promoted else "no", "promotion": reason[:500]}}
    if replaced is not None and replaced != candidate.version:
        tags_of[replaced] = {"champion": f"no: replaced by version {candidate.version}"}
    for version, tags in tags_of.items():
        with suppress(MlflowException):  # a run that was deleted, or of another workspace of the registry
            run_id = client.get_model_version(candidate.name, version).run_id
            for key, value in _tags(tags).items():
                if run_id:
                    client.set_tag(run_id, key, value)


def _whole_of(candidate: Candidate, films: int | None) -> tuple[bool, str] | None:
    """Return whether a candidate is promoted, and why, where one of two corpora is a pilot of the other."""
    mine = candidate.films
    if mine is None or films is None:
        return None
    if mine < films * PILOT:
        return False, f"a pilot of {mine:,} films does not replace the champion of {films:,}"
    if films < mine * PILOT:
        return True, f"a corpus of {mine:,} films replaces the pilot of {films:,}"
    return None


def _films_of(client: MlflowClient, name: str, version: str) -> int | None:
    films = client.get_model_version(name, version).tags.get(FILMS, "")
    return int(films) if films.isdigit() else None


def champion_version(store: ModelStore, name: str) -> str | None:
    """Return the champion's version number; None if there is no champion."""
    try:
        return str(store.client().get_model_version_by_alias(name, CHAMPION).version)
    except MlflowException as error:
        if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE", "NOT_FOUND"):
            return None
        raise
