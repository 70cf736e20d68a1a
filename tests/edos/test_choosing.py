"""Choosing the top N dialogues by weak confidence (EDOS 3.1)."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.edos.choosing import choose_emotional, dialogue_confidence, emotional_confidence
from etl.edos.tables import INITIAL

CONFIDENCES = {
    "a-0": [0.20, 0.90, 0.40],
    "b-0": [0.70, 0.70],
    "c-0": [0.90004, 0.10],  # 0.9000 to four decimals: level with a-0
    "d-0": [None, 0.30],
    "e-0": [None, None],
}


def choosing_frames(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    labels = [
        (name, turn, confidence) for name, values in CONFIDENCES.items() for turn, confidence in enumerate(values)
    ]
    dialogues = [
        (name, "film", [(f"turn {turn}",) for turn in range(len(values))]) for name, values in CONFIDENCES.items()
    ]
    dialogues.append(("f-0", "film", [("never labelled",)]))
    return (
        spark.createDataFrame(dialogues, "dialogue_id string, movie_id string, turns array<struct<text: string>>"),
        spark.createDataFrame(labels, "dialogue_id string, turn int, confidence float"),
    )


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("max", {"a-0": 0.9, "b-0": 0.7, "c-0": 0.9, "d-0": 0.3}),
        ("mean", {"a-0": 0.5, "b-0": 0.7, "c-0": 0.5, "d-0": 0.3}),
        ("first", {"a-0": 0.2, "b-0": 0.7, "c-0": 0.9, "d-0": 0.3}),
        ("last", {"a-0": 0.4, "b-0": 0.7, "c-0": 0.1, "d-0": 0.3}),
    ],
)
def test_how_turns_make_a_dialogues_confidence(spark: SparkSession, how: str, expected: dict[str, float]) -> None:
    _, labels = choosing_frames(spark)
    found = {row["dialogue_id"]: row["confidence"] for row in dialogue_confidence(labels, how).collect()}
    assert found == expected


def test_the_top_n_by_confidence_ties_by_id_and_the_rest_in_the_ledger(spark: SparkSession) -> None:
    dialogues, labels = choosing_frames(spark)
    outcome = choose_emotional(dialogues.repartition(3), labels.repartition(4), 2, "max")
    assert outcome.rows.schema.simpleString() == INITIAL.schema.simpleString()
    rows = sorted(outcome.rows.collect(), key=lambda row: row["rank"])
    assert [(row["rank"], row["dialogue_id"], row["turns"]) for row in rows] == [
        (1, "a-0", ["turn 0", "turn 1", "turn 2"]),
        (2, "c-0", ["turn 0", "turn 1"]),
    ]
    assert outcome.dropped is not None
    dropped = {
        row["id"]: (row["unit"], row["reason"], row["detail"], row["units"]) for row in outcome.dropped.collect()
    }
    assert dropped == {
        "b-0": ("dialogue", "below_top_n", "confidence 0.7000, rank 3", 1),
        "d-0": ("dialogue", "below_top_n", "confidence 0.3000, rank 4", 1),
        "e-0": ("dialogue", "no_weak_label", "no turn has a weak label", 1),
        "f-0": ("dialogue", "no_weak_label", "no turn has a weak label", 1),
    }


def test_neutral_and_questioning_make_no_dialogue_emotional(spark: SparkSession) -> None:
    rows = [("a", 0, "neutral", 0.99), ("a", 1, "sad", 0.4), ("b", 0, "questioning", 0.9), ("b", 1, "sad", None)]
    labels = spark.createDataFrame(rows, "dialogue_id string, turn int, label string, confidence float")

    def found(*not_emotions: str) -> dict[str, float]:
        rows = dialogue_confidence(emotional_confidence(labels, not_emotions), "mean").collect()
        return {row["dialogue_id"]: row["confidence"] for row in rows}

    assert found("neutral", "questioning") == {"a": 0.2, "b": 0.0}
    assert found("neutral") == {"a": 0.2, "b": 0.9}
    assert found() == {"a": 0.695, "b": 0.9}


RULED = {
    "emotion": ["b-0", "a-0", "c-0", "d-0"],
    "emotion_and_certainty": ["a-0", "c-0", "b-0", "d-0"],
}


@pytest.mark.parametrize(("rule", "expected"), RULED.items())
def test_a_rule_ranks_by_emotion_by_certainty_or_by_both(spark: SparkSession, rule: str, expected: list) -> None:
    dialogues, labels = choosing_frames(spark)
    certainty = F.create_map(*(F.lit(part) for pair in {"a-0": 0.9, "b-0": 0.2, "c-0": 0.8}.items() for part in pair))
    certain = dialogues.withColumn("certainty", certainty[F.col("dialogue_id")])
    outcome = choose_emotional(certain, labels, 10, "mean", rule)
    rows = sorted(outcome.rows.collect(), key=lambda row: row["rank"])
    assert [row["dialogue_id"] for row in rows] == expected
    (first,) = (row for row in rows if row["dialogue_id"] == "a-0")
    assert (first["emotion"], first["certainty"]) == pytest.approx((0.5, 0.9))
