"""The stage that says from which confidence on a weak label is accepted."""

from pathlib import Path

import pytest
import torch
from pyspark.sql import SparkSession

from conf.settings import load_settings
from etl.pipeline.planner import PipelineContext
from etl.pipeline.stage_run import UsedModel
from jobs.edos.weak_labels import choose_weak_thresholds, select_emotional
from tests.stages import called, stage_run
from tests.training.small_sets import ALL_THREE, TO_CHOOSE_BY, write_files
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.predict import top_labels


def test_thresholds_come_from_the_sentences_that_choose_the_epoch(
    spark: SparkSession, recipe_encoder: Path, tmp_path: Path
) -> None:
    settings = load_settings("local", [], {"edos.weak_label_examples": str(write_files(tmp_path / "files", ALL_THREE))})
    labels = settings.edos.taxonomy.names
    torch.manual_seed(3)
    model = WeakLabeler(*load_encoder(recipe_encoder), labels, max_tokens=16).eval()
    run = stage_run(spark, settings)
    run = stage_run(
        spark, settings, models={"weak_labeler": UsedModel(model.save(tmp_path / "weak"), "m@1", "weak", run)}
    )
    chosen = called(choose_weak_thresholds, run, settings)
    rows = chosen.rows.collect()
    assert chosen.rows_in == len(TO_CHOOSE_BY) == sum(row.predicted for row in rows)
    assert {row.label for row in rows} == set(labels)
    assert {row.model for row in rows} == {"m@1"}
    told = [top_labels(row, labels, 1)[0][0] for row in model.probabilities(TO_CHOOSE_BY, 8).numpy()]
    assert {row.label: row.predicted for row in rows if row.predicted} == {one: told.count(one) for one in told}


@pytest.mark.parametrize(
    ("preset", "examples", "weight", "weighs"),
    [("trusted", "x", 1, True), ("trusted", None, 1, False), ("trusted", "x", 0, False), ("released", "x", 1, False)],
)
def test_only_a_choice_by_worth_asks_for_them(preset: str, examples: str | None, weight: float, weighs: bool) -> None:
    given = {"edos.preset": preset, "edos.weak_label_examples": examples, "edos.worth.accepted": weight}
    assert load_settings("local", [], given).edos.weighs_accepted is weighs


def test_a_choice_that_does_not_ask_for_them_has_no_work_again(spark: SparkSession, tmp_path: Path) -> None:
    """A lakehouse of an earlier version: the table is off, as if the stage did not read it."""
    place = PipelineContext(spark, load_settings("local", [], {"lakehouse.root": str(tmp_path)}))
    assert place.is_off(choose_weak_thresholds)
    (table,) = (one for one in select_emotional.reads if one.name == "edos.weak_label_thresholds")
    assert place._input_identity(select_emotional, table) == "off"
