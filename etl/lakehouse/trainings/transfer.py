"""Transfer trainings: a model of the synthetic data, or the plain encoder, tuned on people's sets; a trial a slice."""

import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from conf.emo_pillars_settings import TransferSettings
from conf.errors import InputError
from conf.taxonomy import goemotions_labels
from conf.training_settings import MultiLabelSettings
from etl.emo_pillars.transfer_scores import MACRO
from etl.lakehouse.registry import model_store
from etl.lakehouse.stage import StageRun, setting
from etl.lakehouse.tables import Table
from etl.lakehouse.trainings.classifiers import SPLITS, data_tags
from etl.lakehouse.trainings.multi_label import load_on_device, multi_label_options
from etl.lakehouse.trainings.transfer_tasks import (
    CONTEXTUAL,
    PLAIN,
    RELABELLED,
    TASKS,
    TYPED,
    Arm,
    Task,
    TaskRows,
    relabelled,
    threshold_on,
)
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier, train_multi_label
from udfs.models.loader import ResolvedModel, resolve
from udfs.models.tracked import log_answers
from udfs.models.tracking import TrackedRun, tracked_run

PLANNED = "trial string, model string, tuned boolean, variant string, seed int, fold int"


def planned_transfers(labelled: DataFrame, run: StageRun, name: str) -> DataFrame:
    """One row a trial of a task, under a hash of all that it depends on.

    Args:
        labelled: the task's table.
        name: of the task.

    Raises:
        InputError: the settings leave no model to try.
    """
    task, transfer = TASKS[name], run.all_settings.emo_pillars.transfer
    present = [model for model in run.models if run.asks(model)] + ([PLAIN] if transfer.plain else [])
    content = _content(labelled)
    starts = {model: _start(run, model).identity for model in present}
    trials = []
    for arm in task.arms(present, transfer):
        used = {arm.model, CONTEXTUAL} if arm.variant in (RELABELLED, TYPED) else {arm.model}
        depends = [content, asdict(arm), {model: starts[model] for model in sorted(used)}, _shared(run, task, arm)]
        trials.append((_digest(depends), *asdict(arm).values()))
    if not trials:
        raise InputError(f"no model to try on {name}: set models.emo_pillars_*, or emo_pillars.transfer.plain")
    return run.spark.createDataFrame(trials, PLANNED)


def run_transfers(trials: DataFrame, labelled: DataFrame, run: StageRun, name: str, table: Table) -> DataFrame:
    """Do the trials of a task and return their rows of ``table``; no weights are kept."""
    found: list[Mapping[str, Any]] = []
    for trial in trials.orderBy("trial").collect():
        found += _trial(trial, labelled, run, TASKS[name])
    columns = table.columns
    return run.spark.createDataFrame([tuple(row[name] for name in columns) for row in found], table.schema)


def _trial(trial: Row, labelled: DataFrame, run: StageRun, task: Task) -> list[Mapping[str, Any]]:
    arm = Arm(trial.model, trial.tuned, trial.variant, trial.seed, trial.fold)
    own: MultiLabelSettings = setting(run.all_settings, f"training.{task.name}")
    transfer, start = run.all_settings.emo_pillars.transfer, _start(run, arm.model)
    rows = _rows(labelled, run, task, arm, transfer)
    params = {**own.model_dump(), **asdict(arm), "task": task.name, "starts_from": start.identity}
    tags = {"stage": f"emo_pillars_transfer_{task.name}", "trial": trial.trial, **data_tags(run)}
    title = " ".join([task.name, arm.model, *(f"{name} {value}" for name, value in _chosen(arm).items())])
    with (
        tempfile.TemporaryDirectory() as scratch,
        tracked_run(model_store(run.all_settings), title, params, tags) as tracked,
    ):
        seconds, epochs = 0.0, 0
        if arm.tuned:
            options = multi_label_options(own, run.all_settings.models.training_threads, arm.seed)
            result = train_multi_label(
                start.path, rows.rows["train"], rows.rows["validation"], goemotions_labels(), options,
                Path(scratch) / "model", tracked.on_epoch, own.pooling, arm.variant == TYPED,
            )  # fmt: skip
            tracked.log_history(result)
            model, seconds, epochs = load_on_device(result.path, own.device), result.seconds, len(result.history)
        else:
            model = load_on_device(start.path, own.device)
            if task.validates:
                model.threshold = threshold_on(model, rows.rows["validation"], own.batch_size)
        scored = _scored(tracked, model, rows, task, own.batch_size)
    line = "; ".join(f"{kind}: macro-F1 {row['f1']:.4f}" for kind, row in scored[MACRO].items())
    run.say(f"{title}: {line}")
    common = {
        **trial.asDict(), "threshold": model.threshold, "epochs": epochs, "seconds": round(seconds, 1),
        **{f"{split}_rows": len(rows.rows[split]) if arm.tuned or split == "test" else 0 for split in SPLITS},
        "starts_from": start.identity, "run_id": tracked.run_id,
    }  # fmt: skip
    return [{**common, **row} for kinds in scored.values() for row in kinds.values()]


