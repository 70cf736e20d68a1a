"""Models that a run cannot use are refused before Spark starts: exit status 2 and one line."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from conf.settings import load_settings
from etl.cli import command_line, running
from tests.udfs.tiny_models import tiny_encoder, tiny_language_model

CONFIG = "config.json"
WEIGHTS = "model.safetensors"


@pytest.fixture(autouse=True)
def no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(settings: object, work: object) -> int:
        raise AssertionError("a session was opened")

    monkeypatch.setattr(running, "in_session", started)


CASES: list[tuple[str, str, Callable[[Path], Path], Callable[[Path], object], str]] = [
    ("embed_turns", "sentence_encoder", tiny_encoder, lambda one: (one / WEIGHTS).unlink(), "only safetensors"),
    ("embed_turns", "sentence_encoder", tiny_encoder, lambda one: os.truncate(one / WEIGHTS, 0), WEIGHTS),
    ("embed_turns", "sentence_encoder", tiny_encoder, lambda one: os.truncate(one / WEIGHTS, 900), WEIGHTS),
    (
        "train_weak_labeler",
        "weak_encoder",
        tiny_encoder,
        lambda one: os.truncate(one / "config.json", 7),
        "config.json",
    ),
    ("train_emotion_classifier", "encoder", tiny_encoder, lambda one: os.truncate(one / WEIGHTS, 900), WEIGHTS),
    ("emo_pillars_ask_actors", "generator", tiny_language_model, lambda one: os.truncate(one / WEIGHTS, 99), WEIGHTS),
    ("label_weakly", "weak_labeler", tiny_encoder, lambda one: os.truncate(one / WEIGHTS, 99), WEIGHTS),
]


@pytest.mark.parametrize(("stage", "key", "make", "damage", "word"), CASES)
def test_a_bad_model_is_exit_status_2_and_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    stage: str,
    key: str,
    make: Callable[[Path], Path],
    damage: Callable[[Path], object],
    word: str,
) -> None:
    folder = make(tmp_path / "mine")
    sound = tiny_encoder(tmp_path / "sound")
    capsys.readouterr()
    damage(folder)
    others = [f"models.weak_labeler=file:{sound}"] if key == "encoder" else []
    given = ["--set", f"models.{key}=file:{folder}", f"lakehouse.root={tmp_path / 'lake'}", *others]
    assert command_line.main([stage, *given]) == 2
    out, told = capsys.readouterr()
    assert out == ""
    assert told.count("\n") == 1
    assert told.startswith(f"edos-lakehouse: models.{key}")
    assert word in told
    assert str(folder) in told


def test_a_folder_that_is_a_file_is_told_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tiny_encoder(tmp_path / "mine")
    assert command_line.main(["embed_turns", "--set", f"models.sentence_encoder=file:{folder / WEIGHTS}"]) == 2
    assert "is a file: name the folder that it is in" in capsys.readouterr().err


def test_a_whole_model_is_no_reason(tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path / "mine")
    with pytest.raises(AssertionError, match="a session was opened"):
        running.run(
            load_settings("local", [], {"models.sentence_encoder": f"file:{folder}"}),
            running_stages("embed_turns"),
            again=False,
        )


def running_stages(name: str) -> list[object]:
    from etl.pipeline.planner import chosen
    from jobs import all_stages

    return chosen(all_stages(), only=name)  # type: ignore[return-value]
