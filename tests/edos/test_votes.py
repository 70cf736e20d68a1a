"""Crowd votes in the released format: answers, agreement, Fleiss' kappa (EDOS 3.2, Table 4)."""

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from conf.taxonomy import edos_labels
from etl.common.labelled_files import labelled_rows
from etl.edos.tables import ANNOTATIONS, CROWD_LABELS
from etl.edos.votes import (
    VOTE_COLUMNS,
    agree,
    answers_from_votes,
    dialogue_turns,
    normalised_answer,
    several_options,
)
from tests.stand_ins import StandIns

AGREED = "Agreed emotion (2/3 vote)"
RELEASED = ("Count", "Index", "DialogID", "Dialog", AGREED, *VOTE_COLUMNS[3:])
VOTES = [
    # Count, Index, DialogID, Dialog, agreed, three answers
    ("1", "0.9-1", "7", "Is it over ?\nIt is .", "Sad", "Sad", "sad (Other)", "Lonely"),
    ("2", "0.9-2", "7", "Is it over ?", "-", "Sad", "Lonely", "Afraid"),  # the same dialogue, cut earlier
    (
        "3",
        "0.8-3",
        "8",
        "- Look at that !\n- - What a boat .",
        "Impressed",
        "Impressed",
        "IMPRESSED  (Other)",
        "x",
    ),
    ("4", "0.6-4", "9", "No .", "-", "Refusing (Other)", "refusing (Other)", "Sad"),
    ("5", "0.9-5", "7", "Is it over ?\nIt is !", "Sad", "Proud", "Proud", "Proud"),  # the unit of row 1 again
    ("6", "0.9-6", "10", "Well .", "Proud", "Proud", "Proud", None),
    ("7", "0.9-7", " ", "Lost .", "Proud", "Proud", "Proud", "Proud"),
    ("8", "0.9-8", "11", " \n", "Proud", "Proud", "Proud", "Proud"),
]


def vote_frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(VOTES, ", ".join(f"`{name}` string" for name in RELEASED))


def test_answers_and_dialogue_cells_are_normalised(spark: SparkSession) -> None:
    answers = {
        "Sad": "sad",
        " neutral  (Other)": "neutral",
        "None of  these (other) ": "none of these",
        " ": None,
        "\u00a0Sad\u00a0": "sad",
        "s\u00adad\u200b\u00a0(Other)\u2028": "sad",
        "NaN": None,
        "#N/A": None,
        "nan (Other)": "nan",
    }
    cells = {"- Hi .\r\n- - Yes .\n\nNo - no .": ["Hi .", "Yes .", "No - no ."], "-Hi": ["-Hi"], "": []}
    cells["H\x00i"] = ["Hi"]
    ends = ("\r", "\r\n", "\u2028", "\u2029", "\x85", "\x0b", "<br>", "<BR />", "&lt;br&gt;", "\\n", "\\r\\n", "\\N")
    ends += ("_x000D_\n", "&#10;", "</p><p>")
    cells |= {f"- Hi .{end}-\u00a0Yes .\u00a0": ["Hi .", "Yes ."] for end in ends} | {"nan": [], "#NAME?": []}
    frame = spark.createDataFrame([(text,) for text in [*answers, *cells]], "text string")
    found = frame.select("text", normalised_answer(F.col("text")).alias("a"), dialogue_turns(F.col("text")).alias("t"))
    rows = {row["text"]: row for row in found.collect()}
    assert {text: rows[text]["a"] for text in answers} == answers
    assert {text: rows[text]["t"] for text in cells} == cells


def test_several_options_in_an_answer_are_told(spark: SparkSession) -> None:
    answers = {"Sad|Angry": True, "sad, angry": True, "sad|my own": True, "sad": False, "well, sad": False, "": False}
    answers |= {"angry, annoyed (Other)": False, "none": False, "sad, tired of it": False}
    parts = ("\n", "\r", "\u2028", "<br>", "<br/>", "\\n", " ", "\u00a0", "_x000D_\n", ";", " & ", " and ", " + ", "\t")
    answers |= {f"Sad{part}Angry": True for part in parts} | {'["Sad", "Angry"]': True, "{Sad}{Angry}": True}
    answers |= {"Sad<br>my own": True, "Sad\nmy own": True, "Sad<br>": False, "x" * 10_000 + "<br>sad": False}
    frame = spark.createDataFrame([(text,) for text in answers], "text string")
    rows = frame.select("text", several_options(F.col("text"), edos_labels()).alias("several")).collect()
    assert {row["text"]: row["several"] for row in rows} == answers


def test_votes_become_answers_and_every_vote_is_accounted_for(spark: SparkSession) -> None:
    outcome = answers_from_votes(vote_frame(spark), edos_labels(), "hand-made")
    assert outcome.rows.schema.simpleString() == ANNOTATIONS.schema.simpleString()
    rows = {(row["dialogue_id"], row["turn"], row["worker_id"]): row for row in outcome.rows.collect()}
    assert outcome.dropped is not None
    dropped = outcome.dropped.collect()
    assert len(rows) == 14
    assert Counter(row["reason"] for row in dropped) == {
        "repeated_item": 3,
        "no_dialogue": 6,
        "no_answer": 1,
        "outside_taxonomy": 3,
    }
    assert 3 * len(VOTES) == len(rows) + sum(row["units"] for row in dropped)
    assert len({row["id"] for row in dropped}) == len(dropped)
    other = rows[("8", 1, "2")]
    assert (other["turns"], other["answer"], other["label"], other["specified"], other["band"]) == (
        ["Look at that !", "What a boat ."],
        "IMPRESSED  (Other)",
        "impressed",
        True,
        "0.8",
    )
    assert rows[("9", 0, "1")]["label"] is None
    assert rows[("9", 0, "1")]["answer"] == "Refusing (Other)"


