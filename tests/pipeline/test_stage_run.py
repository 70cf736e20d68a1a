"""How a stage's function reaches a model: one that the stage declares, a null one, one at a URI."""

from pathlib import Path
from typing import Any

import pytest

from conf.errors import InputError
from conf.settings import load_settings
from etl.pipeline.model_loader import NO_MODEL, ResolvedModel
from etl.pipeline.stage_run import Compute, StageRun, Tracking

COMPUTE = Compute(threads=3, batch_size=16, partitions=2, share=False, processes=1)


@pytest.fixture()
def run(tmp_path: Path) -> StageRun:
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path)})
    models = {
        "weak_labeler": ResolvedModel(tmp_path / "labeler", "models:/labeler/3#sha256:1"),
        "topic_namer": ResolvedModel(Path(), NO_MODEL),
    }
    spark: Any = None
    return StageRun(models, spark, str(tmp_path), COMPUTE, Tracking(settings.lakehouse, settings.mlflow), "stage")


def test_a_declared_model_is_reached_by_its_key(run: StageRun, tmp_path: Path) -> None:
    model = run.model("weak_labeler")
    assert model.given
    assert model.required is model
    assert model.arguments == {
        "model_path": str(tmp_path / "labeler"),
        "identity": "models:/labeler/3#sha256:1",
        "threads": 3,
        "batch_size": 16,
        "partitions": 2,
    }


def test_a_null_model_has_an_identity_and_cannot_be_called(run: StageRun) -> None:
    model = run.model("topic_namer")
    assert not model.given
    assert model.identity == NO_MODEL
    for ask in (lambda: model.required, lambda: model.arguments):
        with pytest.raises(InputError, match=r"models\.topic_namer is null"):
            ask()


def test_a_model_to_start_from_is_reached_by_its_uri(run: StageRun, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(folder: str, uri: str, *_: object) -> ResolvedModel:
        return ResolvedModel(Path(folder, "encoder"), f"{uri}#sha256:2")

    monkeypatch.setattr("etl.pipeline.stage_run.resolved_in", found)
    model = run.model("hf:org/encoder")
    assert model.given
    assert model.path == Path(run.folder, "encoder")
    assert model.identity == "hf:org/encoder#sha256:2"


def test_a_uri_without_a_model_is_bad_input(run: StageRun, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        run.model(f"file:{tmp_path}/nowhere")
