"""The comparison of classifiers: arms, one trial an arm and seed, each a run in MLflow under one parent."""

import hashlib
import json
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.training_settings import ComparisonSettings
from etl.lakehouse.registry import model_store
from etl.lakehouse.stage import StageRun
from etl.lakehouse.tables.edos import CLASSIFIER_TRIALS
from etl.lakehouse.trainings.classifiers import (
    SPLITS,
    data_tags,
    options_of,
    rows_by_split,
    starting_encoder,
    train_emotion_model,
)
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.tracked import log_measured
from udfs.models.tracking import Store, tracked_run

PLANNED = "trial string, weighted boolean, origins array<string>, seed int"
SHOWN = ("macro_precision", "macro_recall", "macro_f1", "accuracy", "cross_entropy", "calibration_error")


@dataclass(frozen=True)
class Arm:
    """What is compared: weighted token embeddings or not, and the origins of the rows trained on."""

    weighted: bool
    origins: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{'weighted' if self.weighted else 'unweighted'}/{'-'.join(self.origins)}"


def arms_of(present: Collection[str], comparison: ComparisonSettings) -> list[Arm]:
    """Each origin that has rows added in turn (EDOS 3.3), with and without weights (EDOS C).

    Raises:
        InputError: none of the origins has rows.
    """
    there = [origin for origin in dict.fromkeys(comparison.origins) if origin in present]
    if not there:
        raise InputError(
            f"training.comparison.origins: edos.training_dialogues has no rows of {', '.join(comparison.origins)}"
        )
    return [
        Arm(weighted, tuple(there[:number]))
        for weighted in dict.fromkeys(comparison.weightings)
        for number in range(1, len(there) + 1)
    ]


def planned_trials(training_dialogues: DataFrame, run: StageRun) -> DataFrame:
    """One row a trial: (trial, weighted, origins, seed), the trial a hash of all that its training depends on.

    Rows of an origin that an arm does not train on are not among that, so a new self-labelling leaves the trials
    of the crowd's rows as they are.
    """
    comparison = run.all_settings.training.comparison
    contents = content_by_origin(training_dialogues)
    common, held_out = _common(run), contents.pop("test", "")
    trials = []
    for arm in arms_of(contents, comparison):
        rows = {origin: contents[origin] for origin in arm.origins}
        for seed in dict.fromkeys(comparison.seeds):
            trials.append(
                (_digest([common, held_out, rows, arm.weighted, arm.origins, seed]), arm.weighted, arm.origins, seed)
            )
    return run.spark.createDataFrame(trials, PLANNED)


def content_by_origin(training_dialogues: DataFrame) -> dict[str, str]:
    """A digest of each origin's rows for training and validation, and under `test` of all held-out rows."""
    part = F.when(F.col("split") == "test", "test").otherwise(F.col("origin"))
    content = F.bit_xor(F.xxhash64("dialogue_id", "turn", "turns", "label", "split"))
    counted = training_dialogues.groupBy(part.alias("part")).agg(F.count("*").alias("n"), content.alias("content"))
    return {row.part: f"{row.n}:{row.content}" for row in counted.collect()}


def run_trials(trials: DataFrame, training_dialogues: DataFrame, run: StageRun) -> DataFrame:
    """Do the trials and return their rows of ``edos.classifier_trials``; no weights are kept.

    Args:
        trials: rows of ``planned_trials``.
        training_dialogues: ``edos.training_dialogues``.
    """
    done = [_trial(row, training_dialogues, run) for row in trials.orderBy("trial").collect()]
    columns = CLASSIFIER_TRIALS.columns
    return run.spark.createDataFrame([tuple(row[name] for name in columns) for row in done], CLASSIFIER_TRIALS.schema)


def _trial(trial: Row, training_dialogues: DataFrame, run: StageRun) -> dict[str, Any]:
    arm = Arm(trial.weighted, tuple(trial.origins))
    own, store = run.all_settings.training.emotion_classifier, model_store(run.all_settings)
    chosen = training_dialogues.where(F.col("origin").isin(*arm.origins) | (F.col("split") == "test"))
    rows, _ = rows_by_split(chosen, run.all_settings.edos.taxonomy.names)
    options = replace(options_of(own, run.all_settings.models.training_threads), seed=trial.seed)
    start = starting_encoder(run)
    heading = _heading(store, _common(run))
    params = {
        **own.model_dump(exclude={"name"}), "seed": trial.seed, "weighted": arm.weighted,
        "origins": " + ".join(arm.origins), "starts_from": start.identity,
    }  # fmt: skip
    tags = {"stage": "compare_classifiers", "trial": trial.trial, "mlflow.parentRunId": heading, **data_tags(run)}
    with (
        tempfile.TemporaryDirectory() as scratch,
        tracked_run(store, f"{arm.name} {trial.seed}", params, tags) as tracked,
    ):
        result = train_emotion_model(run, start, rows, options, Path(scratch) / "model", tracked.on_epoch, arm.weighted)
        figures, classes = log_measured(tracked, result, DialogueClassifier.load(result.path), rows["test"])
    for name in ("macro_f1", "accuracy"):
        store.client().log_metric(heading, f"{name}/{arm.name}", figures[name], step=trial.seed)
    run.say(f"{arm.name}, seed {trial.seed}: macro-F1 {figures['macro_f1']:.4f}, accuracy {figures['accuracy']:.4f}")
    return {
        "trial": trial.trial, "weighted": arm.weighted, "origins": list(arm.origins), "seed": trial.seed,
        "encoder": start.identity, **{f"{split}_rows": len(rows[split]) for split in SPLITS},
        "best_epoch": result.best_epoch, "epochs": len(result.history), "seconds": round(result.seconds, 1),
        **{name: round(figures[name], 4) for name in SHOWN},
        "classes": [_class(row) for row in classes], "run_id": tracked.run_id,
    }  # fmt: skip


def _class(row: Mapping[str, Any]) -> tuple[str, float, float, float, int]:
    precision, recall, f1 = (round(row[name], 4) for name in ("precision", "recall", "f1"))
    return row["label"], precision, recall, f1, row["support"]


def _common(run: StageRun) -> str:
    """Of the settings and the encoder that all arms share."""
    own = run.all_settings.training.emotion_classifier.model_dump(exclude={"name", "seed", "weighted"})
    return _digest([own, run.all_settings.models.training_threads, starting_encoder(run).identity])


def _heading(store: Store, common: str) -> str:
    """The id of the run that stands over the trials of these settings; made when it is not there."""
    client, experiment = store.client(), store.experiment_id()
    found = client.search_runs([experiment], f"tags.comparison = '{common}'", max_results=1)
    if found:
        return str(found[0].info.run_id)
    tags = {"comparison": common, "stage": "compare_classifiers"}
    heading = client.create_run(experiment, run_name="comparison of classifiers", tags=tags)
    client.set_terminated(heading.info.run_id)
    return str(heading.info.run_id)


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
