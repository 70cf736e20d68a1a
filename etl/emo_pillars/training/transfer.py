"""Transfer of models of the synthetic data, and of the plain encoder, to sets labelled by people; one batch a trial."""

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.taxonomy import goemotions_labels
from etl.common.splits import SPLITS
from etl.emo_pillars.settings import MultiLabelSettings, TransferSettings
from etl.emo_pillars.training.transfer_tasks import (
    CONTEXTUAL,
    PLAIN,
    RELABELLED,
    TASKS,
    TYPED,
    Arm,
    TaskRows,
    TransferTask,
    drawn,
    relabelled,
    settle_on,
)
from etl.emo_pillars.transfer_scores import MACRO
from etl.pipeline.model_loader import ResolvedModel
from etl.pipeline.stage_run import StageRun
from etl.pipeline.tables import Table
from etl.training.experiment import parent_run, title
from etl.training.held_out_classifiers import answers_to, load_on_device, log_answers, log_choice
from etl.training.loop.train import train_model
from etl.training.registration import training_context, training_tags, trial_digest
from etl.training.registry import model_store
from etl.training.tracking import TrackedRun, tracked_run
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier, starting_model
from udfs.models.trainable import TrainingRows

PLANNED = "trial string, model string, tuned boolean, variant string, seed int, fold int"


@dataclass(frozen=True)
class Transfer:
    """A transfer to one labelled set.

    Attributes:
        encoder: URI of the plain encoder.
    """

    name: str
    settings: TransferSettings
    options: MultiLabelSettings
    encoder: str

    @property
    def task(self) -> TransferTask:
        return TASKS[self.name]


def planned_transfers(labelled: DataFrame, run: StageRun, transfer: Transfer) -> DataFrame:
    """Return one row a trial of a task; the column trial is a hash of the trial's inputs.

    Raises:
        InputError: the settings have no model to try.
    """
    settings = transfer.settings
    present = [model for model in run.models if run.model(model).given] + ([PLAIN] if settings.plain else [])
    present += dict.fromkeys((*settings.encoders, *settings.models))
    content = _content(labelled)
    starts = {model: _start(run, transfer, model).identity for model in present}
    trials = []
    for arm in transfer.task.arms(present, settings):
        used = {arm.model, CONTEXTUAL} if arm.variant in (RELABELLED, TYPED) else {arm.model}
        depends = [content, asdict(arm), {model: starts[model] for model in sorted(used)}, _shared(transfer, arm)]
        trials.append((trial_digest(depends), *asdict(arm).values()))
    if not trials:
        raise InputError(f"no model to try on {transfer.name}: set models.emo_pillars_*, or emo_pillars.transfer.plain")
    return run.spark.createDataFrame(trials, PLANNED)


def run_transfers(trials: DataFrame, labelled: DataFrame, run: StageRun, transfer: Transfer, table: Table) -> DataFrame:
    """Run the trials of a task, and return their rows of ``table``; no weights are saved."""
    found: list[Mapping[str, Any]] = []
    for trial in trials.orderBy("trial").collect():
        found += _trial(trial, labelled, run, transfer)
    columns = table.columns
    return run.spark.createDataFrame([tuple(row[name] for name in columns) for row in found], table.schema)


