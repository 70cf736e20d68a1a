"""A conversation's file: complete after each turn, its owner's alone, one chat at a time."""

import json
import os
from pathlib import Path

import pytest

from conf.errors import InputError
from etl.cli.saved_talk import SavedTalk


def talks(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_the_file_is_complete_after_each_turn(tmp_path: Path) -> None:
    file = tmp_path / "talks.jsonl"
    for name in ("first", "second"):
        saved = SavedTalk(file, {"pair_id": name})
        for said in (["a"], ["a", "é\ud800"], ["a", "é", "c"]):
            saved.write([{"text": text} for text in said])
            assert len(talks(file)[-1]["turns"]) == len(said)
            assert talks(file)[-1]["pair_id"] == name
        saved.close()
    assert [talk["pair_id"] for talk in talks(file)] == ["first", "second"]


def test_earlier_lines_stay_and_the_mode_is_narrowed(tmp_path: Path) -> None:
    file = tmp_path / "talks.jsonl"
    file.write_text('{"pair_id": "old"}\n{"half a li', "utf-8")
    file.chmod(0o644)
    saved = SavedTalk(file, {})
    saved.write([{"text": "long " * 100}])
    saved.write([{"text": "short"}])
    saved.close()
    first, broken, last = file.read_text("utf-8").splitlines()
    assert (first, broken, json.loads(last)) == ('{"pair_id": "old"}', '{"half a li', {"turns": [{"text": "short"}]})
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_new_file_is_its_owners_whatever_the_mask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        SavedTalk(tmp_path / "talks.jsonl", {}).close()
    finally:
        os.umask(before)
    assert (tmp_path / "talks.jsonl").stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "talks.jsonl"
    held = SavedTalk(file, {})
    (tmp_path / "link").symlink_to(file)
    os.mkfifo(tmp_path / "pipe")
    cases = {
        file: "another chat",
        tmp_path / "link": "",
        tmp_path / "pipe": "no plain file",
        tmp_path: "directory",
        tmp_path / "no" / "file": "No such file",
    }
    for path, why in cases.items():
        with pytest.raises(InputError, match=f"chat --save .*cannot be written.*{why}"):
            SavedTalk(path, {})
    held.close()
