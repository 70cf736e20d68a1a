"""From which confidence on a label is accepted, and what the views say of it."""

from collections.abc import Sequence

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.common.hashes import history_hash
from etl.edos.label_thresholds import PRIOR_ROWS, held_out_answers, held_out_histories, label_thresholds
from etl.edos.turn_labels import labelled_dialogues
from tests.stand_ins import StandIns

ANSWERS = "dialogue_id string, turn int, split string, truth string, label string, confidence float, error string"
LABELS = ("sad", "proud", "angry")
TRAINING = "dialogue_id string, turn int, turns array<string>, label string, split string"
THRESHOLDS = "model string, label string, threshold float"


def answers(spark: SparkSession, rows: Sequence[tuple[str | None, float | None, bool]]) -> DataFrame:
    """Rows of (label, confidence, whether it is right); the model failed on a row without a label."""
    return spark.createDataFrame(
        [
            (f"d{place}", 0, "validation", label if right else "other", label, confidence, None if label else "no")
            for place, (label, confidence, right) in enumerate(rows)
        ],
        ANSWERS,
    )


def chosen(rows: DataFrame, accuracy: float = 0.8) -> dict[str, tuple[float | None, int, int, int]]:
    found = label_thresholds(rows, LABELS, accuracy, "m@1").rows.collect()
    assert {row.model for row in found} == {"m@1"}
    threshold = {row.label: None if row.threshold is None else round(row.threshold, 4) for row in found}
    return {row.label: (threshold[row.label], row.predicted, row.accepted, row.correct) for row in found}


def test_a_label_is_accepted_from_where_its_rows_are_right_often_enough(spark: SparkSession) -> None:
    """A label without rows takes the threshold of all; failed rows are dropped and not judged."""
    rows = answers(spark, [*[("sad", 0.9, True)] * 40, *[("sad", 0.4, False)] * 40, (None, None, False)])
    assert chosen(rows) == {"sad": (0.9, 80, 40, 40), "proud": (0.9, 0, 0, 0), "angry": (0.9, 0, 0, 0)}
    assert chosen(rows, accuracy=0.45)["sad"] == (0.4, 80, 80, 40)
    outcome = label_thresholds(rows, LABELS, 0.8, "m@1")
    assert outcome.dropped is not None
    (dropped,) = outcome.dropped.collect()
    assert (dropped.unit, dropped.id, dropped.reason, dropped.detail) == (
        "validation row",
        "d80/0",
        "model_failed",
        "no",
    )


def test_rows_of_one_confidence_count_together(spark: SparkSession) -> None:
    tied = [("sad", 0.6, True)] * 30 + [("sad", 0.6, False)] * 10
    # 0.75 of 60 rows, less half a standard error: 0.722.
    assert chosen(answers(spark, tied), accuracy=0.72)["sad"] == (0.6, 40, 40, 30)
    assert chosen(answers(spark, tied), accuracy=0.73)["sad"] == (None, 40, 0, 0)


def test_a_larger_set_of_rows_needs_less_margin(spark: SparkSession) -> None:
    few = [("sad", 0.6, True)] * 8 + [("sad", 0.6, False)] * 2
    assert chosen(answers(spark, few), accuracy=0.78)["sad"] == (None, 10, 0, 0)
    assert chosen(answers(spark, few * 30), accuracy=0.78)["sad"] == (0.6, 300, 300, 240)


def test_a_rare_label_leans_on_all_labels(spark: SparkSession) -> None:
    many = [("proud", 0.5, True)] * 950 + [("proud", 0.5, False)] * 50
    two_wrong = chosen(answers(spark, [*many, *[("sad", 0.5, False)] * 2]))
    assert two_wrong["sad"] == (0.5, 2, 2, 0), "20 rows at 0.948 and two wrong ones: 0.862, less half of 0.074"
    three_wrong = chosen(answers(spark, [*many, *[("sad", 0.5, False)] * 3]))
    assert three_wrong["sad"] == (None, 3, 0, 0), "0.824, less half of 0.079"
    assert PRIOR_ROWS == 20


def test_nothing_is_accepted_of_a_classifier_that_is_never_right_enough(spark: SparkSession) -> None:
    assert chosen(answers(spark, [("sad", 0.9, False)] * 5)) == {
        "sad": (None, 5, 0, 0),
        "proud": (None, 0, 0, 0),
        "angry": (None, 0, 0, 0),
    }
    assert {row[0] for row in chosen(answers(spark, [])).values()} == {None}