def _trial(trial: Row, labelled: DataFrame, run: StageRun, transfer: Transfer) -> list[Mapping[str, Any]]:
    arm = Arm(trial.model, trial.tuned, trial.variant, trial.seed, trial.fold)
    task = transfer.task
    options = transfer.options
    if arm.seed is not None:
        options = options.model_copy(update={"seed": arm.seed})
    start = _start(run, transfer, arm.model)
    rows = _rows(labelled, run, transfer, arm)
    params = {**options.model_dump(), **asdict(arm), "task": task.name, "starts_from": start.identity}
    store = model_store(run.tracking)
    belongs = {"comparison": f"emo_pillars_transfer_{task.name}", "stage": run.stage}
    parent = parent_run(store.client(), store.experiment_id(), f"transfer to {task.name}", belongs, "comparison")
    tags = {
        **training_tags(run, trial.trial),
        "kind": MultiLabelClassifier.kind,
        "trial": trial.trial,
        "mlflow.parentRunId": parent,
    }
    described = title(arm.model, *(f"{name} {value}" for name, value in _description(arm).items()), task.name)
    with (
        tempfile.TemporaryDirectory() as scratch,
        tracked_run(store, described, params, tags) as tracked,
    ):
        path = start.path
        seconds = 0.0
        epochs = 0
        if arm.tuned:
            train = rows.rows["train"]
            validation = rows.rows["validation"]
            typed = arm.variant == TYPED
            begin = partial(starting_model, start.path, train, goemotions_labels(), options, typed)
            result = train_model(
                begin,
                TrainingRows(train, validation),
                options,
                Path(scratch) / "model",
                training_context(run, tracked, trial.trial),
            )
            tracked.log_history(result)
            path = result.path
            seconds = result.seconds
            epochs = len(result.history)
        model = load_on_device(MultiLabelClassifier, path, options.device)
        if not arm.tuned and task.validates:
            settle_on(model, rows.rows["validation"], options.batch_size)
        if rows.rows["validation"] and (arm.tuned or task.validates):
            log_choice(tracked, model, rows.rows["validation"])
        scored = _scored(tracked, model, rows, task, options.batch_size)
    line = "; ".join(f"{kind}: macro-F1 {row['f1']:.4f}" for kind, row in scored[MACRO].items())
    run.say(f"{described}: {line}")
    common = {
        **trial.asDict(),
        "threshold": model.threshold,
        "epochs": epochs,
        "seconds": round(seconds, 1),
        **{f"{split}_rows": len(rows.rows[split]) if arm.tuned or split == "test" else 0 for split in SPLITS},
        "starts_from": start.identity,
        "run_id": tracked.run_id,
    }
    return [{**common, **row} for kinds in scored.values() for row in kinds.values()]


def _rows(labelled: DataFrame, run: StageRun, transfer: Transfer, arm: Arm) -> TaskRows:
    settings = transfer.settings
    rows = drawn(transfer.task.rows(labelled, arm, settings), settings.training_share)
    if arm.variant not in (RELABELLED, TYPED):
        return rows
    judge = load_on_device(MultiLabelClassifier, run.model(CONTEXTUAL).path, transfer.options.device)
    return relabelled(rows, judge, settings.least_probability, run.compute.batch_size)


def _scored(
    tracked: TrackedRun, model: MultiLabelClassifier, rows: TaskRows, task: TransferTask, batch_size: int
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the rows of the results by class and by the value of scored; log averages and classes to MLflow."""
    probabilities = answers_to(model, rows.rows["test"], batch_size)
    log_answers(tracked, model, probabilities, [labels for _, labels in rows.rows["test"]])
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for score in task.scores(probabilities, rows.truths, model.cutoffs):
        figures = {kind: round(getattr(score, kind), 4) for kind in ("precision", "recall", "f1")}
        found.setdefault(score.name, {})[score.scored] = {
            "scored": score.scored,
            "class": score.name,
            **figures,
            "support": score.support,
            "predicted": score.predicted,
        }
        if score.name == MACRO:
            tracked.log_metrics(figures, f"{score.scored.replace(', ', '_').replace(' ', '_')}_macro_")
    return found


def _description(arm: Arm) -> dict[str, Any]:
    """Return an arm's values besides its model, for the title of its run."""
    if not arm.tuned:
        return {"as": "it is"}
    return {name: value for name, value in asdict(arm).items() if name not in ("model", "tuned") and value is not None}


def _start(run: StageRun, transfer: Transfer, model: str) -> ResolvedModel:
    if model != PLAIN and model not in transfer.settings.encoders:
        return run.model(model)
    return run.model(transfer.encoder if model == PLAIN else model)


def _shared(transfer: Transfer, arm: Arm) -> Any:
    """Return the settings that a trial depends on besides its rows and its model."""
    settings = transfer.settings
    if not arm.tuned:
        return [transfer.name]
    options = transfer.options.model_dump(exclude={"seed"})
    relabelling = [settings.least_probability] if arm.variant in (RELABELLED, TYPED) else []
    share = [] if settings.training_share == 1 else [f"share {settings.training_share}"]
    return [transfer.name, options, settings.validation_share, *relabelling, *share]


def _content(labelled: DataFrame) -> str:
    content = F.bit_xor(F.xxhash64(*labelled.columns))
    row = labelled.agg(F.count("*").alias("n"), content.alias("content")).first()
    return f"{row.n}:{row.content}" if row is not None else ""
