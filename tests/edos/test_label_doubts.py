"""The crowd's labels by doubt: a wrong one comes first, in the same order whatever the partitions."""

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession

from conf.errors import InputError
from etl.edos.label_doubts import document, label_doubts, out_of_fold
from etl.tables.edos import LABEL_DOUBTS

pytest.importorskip("cleanlab", reason="cleanlab is not installed (pip install '.[cluster]')")


def seeds(spark: SparkSession, rows: int) -> DataFrame:
    """Turns of two labels by words of their own; d07 has the words of the other label."""
    words = {"sad": ("i cry so much", "my dog died"), "proud": ("we won the cup", "what a great victory")}
    found = []
    for n in range(rows):
        label = ("sad", "proud")[n % 2]
        said = words[label if n != 7 else "sad"][n // 2 % 2]
        found.append((f"d{n:02}", 1, ["well ?", f"{said} {n}"], label, "train"))
    return spark.createDataFrame(found, "dialogue_id string, turn int, turns array<string>, label string, split string")


def test_a_wrong_label_comes_first(spark: SparkSession) -> None:
    outcome = label_doubts(seeds(spark, 40).repartition(7), spark)
    assert outcome.rows.schema.simpleString() == LABEL_DOUBTS.schema.simpleString()
    rows = sorted(outcome.rows.collect(), key=lambda row: row["rank"])
    assert [row["rank"] for row in rows] == list(range(1, 41))
    assert (rows[0]["dialogue_id"], rows[0]["label"], rows[0]["suggested"]) == ("d07", "proud", "sad")
    assert rows[0]["doubtful"]
    assert not rows[-1]["doubtful"]
    assert [row["probability"] for row in rows] == sorted(row["probability"] for row in rows)
    assert rows == sorted(label_doubts(seeds(spark, 40), spark).rows.collect(), key=lambda row: row["rank"])


def test_too_few_labels_are_refused(spark: SparkSession) -> None:
    with pytest.raises(InputError, match="too few labelled turns"):
        label_doubts(seeds(spark, 8), spark)


def test_words_of_the_history_are_told_from_the_last_turns() -> None:
    assert document(["Is it over ?", "It is ."]) == "it is . <is <it <over <?"


def test_a_label_that_a_fold_does_not_learn_stops_nothing() -> None:
    given = np.array([0] * 9 + [1])
    found = out_of_fold([f"word {n}" for n in range(10)], given)
    assert found.shape == (10, 2)
    assert found[9].tolist() == [1.0, 0.0]
    assert found[:9].sum(axis=1) == pytest.approx(1)
