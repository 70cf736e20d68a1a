"""The released files of machine-labelled dialogues, and what is wrong with rows of them."""

import csv
import gzip
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from conf.errors import InputError
from conf.taxonomy import edos_labels
from etl.edos.released import read_released, released_dialogues

SIMILAR = ["", "emotion", "cos_sim", "amt_dialog_id", "amt_dialog", "os_dialog_id", "os_dialog"]
SELF = ["Unnamed: 0.1", "", "os_dialog_id", "emotion", "confidence", "os_dialog"]
AGAIN = ["", "emotion", "cos_sim", "high_dialog_id", "high_dialog", "os_dialog_id", "os_dialog"]


def released(spark: SparkSession, folder: Path, header: list[str], rows: list[list[str]]) -> DataFrame:
    path = folder / "rows.csv.gz"
    with gzip.open(path, "wt", encoding="utf-8", newline="") as text:
        csv.writer(text).writerows([header, *rows])
    return read_released(spark, [str(path)], "edos.released_labels").rows


def test_each_kind_of_file_gives_the_same_columns(spark: SparkSession, tmp_path: Path) -> None:
    similar = [["3", "Acknowledging", "0.92", "41", '- Hm ?\n- That, "there" , was nice !', "68", "- A.\n- B ."]]
    rows = released(spark, tmp_path, SIMILAR, similar).collect()
    assert [row.asDict() for row in rows] == [
        {
            "origin": "similar",
            "dialogue_id": "68",
            "turn": 1,
            "turns": ["A.", "B ."],
            "label": "acknowledging",
            "score": 0.92,
            "matched_id": "41/1",
            "matched_turns": ["Hm ?", 'That, "there" , was nice !'],
        }
    ]
    own = released(spark, tmp_path, SELF, [["5", "5", "70", "afraid", "0.90255326", "- Run !"]]).collect()[0]
    assert (own.origin, own.score, own.matched_id, own.turn) == ("self", 0.9026, None, 0)
    again = released(spark, tmp_path, AGAIN, [["0", "sad", "0.9", "1", "- - Oh .\n- - No .", "2", "- No ."]]).collect()
    assert (again[0].origin, again[0].matched_id, again[0].matched_turns) == ("similar_self", "1/1", ["Oh .", "No ."])


def test_bad_rows_go_to_the_ledger(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        ["0", "Sad", "0.95", "1", "- Oh .", "10", "- No ."],
        ["1", "Proud", "0.93", "2", "- Oh .", "10", "- No ."],  # the same dialogue again, less similar
        ["2", "Gloomy", "0.95", "1", "- Oh .", "11", "- No ."],
        ["3", "", "0.95", "1", "- Oh .", "12", "- No ."],
        ["4", "Sad", "high", "1", "- Oh .", "13", "- No ."],
        ["5", "Sad", "1.5", "1", "- Oh .", "14", "- No ."],
        ["6", "Sad", "0.95", "1", "- Oh .", "", "- No ."],
        ["7", "Sad", "0.95", "1", "- Oh .", "15", ""],
    ]
    outcome = released_dialogues(released(spark, tmp_path, SIMILAR, rows), edos_labels())
    assert [(row.dialogue_id, row.label) for row in outcome.rows.collect()] == [("10", "sad")]
    assert outcome.dropped is not None
    left_out = sorted((row.reason, row.detail) for row in outcome.dropped.collect())
    assert left_out == [
        ("no_dialogue", "similar"),
        ("no_dialogue", "similar"),
        ("no_score", "similar"),
        ("no_score", "similar"),
        ("outside_taxonomy", "gloomy"),
        ("outside_taxonomy", "no label"),
        ("repeated_row", "similar proud"),
    ]


def test_another_file_is_refused_and_no_file_is_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file has the columns os_dialog_id, os_dialog, emotion"):
        released(spark, tmp_path, ["emotion", "os_dialog"], [["sad", "x"]])
    assert released_dialogues(read_released(spark, [], "x").rows, edos_labels()).rows.count() == 0


def test_files_of_all_kinds_are_read_together(spark: SparkSession, tmp_path: Path) -> None:
    rows = {
        "a.csv": (SIMILAR, ["0", "Sad", "0.95", "1", "- Oh .", "10", "- No ."]),
        "b.csv": (SELF[::-1], ["- Run !", "0.9", "afraid", "70", "5", "5"]),
        "c.csv": (["os_dialog_id", "os_dialog", "emotion"], ["1", "- Run !", "sad"]),
    }
    for name, content in rows.items():
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as text:
            csv.writer(text).writerows(content)
    (tmp_path / "d.jsonl").write_text(
        '{"os_dialog_id": 71, "os_dialog": "- Go !", "emotion": "sad", "confidence": 0.8}\n{', "utf-8"
    )
    read = read_released(spark, [str(tmp_path)], "edos.released_labels")
    found = {(row.origin, row.dialogue_id, row.label, row.score) for row in read.rows.collect()}
    assert found == {("similar", "10", "sad", 0.95), ("self", "70", "afraid", 0.9), ("self", "71", "sad", 0.8)}
    assert read.dropped is not None
    assert read.rows_in == 4
    assert {(row.id, row.reason, row.units) for row in read.dropped.collect()} == {
        ("c.csv", "no_column", 0),
        ("d.jsonl:2", "not_json", 1),
    }


@pytest.mark.long
def test_the_released_files_are_read_whole(spark: SparkSession, shared_data: Path) -> None:
    names = {
        "similar": ("similar_dialogs_3k", 2225),
        "self": ("self_labeled_dialogs_4k", 4100),
        "similar_self": ("similar_self_labeled_dialogs_2k", 2118),
    }
    for origin, (name, number) in names.items():
        path = shared_data / "edos" / f"{name}.csv.gz"
        outcome = released_dialogues(read_released(spark, [str(path)], "x").rows, edos_labels())
        rows = outcome.rows.collect()
        assert len(rows) == number
        assert {row.origin for row in rows} == {origin}
        assert len({row.dialogue_id for row in rows}) == number
        assert all(row.turn == len(row.turns) - 1 and row.turns[0][:1] != "-" for row in rows if row.turns[0])
        assert all(bool(row.matched_turns) == (origin != "self") for row in rows)
