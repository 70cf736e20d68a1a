"""Training of a recipe's model, its evaluation on held-out rows, and its registration in MLflow."""

import hashlib
import json
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conf.training_options import TrainingOptions
from etl.pipeline.model_loader import ResolvedModel
from etl.pipeline.outcome import DROPPED_DDL, DroppedRow, Trained
from etl.pipeline.stage_run import StageRun
from etl.training.data_inputs import file_input, rows_digest
from etl.training.experiment import DESCRIPTION, title
from etl.training.model_card import description, model_card
from etl.training.registry import model_store
from etl.training.tracking import (
    CHAMPION,
    Candidate,
    Promotion,
    TrackedRun,
    promote_if_better,
    tracked_run,
)

if TYPE_CHECKING:
    from etl.training.loop.further import FurtherTraining
    from etl.training.loop.train import TrainingContext
    from udfs.models.trainable import EpochMetrics, TrainableModel, TrainingResult, TrainingRows


class HeldOutTest(ABC):
    """The evaluation of a new model and of the current champion on the same rows.

    Attributes:
        metric: name of the metric that is compared; `lower` if a lower value is better.
    """

    metric: str
    rows: Sequence[Any]
    lower = False

    @abstractmethod
    def digest(self) -> str:
        """Return a digest of the held-out rows."""

    @abstractmethod
    def measure(self, tracked: TrackedRun, result: "TrainingResult") -> dict[str, float]:
        """Evaluate the new model, log the results, and return metrics, `metric` among them."""

    def log_choice(self, tracked: TrackedRun, path: Path) -> None:  # noqa: B027 - not every evaluation has charts
        """Log charts of what is chosen on these rows, where they are the validation rows: here none."""

    @abstractmethod
    def score(self, path: Path) -> float:
        """Return `metric` of the model in another folder."""

    @abstractmethod
    def summary(self, figures: Mapping[str, float]) -> str:
        """Return the metrics in one line of text."""


@dataclass(frozen=True)
class Recipe:
    """The training and the evaluation of one model.

    Attributes:
        name: of the registered model and of its run.
        start: from the options of a training to the model to train, for `etl.training.loop.train.train_model`.
        starts_from: that model's identity.
        test: the evaluation on rows that are not trained on.
        rows_out: number of labelled rows used, for training or held out.
        params, tags: of the run, in addition to the options and versions.
        members: trained models; the model is the mean of their answers then, and nothing is trained.
        further: makes a second training of the trained model, given its folder; None: the model is trained once.
        differs: what sets the run apart from others of the model, in its name beside the seed.
        finish: changes the trained model before it is evaluated.
        choice: the evaluation that decides on the champion, on validation rows, so that the figures of ``test`` are of
            rows by which nothing was chosen. None: ``test`` decides.
    """

    name: str
    model: "type[TrainableModel]"
    options: TrainingOptions
    start: "Callable[[TrainingOptions], TrainableModel]"
    starts_from: str
    rows: "TrainingRows"
    test: HeldOutTest
    rows_out: int
    dropped: Sequence[DroppedRow] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    finish: "Callable[[TrainingResult], TrainingResult]" = lambda result: result
    derive: "Callable[[EpochMetrics], Mapping[str, float]]" = lambda epoch: {}
    choice: HeldOutTest | None = None
    differs: Sequence[str] = ()
    further: "Callable[[Path], FurtherTraining] | None" = None
    members: Sequence[ResolvedModel] = ()

    @property
    def made_from(self) -> str:
        """What the model was made from, in a sentence."""
        if self.members:
            return f"The mean of {len(self.members)} models: {_identities(self.members)}."
        return f"Trained on {len(self.rows.train):,} rows, from {self.starts_from}."

    @property
    def logged(self) -> dict[str, Any]:
        """The parameters of its run."""
        if self.members:
            return {"members": _identities(self.members), **self.params}
        return {**self.options.model_dump(exclude={"name"}), "starts_from": self.starts_from, **self.params}


