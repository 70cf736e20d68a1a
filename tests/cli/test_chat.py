"""The talk with a chatbot: the notice first, a fixed answer before any model text, and the file for the study."""

import io
import json
from pathlib import Path

import pytest

from conf.errors import InputError
from conf.settings import load_settings
from etl.cli.chat import LONGEST, converse, talk_file, write_talk
from etl.cli.command_line import main
from etl.cli.safety import PHRASES_ALONE, safe_conversation
from etl.safety.answers import chat_notice, danger_answer, state_answer, withheld_reply
from etl.safety.conversation import SafeConversation
from tests.udfs.tiny_models import tiny_language_model

ALONE = "safety.encoder=null"


def test_no_model_answers_after_a_line_of_danger() -> None:
    asked: list[str] = []

    def reply(turns) -> str:
        asked.append(turns[-1]["text"])
        return "why ?\n really"

    turns = []
    said = []  # type: ignore[var-annotated]
    lines = ["my dog is lost", "", "  ", "I want to k1ll mys3lf", "thanks", "/QUIT", "never read"]
    saved = [len(turns) for _ in converse(turns, reply, lines, said.append, SafeConversation())]
    assert asked == ["my dog is lost"]
    assert saved == [1, 2, 3, 4, 5, 6]  # each line is saved before and after its answer
    assert said == ["why ?\n really", danger_answer(), state_answer()]
    assert [turn.get("fixed") for turn in turns] == [None, False, None, True, None, True]
    assert [turn["role"] for turn in turns] == ["seeker", "supporter"] * 3
    assert all("\n" not in turn["text"] for turn in turns)
    assert turns[3]["reason"] == turns[5]["reason"] == "kill myself"


def test_a_models_line_of_danger_is_withheld_and_the_talk_goes_on() -> None:
    written = iter(["You should just k1ll yourself.", "what a pity"])
    turns = []
    said = []  # type: ignore[var-annotated]
    list(converse(turns, lambda turns: next(written), ["my dog is lost", "yes"], said.append, SafeConversation()))
    assert said == [withheld_reply(), "what a pity"]
    assert [turn.get("fixed") for turn in turns] == [None, True, None, False]
    assert "k1ll" not in json.dumps(turns)


def test_danger_at_the_end_of_a_line_that_no_model_would_see_whole() -> None:
    turns: list[dict] = []
    said: list[str] = []
    lines = ["so " * LONGEST + "I want to die"]
    refuse = SafeConversation()
    list(converse(turns, lambda turns: pytest.fail("a model was asked"), lines, said.append, refuse))
    assert said == [danger_answer()]
    assert len(turns[0]["text"]) == LONGEST


def test_the_command_talks_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tiny_language_model(tmp_path / "bot")
    file = tmp_path / "talks.jsonl"
    arguments = ["chat", "--model", f"file:{model}", "--save", str(file), "--pair", "p1", "--bot", "augesc"]
    arguments += ["--set", f"lakehouse.root={tmp_path}/lakehouse", "augesc.chat.decoding={max_new_tokens: 5}", ALONE]
    for _ in range(2):
        typed = io.TextIOWrapper(io.BytesIO(b"my dog is lost\n\xff\xfe so sad\nI feel suicidal\n"), "utf-8")
        monkeypatch.setattr("sys.stdin", typed)
        assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert shown.index(chat_notice()) < shown.index(danger_answer())
    first, second = map(json.loads, file.read_text("utf-8").splitlines())
    assert (first["pair_id"], first["bot"], len(first["turns"])) == ("p1", "augesc", 6)
    assert first == second  # the same words get the same replies
    assert file.stat().st_mode & 0o777 == 0o600
    assert PHRASES_ALONE in shown


def test_the_notice_and_the_answers_name_the_countrys_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tiny_language_model(tmp_path / "bot")
    monkeypatch.setattr("sys.stdin", io.StringIO("I feel suicidal\nhello\n"))
    arguments = ["chat", "--model", f"file:{model}", "--set", f"lakehouse.root={tmp_path}", ALONE, "safety.country=DE"]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert shown.count("116 123") == 2
    assert "988" not in shown
    assert shown.count("110 for the police") == 3
    assert main([*arguments[:-1], "safety.country=ZZ"]) == 2
    assert "no numbers for ZZ" in capsys.readouterr().err


def test_a_talk_is_saved_under_a_name_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat", "--save", "talks.jsonl"]) == 2
    assert "needs --pair" in capsys.readouterr().err


def test_without_the_encoder_phrases_alone_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("etl.cli.safety.find_spec", lambda name: None)
    gate = safe_conversation(load_settings("local"))
    assert gate.notice == PHRASES_ALONE
    assert gate.answer_to("we baked a lemon cake on sunday") is None
    assert gate.answer_to("I took too many pills") == danger_answer()
    with pytest.raises(InputError):
        safe_conversation(load_settings("local", [], {"safety.encoder": "pkg:no_such_encoder"}))


def test_earlier_lines_stay_and_the_file_is_complete_after_each_turn(tmp_path: Path) -> None:
    file = tmp_path / "talks.jsonl"
    file.write_text('{"pair_id": "old"}\n{"half a li', "utf-8")
    file.chmod(0o644)
    with talk_file(str(file)) as stream:
        for turns in (["a"], ["a", "é\ud800"], ["a", "é?", "c"]):
            write_talk(stream, {"turns": turns})
            first, broken, last = file.read_text("utf-8").splitlines()
            assert (first, broken) == ('{"pair_id": "old"}', '{"half a li')
            assert len(json.loads(last)["turns"]) == len(turns)
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match=r"chat --save .*cannot be written .*directory"):
        talk_file(str(tmp_path))
