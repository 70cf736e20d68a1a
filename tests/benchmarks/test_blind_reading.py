"""Tests of the blind reading: who is drawn beside whom, and what the readers' votes give."""

import argparse
from pathlib import Path

import pandas as pd
import pytest

from tests.benchmarks.blind_reading import KEY, over_films, partners, released_dialogues, score


def test_partners_have_as_many_turns_and_are_taken_once() -> None:
    dialogues = {"a": ["x"] * 2, "b": ["x"] * 2, "c": ["x"] * 5}
    assert sorted(partners([2, 2], dialogues)) == ["a", "b"]
    assert partners([6, 2], dialogues)[0] == "c"


def test_films_take_turns() -> None:
    dialogues = {name: ["x"] * 2 for name in "abcdef"}
    films = dict(zip("abcdef", ["1", "1", "1", "1", "2", "3"], strict=True))
    order = over_films(dialogues, films)
    assert {films[one] for one in order[:3]} == {"1", "2", "3"}
    assert sorted(order) == sorted(dialogues)


def test_released_dialogues_lose_their_dashes_and_single_turns(tmp_path: Path) -> None:
    rows = pd.DataFrame({"os_dialog_id": ["1", "2"], "os_dialog": ["- - One .\n- Two .\n", "- Alone ."]})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    assert released_dialogues([tmp_path / "rows.csv"]) == {"1": ["One .", "Two ."]}


def test_a_fault_counts_where_most_readers_saw_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pd.DataFrame({"n": [1, 2], "group": ["chosen", "released"], "dialogue_id": ["a", "b"], "turns": [2, 2]}).to_csv(
        tmp_path / KEY, index=False
    )
    readers = []
    for number, (first, second) in enumerate([(0, 1), (1, 1), (0, 0)]):
        readers.append(tmp_path / f"reader{number}.csv")
        pd.DataFrame({"n": [1, 2], "A": [first, second], "B": 0, "C": 0}).to_csv(readers[-1], index=False)
    score(argparse.Namespace(folder=tmp_path, readers=readers))
    table = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines()[2:4]}
    assert table["chosen"][4] == "0"
    assert table["released"][4] == "1"
