"""From a recipe to the registry: a training, its run in MLflow, its figures on held-out rows, the champion's alias."""

import hashlib
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from conf.training_options import TrainingOptions
from etl.pipeline.stage import setting
from etl.pipeline.stage_run import StageRun
from etl.tables.outcome import Trained
from etl.training.loop.train import TrainingContext, train_model
from etl.training.registry import model_store
from etl.training.tracking import CHAMPION, Candidate, Promotion, TrackedRun, promote_if_better, tracked_run
from udfs.models.loader import ResolvedModel, resolve
from udfs.models.trainable import EpochMetrics, TrainableModel, TrainingResult, TrainingRows

LeftOut = tuple[str, str, str, str, int]


class HeldOutTest(ABC):
    """How a new model and today's champion are measured on the same rows, each once.

    Attributes:
        metric: the figure that decides; `lower` where a lower one is better.
    """

    metric: str
    lower = False

    @abstractmethod
    def digest(self) -> str:
        """Return what tells these rows from others."""

    @abstractmethod
    def measure(self, tracked: TrackedRun, result: TrainingResult) -> dict[str, float]:
        """Measure the new model, log what is found, and return figures, `metric` among them."""

    @abstractmethod
    def score(self, path: Path) -> float:
        """Return `metric` of another model's folder."""

    @abstractmethod
    def summary(self, figures: Mapping[str, float]) -> str:
        """Return the figures in one line for people."""


@dataclass(frozen=True)
class Recipe:
    """How one model is trained, measured and named.

    Attributes:
        name: of the registered model, and of its run.
        stage: for the run's tags.
        model: its class.
        options: of the training loop.
        start: makes the model to train, as `etl.training.loop.train.train_model` calls it.
        starts_from: that model's identity.
        rows: to learn from and to validate on.
        test: on rows never trained on.
        rows_out: labelled rows used, for training or held out.
        left_out: for the ledger.
        params, tags: further ones of the run.
        finish: what is done to the trained model before it is measured.
        derive: further figures of an epoch.
    """

    name: str
    stage: str
    model: type[TrainableModel]
    options: TrainingOptions
    start: Callable[[], TrainableModel]
    starts_from: str
    rows: TrainingRows
    test: HeldOutTest
    rows_out: int
    left_out: Sequence[LeftOut] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    finish: Callable[[TrainingResult], TrainingResult] = lambda result: result
    derive: Callable[[EpochMetrics], Mapping[str, float]] = lambda epoch: {}


def train_and_register(recipe: Recipe, run: StageRun) -> Trained:
    """Train, measure on held-out rows, log, register, and move the champion's alias if the new model is better.

    A training that was killed goes on after its last whole epoch, and its run is closed.
    """
    params = {**recipe.options.model_dump(exclude={"name"}), "starts_from": recipe.starts_from, **recipe.params}
    tags = {**training_tags(run, recipe.stage, recipe.name), **recipe.tags}
    with (
        tempfile.TemporaryDirectory() as scratch,
        tracked_run(model_store(run.all_settings), recipe.name, params, tags) as tracked,
    ):
        tracked.derive = recipe.derive
        context = training_context(run, tracked, recipe.name)
        result = train_model(recipe.start, recipe.rows, recipe.options, Path(scratch) / "model", context)
        result = recipe.finish(result)
        tracked.log_history(result)
        figures = recipe.test.measure(tracked, result)
        source = tracked.log_model(result.path, recipe.model.kind)
        version = tracked.register(recipe.name, source, {"kind": recipe.model.kind})
    score = figures[recipe.test.metric]
    candidate = Candidate(recipe.name, version, recipe.test.metric, score, recipe.test.digest(), recipe.test.lower)
    champion, promotion = promoted(run, candidate, recipe.test.score)
    run.say(f"held out: {recipe.test.summary(figures)}; champion: {promotion.reason}")
    schema = "unit string, id string, reason string, detail string, units bigint"
    dropped = run.spark.createDataFrame(list(recipe.left_out), schema) if recipe.left_out else None
    rows_in = recipe.rows_out + sum(row[-1] for row in recipe.left_out)
    rounded = {name: round(value, 4) for name, value in figures.items()}
    return Trained(champion.identity, rows_in, recipe.rows_out, dropped, rounded)


def promoted(run: StageRun, candidate: Candidate, score: Callable[[Path], float]) -> tuple[ResolvedModel, Promotion]:
    """Move the champion's alias to the candidate if it is better; return the champion, and the alias's story."""
    store, folder = model_store(run.all_settings), Path(run.folder)
    promotion = promote_if_better(store, candidate, score, folder)
    uri = f"models:/{candidate.name}@{CHAMPION}"
    return resolve(uri, folder, store.tracking_uri, registry_uri=store.registry_uri), promotion


def options_of(run: StageRun, model: str) -> Any:
    """Return the options of the training ``training.<model>``, with the threads that all trainings take."""
    options = setting(run.all_settings, f"training.{model}")
    threads = options.threads or run.all_settings.models.training_threads
    return options.model_copy(update={"threads": threads})


def training_context(run: StageRun, tracked: TrackedRun, name: str) -> TrainingContext:
    """Return where a training of this name keeps checkpoints, whom it tells, and what trains it: ``training.processes``
    processes, or this one."""
    elsewhere = None
    if run.all_settings.training.processes > 1:
        from etl.training.processes import train_in_processes

        elsewhere = partial(train_in_processes, run)
    return TrainingContext(
        checkpoints=Path(run.folder).resolve() / "checkpoints" / name, on_epoch=tracked.on_epoch,
        on_update=tracked.updates.__setitem__, say=run.say, elsewhere=elsewhere,
    )  # fmt: skip


def training_tags(run: StageRun, stage: str, name: str) -> dict[str, str]:
    """Return a training's tags; under ``training`` what is the same when it is started again after a kill."""
    training = hashlib.sha256(f"{Path(run.folder).resolve()}\n{stage}\n{name}".encode()).hexdigest()[:16]
    return {"stage": stage, "training": training, **data_tags(run)}


def data_tags(run: StageRun) -> dict[str, str]:
    """Return the Delta versions of the tables that a training reads, as tags of its run."""
    return {f"data.{table}": version for table, version in run.inputs.items()}
