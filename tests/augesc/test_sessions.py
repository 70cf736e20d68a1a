"""Which sessions of people are used, and the draw of those that a model is tuned on (AugESC 4.1)."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.augesc.sessions import read_sessions, training_draw, usable_sessions, without_greetings
from etl.common.labelled_files import files_under

SEEKER = "usr"
SUPPORTER = "sys"


def talk(number: int, *roles: str, problem: str | None = "job crisis", **more: Any) -> dict[str, Any]:
    said = [{"speaker": role, "text": f"Line {place} of talk {number} ."} for place, role in enumerate(roles)]
    return {"problem_type": problem, "emotion_type": "fear", "situation": "s", "dialog": said, **more}


def written(folder: Path, name: str, *sessions: Any) -> str:
    path = folder / name
    path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in sessions), "utf-8")
    return str(path)


def reasons(dropped: DataFrame | None) -> dict[str, str]:
    assert dropped is not None
    return {row.id: row.reason for row in dropped.collect()}


def test_sessions_that_cannot_be_used_go_to_the_ledger(spark: SparkSession, tmp_path: Path) -> None:
    endless = talk(4, SEEKER, SUPPORTER)
    endless["dialog"][0]["text"] = "word " * 100_000
    gap = talk(6, SEEKER, SUPPORTER)
    gap["dialog"].insert(1, {"speaker": SEEKER, "text": " \n"})
    unmerged = talk(8, SEEKER, SUPPORTER)
    unmerged["dialog"][1:] = [{"speaker": SUPPORTER, "text": part} for part in ("Line 1 of", "talk 8")]
    file = written(
        tmp_path,
        "a.jsonl",
        talk(1, SUPPORTER, SEEKER, SUPPORTER),
        talk(2, SEEKER, SEEKER),
        '{"dialog": [',
        endless,
        talk(5, SEEKER, "вы"),
        gap,
        talk(7, SUPPORTER, SEEKER),
        talk(8, SEEKER, SUPPORTER),
        unmerged,
    )
    contrast = written(tmp_path, "b.jsonl", talk(1, SEEKER, SUPPORTER)["dialog"], talk(9, SEEKER, SUPPORTER))
    read = read_sessions(spark, [file, contrast], [contrast])
    outcome = usable_sessions(read, 60_000)
    assert sorted((row.place, row.contrast) for row in outcome.rows.collect()) == [
        ("a.jsonl#1", False),
        ("a.jsonl#6", False),
        ("a.jsonl#9", False),
        ("b.jsonl#2", True),
    ]
    assert reasons(outcome.dropped) == {
        "a.jsonl#2": "one_speaker",
        "a.jsonl#3": "not_readable",
        "a.jsonl#4": "too_long",
        "a.jsonl#5": "unknown_role",
        "a.jsonl#6": "empty_turn",
        "a.jsonl#7": "one_speaker",
        "a.jsonl#8": "same_talk",
        "b.jsonl#1": "not_readable",
    }
    assert outcome.dropped is not None
    units = sum(row.units for row in outcome.dropped.collect())
    assert units + outcome.rows.count() == read.count() == 11


def test_greetings_before_the_seeker_go(spark: SparkSession) -> None:
    rows = [(n, [(role, role) for role in roles]) for n, roles in enumerate(["sshsh", "hsh", "sss", ""])]
    frame = spark.createDataFrame(rows, "n int, turns array<struct<role: string, text: string>>")
    named = F.transform(
        "turns",
        lambda turn: F.struct(F.when(turn["role"] == "h", "seeker").otherwise("supporter").alias("role"), turn["text"]),
    )
    left = frame.select("n", without_greetings(named)["text"].alias("texts")).orderBy("n").collect()
    assert ["".join(row.texts) for row in left] == ["hsh", "hsh", "", ""]


@pytest.mark.slow
def test_the_draw_is_as_even_as_the_data_allow(spark: SparkSession, tmp_path: Path) -> None:
    available = {"job crisis": 30, "sleep": 2, "friends": 9, "parents": 1}
    numbers = iter(range(100))
    talks = [talk(next(numbers), SEEKER, SUPPORTER, problem=name) for name, n in available.items() for _ in range(n)]
    talks.append(talk(next(numbers), SEEKER, SUPPORTER, problem=None))
    file = written(tmp_path, "a.jsonl", *talks)
    named_so = written(tmp_path, "FailedOnes.jsonl", talk(99, SEEKER, SUPPORTER, problem="parents"))
    sessions = usable_sessions(read_sessions(spark, [file, named_so], []), 60_000).rows
    outcome = training_draw(sessions, 20, 13)
    drawn = outcome.rows.collect()
    counts = Counter(row.problem for row in drawn)
    assert counts == {"job crisis": 8, "friends": 9, "sleep": 2, "parents": 1} or counts == {
        "job crisis": 9,
        "friends": 8,
        "sleep": 2,
        "parents": 1,
    }
    assert {row.problem: row.available for row in drawn} == available
    assert sorted(row.place for row in drawn) == list(range(1, 21))
    assert Counter(reasons(outcome.dropped).values()) == {"not_drawn": 22, "no_problem_type": 1, "contrast": 1}
    again = training_draw(sessions.repartition(7), 20, 13).rows.select("session_id", "place").collect()
    assert {tuple(row) for row in again} == {(row.session_id, row.place) for row in drawn}
    other = {row.session_id for row in training_draw(sessions, 20, 14).rows.collect()}
    assert other != {row.session_id for row in drawn}


@pytest.mark.slow
def test_the_real_sessions_are_one_a_talk_and_the_draw_is_even(spark: SparkSession, shared_data: Path) -> None:
    folder = shared_data / "esconv"
    files = files_under([str(folder)], (".jsonl", ".tsv.gz"), "augesc.sessions")
    outcome = usable_sessions(read_sessions(spark, files, [str(folder / "FailedESConv.json")]), 60_000)
    sessions = outcome.rows.cache()
    good = sessions.where(~F.col("contrast"))
    with_problem = good.where(F.col("problem").isNotNull())
    assert (with_problem.count(), sessions.where("contrast").count()) == (390, 196)
    assert with_problem.where("source = 'ppdpp_valid.jsonl'").count() >= 120  # as people wrote them, not merged
    drawn = training_draw(sessions, 100, 13).rows.collect()
    counts = Counter(row.problem for row in drawn)
    assert len(drawn) == 100
    assert len(counts) == 12
    large = [n for name, n in counts.items() if {r.available for r in drawn if r.problem == name} != {n}]
    assert max(large) - min(large) <= 1
    assert all(row.turns[0].role == "seeker" for row in drawn)