def test_two_of_three_agree_after_normalising(spark: SparkSession) -> None:
    answers = answers_from_votes(vote_frame(spark), edos_labels(), "hand-made").rows
    outcome = agree(answers.repartition(5), edos_labels())
    assert outcome.rows.schema.simpleString() == CROWD_LABELS.schema.simpleString()
    rows = {(row["dialogue_id"], row["turn"]): (row["label"], row["votes"]) for row in outcome.rows.collect()}
    assert rows == {
        ("7", 1): ("sad", ["sad", "sad", "lonely"]),
        ("7", 0): (None, ["sad", "lonely", "afraid"]),
        ("8", 1): ("impressed", ["impressed", "impressed", "x"]),
        ("9", 0): (None, ["refusing", "refusing", "sad"]),
        ("10", 0): ("proud", ["proud", "proud"]),
    }
    assert outcome.dropped is not None
    reported = [(row["id"], row["reason"], row["detail"], row["units"]) for row in outcome.dropped.collect()]
    assert reported == [("9/0", "majority_outside_taxonomy", "refusing", 0)]


def test_shares_of_the_votes_are_the_majoritys_probabilities(spark: SparkSession) -> None:
    answers = answers_from_votes(vote_frame(spark), edos_labels(), "hand-made")
    rows = {
        row["dialogue_id"] + "/" + str(row["turn"]): row for row in agree(answers.rows, edos_labels()).rows.collect()
    }
    found = {unit: [tuple(one) for one in row["probabilities"]] for unit, row in rows.items()}
    assert found["7/1"] == [("sad", 0.6667), ("lonely", 0.3333)]
    assert found["7/0"] == [("afraid", 0.3333), ("lonely", 0.3333), ("sad", 0.3333)]
    assert found["8/1"] == [("impressed", 0.6667)]
    assert found["10/0"] == [("proud", 1.0)]


def independent_kappa(items: list[list[str]]) -> float:
    """Fleiss' kappa by counting pairs of workers that agree, not by the formula under test."""
    pairs = [vote[i] == vote[j] for vote in items for i in range(3) for j in range(3) if i != j]
    votes = [answer for vote in items for answer in vote]
    observed = sum(pairs) / len(pairs)
    expected = sum(a == b for a in votes for b in votes) / len(votes) ** 2
    return (observed - expected) / (1 - expected)


def kappa_of(stand_ins: StandIns, labels: DataFrame) -> Row:
    stand_ins.give(CROWD_LABELS.name, labels)
    return stand_ins.ask("edos_fleiss_kappa")[0]


def test_fleiss_kappa(spark: SparkSession, stand_ins: StandIns) -> None:
    items = [["a", "a", "a"], ["a", "a", "b"], ["b", "c", "a"], ["b", "b", "b"], ["c", "b", "c"]]
    rows = [(str(i), 0, votes) for i, votes in enumerate(items)] + [("two votes", 0, ["a", "b"])]
    schema = "dialogue_id string, turn int, votes array<string>"
    found = kappa_of(stand_ins, spark.createDataFrame(rows, schema))
    # by hand: P = (1 + 1/3 + 0 + 1 + 1/3) / 5 = 8/15; p = 6/15, 6/15, 3/15; expected = 81/225
    assert found["items"] == 5
    assert found["observed"] == pytest.approx(8 / 15)
    assert found["expected"] == pytest.approx(81 / 225)
    assert found["kappa"] == pytest.approx((8 / 15 - 0.36) / 0.64) == pytest.approx(independent_kappa(items))
    agreed = kappa_of(stand_ins, spark.createDataFrame([("1", 0, ["a", "a", "a"])], schema))
    assert agreed["kappa"] is None


@pytest.mark.slow
def test_released_votes_agree_as_released(spark: SparkSession, stand_ins: StandIns, shared_data: Path) -> None:
    path = shared_data / "edos" / "mturk_groundtruth_labels_9k.csv.gz"
    votes = labelled_rows(spark, [str(path)], VOTE_COLUMNS, "edos.crowd_votes", optional=(AGREED,)).rows
    answers = answers_from_votes(votes, edos_labels(), "released").rows.cache()
    labels = agree(answers, edos_labels()).rows.cache()
    assert (votes.count(), answers.count(), labels.count()) == (8187, 3 * 8187, 8187)
    released = votes.select(
        F.col("DialogID").alias("dialogue_id"),
        (F.size(dialogue_turns(F.col("Dialog"))) - 1).alias("turn"),
        normalised_answer(F.col(f"`{AGREED}`")).alias("agreed"),
    )
    both = labels.join(released, ["dialogue_id", "turn"])
    assert both.count() == 8187
    # Four released rows say "-" though two workers agree; one agrees on "disagreeing", which is no label.
    assert both.filter(F.coalesce("label", F.lit("-")) == F.col("agreed")).count() == 8182
    assert (
        both.filter((F.col("agreed") != "-") & F.col("label").isNotNull() & (F.col("label") != F.col("agreed"))).count()
        == 0
    )
    kappa = kappa_of(stand_ins, labels)
    assert kappa["items"] == 8187
    assert 0.40 < kappa["kappa"] < 0.52
