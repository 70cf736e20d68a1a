"""The talk with a chatbot: the notice first, a fixed answer before any model text, and the file for the study."""

import io
import json
from pathlib import Path

import pytest

from etl.augesc.safety import chat_notice, danger_answer
from etl.cli.chat import LONGEST, converse
from etl.cli.command_line import main
from tests.udfs.tiny_models import tiny_language_model


def test_no_model_is_asked_about_danger() -> None:
    asked: list[str] = []

    def reply(turns) -> str:
        asked.append(turns[-1]["text"])
        return "why ?\n really"

    turns, said = [], []  # type: ignore[var-annotated]
    lines = ["my dog is lost", "", "  ", "I want to k1ll mys3lf", "thanks", "/QUIT", "never read"]
    assert len(list(converse(turns, reply, lines, said.append))) == 3
    assert asked == ["my dog is lost", "thanks"]
    assert said[1] == danger_answer() and said.count("why ?\n really") == 2
    assert [turn.get("fixed") for turn in turns] == [None, False, None, True, None, False]
    assert [turn["role"] for turn in turns] == ["seeker", "supporter"] * 3
    assert all("\n" not in turn["text"] for turn in turns)


def test_danger_at_the_end_of_a_line_that_no_model_would_see_whole() -> None:
    turns: list[dict] = []
    said: list[str] = []
    lines = ["so " * LONGEST + "I want to die"]
    list(converse(turns, lambda turns: pytest.fail("a model was asked"), lines, said.append))
    assert said == [danger_answer()] and len(turns[0]["text"]) == LONGEST


def test_the_command_talks_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, file = tiny_language_model(tmp_path / "bot"), tmp_path / "talks.jsonl"
    arguments = ["chat", "--model", f"file:{model}", "--save", str(file), "--pair", "p1", "--bot", "augesc"]
    arguments += ["--set", f"lakehouse.root={tmp_path}/lakehouse", "augesc.chat.decoding={max_new_tokens: 5}"]
    for _ in range(2):
        typed = io.TextIOWrapper(io.BytesIO(b"my dog is lost\n\xff\xfe so sad\nI feel suicidal\n"), "utf-8")
        monkeypatch.setattr("sys.stdin", typed)
        assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert shown.index(chat_notice()) < shown.index(danger_answer())
    first, second = map(json.loads, file.read_text("utf-8").splitlines())
    assert (first["pair_id"], first["bot"], len(first["turns"])) == ("p1", "augesc", 6)
    assert first == second  # the same words get the same replies


def test_a_talk_is_saved_under_a_name_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat", "--save", "talks.jsonl"]) == 2
    assert "needs --pair" in capsys.readouterr().err
