"""The training of the self-labeler: the first dialogue classifier, calibrated before its confidence decides."""

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.pipeline.stage_run import StageRun
from etl.tables.outcome import Trained
from etl.training.held_out_classifiers import answers_to
from etl.training.recipes.classifiers import CROWD, Rows, dialogue_recipe, rows_by_split
from etl.training.registration import train_and_register
from udfs.models.classifiers.calibration import calibration, set_temperature
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.trainable import TrainingResult


def train_and_register_self_labeler(seeds: DataFrame, similar: DataFrame, run: StageRun) -> Trained:
    """Train the self-labeler on the crowd's training rows and what is similar to them (EDOS 3.3), and calibrate it.

    Validation rows choose the epoch and the temperature; the test fifth is only measured on. The run in MLflow has
    the temperature and the expected calibration error on validation before and after it; ``held_out_...`` figures
    are after it.

    Raises:
        InputError: a split has no rows.
    """
    columns = ("dialogue_id", "turn", "turns", "label")
    given = seeds.select(*columns, "split", F.lit(CROWD).alias("origin")).unionByName(
        similar.select(*columns, F.lit("train").alias("split"), "origin")
    )
    rows, left_out = rows_by_split(given, run.all_settings.edos.taxonomy.names, "edos.seeds")
    recipe = dialogue_recipe(run, "self_labeler", rows, left_out)
    calibrated = replace(recipe, finish=lambda result: calibrate(result, rows["validation"], run))
    return train_and_register(calibrated, run)


def calibrate(result: TrainingResult, validation: Rows, run: StageRun) -> TrainingResult:
    """Set the temperature of a training's model on the validation rows, and return the training with its figures."""
    probabilities = answers_to(DialogueClassifier.load(result.path), validation)
    figures = calibration(probabilities, [label for _, label in validation])
    set_temperature(result.path, figures["temperature"])
    run.say(
        f"temperature {figures['temperature']:.3f}: expected calibration error on validation "
        f"{figures['calibration_error_before']:.4f} before, {figures['calibration_error_after']:.4f} after"
    )
    return replace(result, metrics={**result.metrics, **figures})