def train_and_register(recipe: Recipe, run: StageRun) -> Trained:
    """Train, evaluate on held-out rows, log, register, and move the champion's alias if the new model is better.

    Where the recipe has a ``choice``, the champion is the better model on validation rows.
    A killed training resumes after its last complete epoch, and its run is closed.
    """
    from etl.training.loop.reproducible import reproducible

    members = {"members": _identities(recipe.members)} if recipe.members else {}
    tags = {
        **training_tags(run, recipe.name),
        "kind": recipe.model.kind,
        DESCRIPTION: description(recipe.model.kind, recipe.made_from),
        **recipe.tags,
        **members,
    }
    first, *others = recipe.differs or ("",)
    name = title(recipe.name, first, f"seed {recipe.options.seed}", *others)
    with (
        tempfile.TemporaryDirectory() as scratch,
        tracked_run(model_store(run.tracking), name, recipe.logged, tags) as tracked,
    ):
        if not run.inputs:
            rows = recipe.rows.train
            tracked.log_inputs([file_input(f"files of {run.stage}", rows_digest(rows), len(rows))])
        tracked.derive = recipe.derive
        result = recipe.finish(_trained(recipe, Path(scratch) / "model", training_context(run, tracked, recipe.name)))
        tracked.log_history(result)
        # A local session leaves one thread to this process: the training's number is set for its tests, too.
        with reproducible(recipe.options):
            figures = recipe.test.measure(tracked, result)
            score = figures[recipe.test.metric] if recipe.choice is None else recipe.choice.score(result.path)
            if recipe.choice is not None:
                recipe.choice.log_choice(tracked, result.path)
        card = model_card(recipe.name, recipe.model.kind, recipe.made_from, figures)
        source = tracked.log_model(result.path, recipe.model.kind, card)
        chosen = recipe.test
        metric = recipe.test.metric
        if recipe.choice is not None:
            chosen = recipe.choice
            metric = f"validation_{recipe.choice.metric}"
            tracked.log_metrics({metric: score}, "champion_")
        tags = {"kind": recipe.model.kind, recipe.test.metric: f"{figures[recipe.test.metric]:.6f}", **members}
        create_registry_schema(run, recipe.name)
        version = tracked.register(recipe.name, source, tags)
    candidate = Candidate(recipe.name, version, metric, score, chosen.digest(), chosen.lower)
    champion, promotion = promote(run, candidate, chosen.score)
    run.say(f"held out: {recipe.test.summary(figures)}; {promotion.in_words}")
    dropped = run.spark.createDataFrame(list(recipe.dropped), DROPPED_DDL) if recipe.dropped else None
    rows_in = recipe.rows_out + sum(row[-1] for row in recipe.dropped)
    rounded = {name: round(value, 4) for name, value in figures.items()}
    rounded["rows"] = len(recipe.test.rows)
    return Trained(champion.identity, rows_in, recipe.rows_out, dropped, rounded)


def _identities(models: Sequence[ResolvedModel]) -> str:
    return ", ".join(model.identity for model in models)


def _trained(recipe: Recipe, out_dir: Path, context: "TrainingContext") -> "TrainingResult":
    if recipe.members:
        from udfs.models.classifiers.classifier import save_mean
        from udfs.models.trainable import TrainingResult

        return TrainingResult(save_mean(out_dir, [one.path for one in recipe.members]), {}, (), 0, 0.0, recipe.options)
    from etl.training.loop.further import train_twice
    from etl.training.loop.train import train_model

    options = recipe.options
    train = train_model if recipe.further is None else partial(train_twice, recipe.further)
    return train(partial(recipe.start, options), recipe.rows, options, out_dir, context)


def promote(run: StageRun, candidate: Candidate, score: Callable[[Path], float]) -> tuple[ResolvedModel, Promotion]:
    """Move the champion's alias to the candidate if it is better; return the champion and the `Promotion`."""
    store = model_store(run.tracking)
    folder = Path(run.folder)
    promotion = promote_if_better(store, candidate, score, folder)
    uri = f"models:/{candidate.name}@{CHAMPION}"
    return run.model(uri), promotion


def create_registry_schema(run: StageRun, name: str) -> None:
    """Create the schema of a registered model with a three-part name (Unity Catalog)."""
    if name.count(".") == 2:
        catalog, schema, _ = name.split(".")
        run.spark.sql(f"CREATE SCHEMA IF NOT EXISTS `{catalog}`.`{schema}`")


def training_context(run: StageRun, tracked: TrackedRun, name: str) -> "TrainingContext":
    """Return a training's checkpoint folder, its callbacks, and its ``training.processes``."""
    from etl.training.loop.train import TrainingContext

    elsewhere = None
    if run.compute.processes > 1:
        from etl.training.processes import train_in_processes

        elsewhere = partial(train_in_processes, run)
    return TrainingContext(
        checkpoints=f"{shared_place(run)}/checkpoints/{name}",
        on_epoch=tracked.on_epoch,
        on_update=tracked.updates.__setitem__,
        say=run.say,
        elsewhere=elsewhere,
    )


def shared_place(run: StageRun) -> str:
    """Return the folder, or place in an object store, of models and checkpoints, which all machines see."""
    return run.store or str(Path(run.folder).resolve())


def training_tags(run: StageRun, name: str) -> dict[str, str]:
    """Return a training's tags; the tag ``training`` is the same when it is restarted after a kill."""
    training = hashlib.sha256(f"{shared_place(run)}\n{run.stage}\n{name}".encode()).hexdigest()[:16]
    return {"stage": run.stage, "training": training, **data_tags(run)}


def data_tags(run: StageRun) -> dict[str, str]:
    """Return the Delta versions of the tables that a training reads, as tags of its run."""
    return {f"data.{table}": version for table, version in run.inputs.items()}


def trial_digest(content: Any) -> str:
    """Return 16 hex digits of the sha256 of JSON-serializable content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
