"""The comparison of classifiers: one trial for each variant and seed, each a run in MLflow under one parent."""

import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.taxonomy import Taxonomy
from etl.common.splits import SPLITS
from etl.edos.settings import ComparisonSettings, EmotionClassifierSettings
from etl.edos.tables import CLASSIFIER_TRIALS
from etl.edos.training.classifiers import (
    new_dialogue_classifier,
    rows_by_split,
    starting_encoder,
    training_rows,
)
from etl.pipeline.stage_run import StageRun
from etl.training.experiment import parent_run, title
from etl.training.held_out_classifiers import ClassifierTest
from etl.training.loop.train import train_model
from etl.training.registration import training_context, training_tags, trial_digest
from etl.training.registry import model_store
from etl.training.tracking import tracked_run
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier

PLANNED = "trial string, weighted boolean, origins array<string>, seed int"
SHOWN = ("macro_precision", "macro_recall", "macro_f1", "accuracy", "cross_entropy", "calibration_error")


@dataclass(frozen=True)
class ClassifierVariant:
    """A variant of the classifier: with or without weighted token embeddings, and the origins of its training rows."""

    weighted: bool
    origins: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{'weighted' if self.weighted else 'unweighted'}/{'-'.join(self.origins)}"

    def title(self, seed: int) -> str:
        """Return the name of its run."""
        return title("+".join(self.origins), f"seed {seed}", "weighted" if self.weighted else "unweighted")


def variants_of(present: Collection[str], comparison: ComparisonSettings) -> list[ClassifierVariant]:
    """Return variants that add one origin after the other (EDOS 3.3), with and without weights (EDOS C).

    Raises:
        InputError: none of the origins has rows.
    """
    origins = [origin for origin in dict.fromkeys(comparison.origins) if origin in present]
    if not origins:
        raise InputError(
            f"training.comparison.origins: edos.training_dialogues has no rows of {', '.join(comparison.origins)}"
        )
    return [
        ClassifierVariant(weighted, tuple(origins[:number]))
        for weighted in dict.fromkeys(comparison.weightings)
        for number in range(1, len(origins) + 1)
    ]


def planned_trials(
    training_dialogues: DataFrame,
    run: StageRun,
    comparison: ComparisonSettings,
    options: EmotionClassifierSettings,
    encoder: str,
) -> DataFrame:
    """Return one row a trial: (trial, weighted, origins, seed), where trial is a hash of its training's inputs.

    The hash covers only rows of the variant's origins, so a new self-labelling does not repeat the trials of the
    crowd's rows.
    """
    contents = content_by_origin(training_dialogues)
    common = _common_digest(run, options, encoder)
    held_out = contents.pop("test", "")
    trials = []
    for variant in variants_of(contents, comparison):
        rows = {origin: contents[origin] for origin in variant.origins}
        for seed in dict.fromkeys(comparison.seeds):
            trial = trial_digest([common, held_out, rows, variant.weighted, variant.origins, seed])
            trials.append((trial, variant.weighted, variant.origins, seed))
    return run.spark.createDataFrame(trials, PLANNED)


def content_by_origin(training_dialogues: DataFrame) -> dict[str, str]:
    """Return a digest of each origin's training and validation rows, and of all test rows under `test`."""
    part = F.when(F.col("split") == "test", "test").otherwise(F.col("origin"))
    content = F.bit_xor(F.xxhash64("dialogue_id", "turn", "turns", "label", "split"))
    counted = training_dialogues.groupBy(part.alias("part")).agg(F.count("*").alias("n"), content.alias("content"))
    return {row.part: f"{row.n}:{row.content}" for row in counted.collect()}


def run_trials(
    trials: DataFrame,
    training_dialogues: DataFrame,
    run: StageRun,
    options: EmotionClassifierSettings,
    labels: Taxonomy,
    encoder: str,
) -> DataFrame:
    """Run the trials, and return their rows of ``edos.classifier_trials``; no weights are saved.

    Args:
        trials: rows of ``planned_trials``.
        training_dialogues: ``edos.training_dialogues``.
    """
    common = _common_digest(run, options, encoder)
    found = trials.orderBy("trial").collect()
    done = [_trial(row, training_dialogues, run, (options, labels, encoder), common) for row in found]
    columns = CLASSIFIER_TRIALS.columns
    return run.spark.createDataFrame([tuple(row[name] for name in columns) for row in done], CLASSIFIER_TRIALS.schema)


def _trial(
    trial: Row,
    training_dialogues: DataFrame,
    run: StageRun,
    given: tuple[EmotionClassifierSettings, Taxonomy, str],
    common: str,
) -> dict[str, Any]:
    shared, labels, encoder = given
    variant = ClassifierVariant(trial.weighted, tuple(trial.origins))
    store = model_store(run.tracking)
    chosen = training_dialogues.where(F.col("origin").isin(*variant.origins) | (F.col("split") == "test"))
    rows, _ = rows_by_split(chosen, labels.names)
    options = shared.model_copy(update={"seed": trial.seed, "weighted": variant.weighted})
    start = starting_encoder(run, options, encoder)
    belongs = {"comparison": common, "stage": run.stage}
    parent = parent_run(store.client(), store.experiment_id(), "comparison of classifiers", belongs, "comparison")
    params = {
        **options.model_dump(exclude={"name"}),
        "origins": "+".join(variant.origins),
        "starts_from": start.identity,
    }
    tags = {
        **training_tags(run, trial.trial),
        "kind": DialogueClassifier.kind,
        "trial": trial.trial,
        "mlflow.parentRunId": parent,
    }
    with (
        tempfile.TemporaryDirectory() as scratch,
        tracked_run(store, variant.title(trial.seed), params, tags) as tracked,
    ):
        result = train_model(
            partial(new_dialogue_classifier, start, labels, options),
            training_rows(rows),
            options,
            Path(scratch) / "model",
            training_context(run, tracked, trial.trial),
        )
        tracked.log_history(result)
        test = ClassifierTest(DialogueClassifier, rows["test"], "macro_f1", labels.names, options.device)
        figures, classes = test.figures_and_classes(tracked, result)
    for name in ("macro_f1", "accuracy"):
        store.client().log_metric(parent, f"{name}/{variant.name}", figures[name], step=trial.seed)
    run.say(
        f"{variant.name}, seed {trial.seed}: macro-F1 {figures['macro_f1']:.4f}, accuracy {figures['accuracy']:.4f}"
    )
    return {
        "trial": trial.trial,
        "weighted": variant.weighted,
        "origins": list(variant.origins),
        "seed": trial.seed,
        "encoder": start.identity,
        **{f"{split}_rows": len(rows[split]) for split in SPLITS},
        "best_epoch": result.best_epoch,
        "epochs": len(result.history),
        "seconds": round(result.seconds, 1),
        **{name: round(figures[name], 4) for name in SHOWN},
        "classes": [
            (row["label"], *(round(row[name], 4) for name in ("precision", "recall", "f1")), row["support"])
            for row in classes
        ],
        "run_id": tracked.run_id,
    }


def _common_digest(run: StageRun, options: EmotionClassifierSettings, encoder: str) -> str:
    """Return the digest of the settings and the encoder that all variants share."""
    shared = options.model_dump(exclude={"name", "seed", "weighted", "calibrated", "mean_of"})
    return trial_digest([shared, starting_encoder(run, options, encoder).identity])
