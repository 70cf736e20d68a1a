"""The comparison of classifiers: arms, one trial an arm and seed, each a run in MLflow under one parent."""

import hashlib
import json
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.training_settings import ComparisonSettings
from etl.pipeline.stage_run import StageRun
from etl.tables.edos import CLASSIFIER_TRIALS
from etl.training.held_out_classifiers import ClassifierTest
from etl.training.loop.train import train_model
from etl.training.recipes.classifiers import (
    SPLITS,
    new_dialogue_classifier,
    rows_by_split,
    starting_encoder,
    training_rows,
)
from etl.training.registration import options_of, training_context, training_tags
from etl.training.registry import model_store
from etl.training.tracking import Store, tracked_run
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier

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
    store, stage = model_store(run.all_settings), "compare_classifiers"
    chosen = training_dialogues.where(F.col("origin").isin(*arm.origins) | (F.col("split") == "test"))
    rows, _ = rows_by_split(chosen, run.all_settings.edos.taxonomy.names)
    options = options_of(run, "emotion_classifier").model_copy(update={"seed": trial.seed, "weighted": arm.weighted})
    start = starting_encoder(run, options)
    heading = _heading(store, _common(run))
    params = {
        **options.model_dump(exclude={"name"}), "origins": " + ".join(arm.origins), "starts_from": start.identity,
    }  # fmt: skip
    tags = {**training_tags(run, stage, trial.trial), "trial": trial.trial, "mlflow.parentRunId": heading}
    with (
        tempfile.TemporaryDirectory() as scratch,
        tracked_run(store, f"{arm.name} {trial.seed}", params, tags) as tracked,
    ):
        result = train_model(
            new_dialogue_classifier(run, start, options), training_rows(rows), options, Path(scratch) / "model",
            training_context(run, tracked, trial.trial),
        )  # fmt: skip
        tracked.log_history(result)
        test = ClassifierTest(DialogueClassifier, rows["test"], "macro_f1", options.device)
        figures, classes = test.figures_and_classes(tracked, result)
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
    options = options_of(run, "emotion_classifier")
    own = options.model_dump(exclude={"name", "seed", "weighted"})
    return _digest([own, starting_encoder(run, options).identity])


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
