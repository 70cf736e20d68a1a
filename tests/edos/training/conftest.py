"""Fixtures of the trainings' tests."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.settings import load_settings
from etl.edos.training import classifiers
from etl.training.registration import Recipe
from tests.stages import stage_run
from tests.training.small_sets import write_files
from tests.udfs.tiny_models import tiny_encoder


@pytest.fixture(scope="session")
def recipe_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("recipes"))


@pytest.fixture
def recipe_of(
    spark: SparkSession, recipe_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Recipe, list[str]]]:
    """Return a function that gives a weak labeler's recipe and the lines said, without the training."""
    recipes: list[Recipe] = []
    monkeypatch.setattr(classifiers, "train_and_register", lambda recipe, run: recipes.append(recipe))

    def recipe_of(
        parts: dict[str, list[str]], transcripts: Sequence[str] = (), **values: object
    ) -> tuple[Recipe, list[str]]:
        given = {"lakehouse.root": str(tmp_path / "lakehouse"), "models.training_threads": 1, **values}
        settings = load_settings("local", [], given)
        said: list[str] = []
        folder = write_files(tmp_path / "examples", parts)
        classifiers.train_and_register_weak_labeler(
            stage_run(spark, settings, say=said.append),
            settings.training.weak_labeler,
            settings.edos.taxonomy,
            f"file:{recipe_encoder}",
            str(folder),
            transcripts,
        )
        return recipes[-1], said

    return recipe_of