def _rows(labelled: DataFrame, run: StageRun, task: Task, arm: Arm, transfer: TransferSettings) -> TaskRows:
    rows = task.rows(labelled, arm, transfer)
    if arm.variant not in (RELABELLED, TYPED):
        return rows
    judge = load_on_device(run.models[CONTEXTUAL].path, setting(run.all_settings, f"training.{task.name}.device"))
    return relabelled(rows, judge, transfer.least_probability, run.all_settings.models.batch_size)


def _scored(
    tracked: TrackedRun, model: MultiLabelClassifier, rows: TaskRows, task: Task, batch_size: int
) -> dict[str, dict[str, dict[str, Any]]]:
    """Class, then what is scored, to its row of the results; MLflow gets the averages and the classes."""
    passages, truths = [passage for passage, _ in rows.rows["test"]], [labels for _, labels in rows.rows["test"]]
    probabilities = model.probabilities(passages, batch_size).numpy()
    log_answers(tracked, model, probabilities, truths)
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for score in task.scores(probabilities, rows.truths, model.threshold):
        figures = {kind: round(getattr(score, kind), 4) for kind in ("precision", "recall", "f1")}
        counts = {"support": score.support, "predicted": score.predicted}
        found.setdefault(score.name, {})[score.scored] = {
            "scored": score.scored, "class": score.name, **figures, **counts,
        }  # fmt: skip
        if score.name == MACRO:
            metric = f"{score.scored.replace(', ', '_').replace(' ', '_')}_macro_"
            tracked.log_metrics(figures, metric)
    return found


def _chosen(arm: Arm) -> dict[str, Any]:
    """What an arm is beside its model, for people."""
    chosen = {
        name: value for name, value in asdict(arm).items() if name not in ("model", "tuned") and value is not None
    }
    return chosen if arm.tuned else {"as": "it is"}


def _start(run: StageRun, model: str) -> ResolvedModel:
    if model != PLAIN:
        found: ResolvedModel = run.models[model]
        return found
    models = run.all_settings.models
    return resolve(models.emo_pillars_encoder, Path(run.folder), share=models.share)


def _shared(run: StageRun, task: Task, arm: Arm) -> Any:
    """The settings that a trial depends on beside its rows and its model."""
    transfer = run.all_settings.emo_pillars.transfer
    if not arm.tuned:
        return [task.name]
    own = setting(run.all_settings, f"training.{task.name}").model_dump(exclude={"seed"})
    return [task.name, own, run.all_settings.models.training_threads, transfer.validation_share] + (
        [transfer.least_probability] if arm.variant in (RELABELLED, TYPED) else []
    )


def _content(labelled: DataFrame) -> str:
    content = F.bit_xor(F.xxhash64(*labelled.columns))
    row = labelled.agg(F.count("*").alias("n"), content.alias("content")).first()
    return f"{row.n}:{row.content}" if row is not None else ""


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