def scores(spark: SparkSession, told: dict[str, tuple[str, float]], model: str) -> DataFrame:
    """Answers of a model to histories of one turn."""
    rows = spark.createDataFrame(
        [([text], *answer) for text, answer in told.items()], "turns array<string>, label string, confidence float"
    )
    hashed = rows.select(history_hash(F.col("turns")).alias("history_hash"), "label", "confidence")
    return hashed.select(
        "history_hash", F.lit(model).alias("model"), "label", "confidence", F.lit(None).cast("string").alias("error")
    )


@pytest.fixture()
def training(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [
            ("a", 0, ["one"], "sad", "test"),
            ("b", 0, ["two"], "sad", "test"),
            ("c", 0, ["two"], "proud", "validation"),
            ("d", 0, ["four"], "sad", "train"),
        ],
        TRAINING,
    )


def test_held_out_rows_are_asked_about_once_and_answered_by_their_model(
    spark: SparkSession, training: DataFrame
) -> None:
    asked = held_out_histories(training).collect()
    assert sorted(row.turns for row in asked) == [["one"], ["two"]]
    told = scores(spark, {"one": ("sad", 0.9), "two": ("proud", 0.3)}, "m@2").unionByName(
        scores(spark, {"one": ("angry", 0.9)}, "m@1")
    )
    found = {
        row.dialogue_id: (row.split, row.truth, row.label) for row in held_out_answers(training, told, "m@2").collect()
    }
    assert found == {"a": ("test", "sad", "sad"), "b": ("test", "sad", "proud"), "c": ("validation", "proud", "proud")}


def test_finished_turns_say_whether_their_label_is_accepted(spark: SparkSession) -> None:
    initial = spark.createDataFrame(
        [("x", "f", ["one", "two", "three"])], "dialogue_id string, movie_id string, turns array<string>"
    )
    rows = []
    for place, answer in enumerate((("sad", 0.5), ("sad", 0.49), ("angry", 0.99))):
        turns = ["one", "two", "three"][: place + 1]
        rows.append((turns, *answer))
    told = spark.createDataFrame(rows, "turns array<string>, label string, confidence float").select(
        history_hash(F.col("turns")).alias("history_hash"),
        F.lit("m@1").alias("model"),
        "label",
        "confidence",
        F.lit(None).cast("string").alias("error"),
    )
    least = spark.createDataFrame([("m@1", "sad", 0.5), ("m@1", "angry", None), ("m@0", "sad", 0.1)], THRESHOLDS)
    (row,) = labelled_dialogues(initial, told, least, "m@1").rows.collect()
    assert row.accepted == [True, False, False]
    assert [turn.label for turn in row.turns] == ["sad", "sad", "angry"]
    (unknown,) = labelled_dialogues(initial, told, least.where("false"), "m@1").rows.collect()
    assert unknown.accepted == [False, False, False]


def test_the_views_judge_test_rows_alone(spark: SparkSession, training: DataFrame, stand_ins: StandIns) -> None:
    stand_ins.give("edos.training_dialogues", training)
    stand_ins.give(
        "edos.held_out_scores",
        scores(spark, {"one": ("sad", 0.9), "two": ("proud", 0.3)}, "m@2").unionByName(
            scores(spark, {"one": ("proud", 0.99)}, "m@1")
        ),
    )
    least = [("m@2", "sad", 0.5), ("m@2", "proud", 0.5), ("m@2", "angry", None)]
    stand_ins.give("edos.label_thresholds", spark.createDataFrame(least, THRESHOLDS))
    answered = {
        (row.text, row.crowd_label, row.label, row.correct, row.label_accepted)
        for row in stand_ins.ask("edos_test_answers")
    }
    assert answered == {("one", "sad", "sad", True, True), ("two", "sad", "proud", False, False)}
    curve = {row.surest_share: (row.turns, row.accuracy) for row in stand_ins.ask("edos_label_curve")}
    assert curve == {share / 10: (1, 1.0) if share <= 5 else (2, 0.5) for share in range(1, 11)}
    rows = [
        (row.label, row.least_confidence, row.turns, row.accuracy, row.accepted, row.accepted_accuracy)
        for row in stand_ins.ask("edos_accepted_labels")
    ]
    assert rows == [
        ("all labels", None, 2, 0.5, 1, 1.0),
        ("angry", None, 0, None, 0, None),
        ("proud", 0.5, 1, 0.0, 0, None),
        ("sad", 0.5, 1, 1.0, 1, 1.0),
    ]
