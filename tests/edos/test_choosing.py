"""Choosing the top N dialogues by weak confidence (EDOS 3.1)."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from conf.errors import InputError
from etl.edos.choosing import choose_emotional, dialogue_confidence
from etl.tables.edos import INITIAL

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
        ("min", {"a-0": 0.2, "b-0": 0.7, "c-0": 0.1, "d-0": 0.3}),
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


def test_an_unknown_way_is_refused(spark: SparkSession) -> None:
    with pytest.raises(InputError, match="'median': choose one of max, mean, min, first, last"):
        dialogue_confidence(choosing_frames(spark)[1], "median")
