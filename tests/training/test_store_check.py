"""Whether trainings can log is looked at before the first stage; a model that is given is trained by nobody."""

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conf.errors import InputError
from conf.settings import load_settings
from etl.cli import running
from etl.pipeline.planner import chosen
from etl.training.registry import check_store
from jobs import all_stages
from tests.ports import free_port


def test_tables_in_a_store_need_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    settings = load_settings("emr", [], {"lakehouse.root": "s3://bucket/lake"})
    with pytest.raises(InputError, match="name an MLflow server"):
        check_store(settings)


def test_a_server_that_does_not_answer_is_told_at_once_and_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"http://me:hunter2@127.0.0.1:{free_port()}"
    before = dict(os.environ)
    values = {"lakehouse.root": str(tmp_path), "mlflow.tracking_uri": address}
    began = time.monotonic()
    with pytest.raises(InputError, match="does not answer") as refused:
        check_store(load_settings("local", [], values))
    assert time.monotonic() - began < 60
    assert "hunter2" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert dict(os.environ) == before
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    with pytest.raises(InputError, match="does not answer"):
        check_store(load_settings("emr", [], {"lakehouse.root": "s3://bucket/lake"}))


def test_a_store_beside_the_tables_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    check_store(load_settings("local", [], {"lakehouse.root": str(tmp_path / "lake")}))
    assert not (tmp_path / "lake" / "mlflow.db").exists()


def started(stages: list[Any], given: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """Begin a run of stages without a session; returns the settings whose store was looked at."""
    looked: list[Any] = []
    values = {"lakehouse.root": str(tmp_path)} | ({"models.turn_segmenter": given} if given else {})
    settings = load_settings("local", [], values)
    context: Any = SimpleNamespace(plan=lambda *_: pytest.fail("a stage was planned"), lakehouse=None)
    context.settings = settings
    context.given_model = lambda stage: given
    context.of = lambda stage: context
    monkeypatch.setattr(running, "PipelineContext", lambda *_: context)
    for name, value in {
        "_events": lambda *_: [],
        "cores": lambda _: 1,
        "is_local": lambda _: False,
        "seconds_ahead": lambda *_: {},
    }.items():
        monkeypatch.setattr(running, name, value)
    monkeypatch.setattr(running, "check_store", looked.append)
    running.run_stages(cast(Any, SimpleNamespace()), settings, stages, [])
    return looked


def test_a_given_model_is_not_trained_by_a_single_stage_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = chosen(all_stages(), only="train_turn_segmenter")
    assert started(stages, "file:mine", monkeypatch, tmp_path) == []
    assert "train_turn_segmenter (model given: file:mine): nothing to do" in capsys.readouterr().out


def test_the_store_is_looked_at_before_a_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "Progress", lambda *_: pytest.fail("the first stage began"))
    with pytest.raises(BaseException, match="the first stage began"):
        started(chosen(all_stages(), only="train_turn_segmenter"), None, monkeypatch, tmp_path)
