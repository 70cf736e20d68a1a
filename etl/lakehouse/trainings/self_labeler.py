"""The training of the self-labeler: the first dialogue classifier, calibrated before its confidence decides."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.lakehouse.outcome import Trained
from etl.lakehouse.registry import model_store
from etl.lakehouse.stage import StageRun
from etl.lakehouse.trainings.classifiers import CROWD, SPLITS, Rows, options_of, params_of, rows_by_split, trained_of
from udfs.models.classifiers.calibration import calibration, set_temperature
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier, train_dialogue_classifier
from udfs.models.classifiers.training import TrainResult
from udfs.models.loader import resolve
from udfs.models.tracked import train_tracked


def tracked_self_labeler(seeds: DataFrame, similar: DataFrame, run: StageRun) -> Trained:
    """Train the self-labeler on the crowd's training rows and what is similar to them (EDOS 3.3), and calibrate it.

    Validation rows choose the epoch and the temperature; the test fifth is only measured on. The run in MLflow has
    the temperature and the expected calibration error on validation before and after it; ``held_out_...`` figures
    are after it.

    Raises:
        InputError: a split has no rows.
    """
    settings, labels = run.all_settings, run.all_settings.edos.taxonomy.names
    own = settings.training.self_labeler
    columns = ("dialogue_id", "turn", "turns", "label")
    given = seeds.select(*columns, "split", F.lit(CROWD).alias("origin")).unionByName(
        similar.select(*columns, F.lit("train").alias("split"), "origin")
    )
    rows, left_out = rows_by_split(given, labels, "edos.seeds")
    encoder = resolve(settings.models.encoder, Path(run.folder))
    start, started_from = encoder.path, encoder.identity
    if own.start_from_weak_labeler:
        start, started_from = run.models["weak_labeler"].path / "encoder", run.models["weak_labeler"].identity
    options = options_of(own, settings.models.training_threads)
    run.say(", ".join(f"{len(rows[split]):,} {split} rows" for split in SPLITS))

    def train(folder: Path, on_epoch: Any) -> TrainResult:
        result = train_dialogue_classifier(
            start, rows["train"], rows["validation"], labels, options, folder, on_epoch, own.weighted, last=rows[CROWD]
        )
        return calibrated(result, rows["validation"], run)

    tracked = train_tracked(
        model_store(settings),
        own.name,
        params=params_of(own, started_from),
        tags={"stage": "train_self_labeler"},
        train=train,
        load=DialogueClassifier.load,
        held_out=rows["test"],
        metric="macro_f1",
        folder=Path(run.folder),
    )
    return trained_of(run, tracked, sum(len(rows[split]) for split in SPLITS), left_out)


def calibrated(result: TrainResult, validation: Rows, run: StageRun) -> TrainResult:
    """The same training with its model's temperature set on the validation rows, and the figures of that."""
    items, truth = [turns for turns, _ in validation], [label for _, label in validation]
    probabilities = DialogueClassifier.load(result.path).probabilities(items, 64).numpy()
    figures = calibration(probabilities, truth)
    set_temperature(result.path, figures["temperature"])
    run.say(
        f"temperature {figures['temperature']:.3f}: expected calibration error on validation "
        f"{figures['calibration_error_before']:.4f} before, {figures['calibration_error_after']:.4f} after"
    )
    return replace(result, metrics={**result.metrics, **figures})
