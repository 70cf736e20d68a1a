"""Near-duplicates, labels above the threshold, and splits by plot."""

from collections import Counter

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.emo_pillars.examples import check_splits, contextual_examples, distinct_utterances, examples, split_of

DISTINCT = "utterance_id string, plot_id string, actor_id string, actor string, utterance string, label string"


def test_a_plot_is_in_the_same_split_of_both_data_sets(spark: SparkSession) -> None:
    made = spark.range(3000).selectExpr("concat('u-', id) AS utterance_id", "concat('plot-', id) AS plot_id")
    chosen = made.selectExpr("*", "true AS needs_context").withColumn("split", split_of("plot_id"))
    rewrites, contexts = (made.selectExpr("utterance_id", f"'x' AS {name}") for name in ("rewritten", "context"))
    contextual = contextual_examples(rewrites, contexts, chosen)
    check_splits(chosen, contextual)
    found = {row.plot_id: row.split for row in contextual.collect()}
    assert found == {row.plot_id: row.split for row in chosen.collect()}
    assert len(found) == 3000
    counts = Counter(found.values())
    assert abs(counts["test"] / 3000 - 0.10) < 0.02
    assert abs(counts["validation"] / 3000 - 0.10) < 0.02
    moved = contextual.withColumn("split", F.expr("if(split = 'test', 'train', split)"))
    with pytest.raises(InputError, match=f"{counts['test']} plots are in several splits"):
        check_splits(chosen, moved)


def test_near_duplicates_go_whatever_their_plot_and_emotion(spark: SparkSession) -> None:
    long = "i will wait for him at the end of the pier until the last ship comes in"
    said = [
        ("a-1-1", long, "love"),
        ("b-1-1", f"{long} tonight", "love"),
        ("b-1-2", long.upper(), "sadness"),
        ("c-1-1", "No !", "anger"),
        ("c-1-2", "no", "anger"),
        ("c-1-3", "no way", "anger"),
        ("d-1-1", f"{long} tonight", "joy"),
    ]
    rows = [(key, key[0], key[:3], "x", text, label) for key, text, label in said]
    outcome = distinct_utterances(spark.createDataFrame(rows, DISTINCT), 0.8)
    assert {row.utterance_id for row in outcome.rows.collect()} == {"a-1-1", "c-1-1", "c-1-3"}
    assert outcome.dropped is not None
    dropped = {row.id: (row.reason, row.detail) for row in outcome.dropped.collect()}
    assert dropped["b-1-1"][0] == "near_duplicate"
    assert "a-1-1" in dropped["b-1-1"][1]
    assert dropped["b-1-2"][0] == dropped["c-1-2"][0] == "duplicate"
    assert "c-1-1" in dropped["c-1-2"][1]
    assert len(dropped) == 4


def test_labels_from_the_threshold_on_the_strongest_first(spark: SparkSession) -> None:
    utterances = spark.createDataFrame([(key, "p", "p-1", "x", f"words {key}", "joy") for key in "abc"], DISTINCT)
    levels = [
        ("a", "joy", 0.3),
        ("a", "love", 0.9),
        ("a", "pride", 0.29),
        ("a", "joy", 0.2),
        ("b", "joy", 0.1),
        ("c", "love", 0.5),
        ("c", "joy", 0.5),
    ]
    soft = spark.createDataFrame(levels, "utterance_id string, label string, level double")
    outcome = examples(soft, utterances, 0.3, 1.0)
    found = {row.utterance_id: [(one.label, one.level) for one in row.labels] for row in outcome.rows.collect()}
    assert found == {"a": [("love", 0.9), ("joy", 0.3)], "c": [("joy", 0.5), ("love", 0.5)]}
    assert outcome.dropped is not None
    assert [(row.id, row.reason) for row in outcome.dropped.collect()] == [("b", "no_label_expressed")]
    assert not examples(soft, utterances, 0.3, 0.0).rows.where("needs_context").count()


def test_utterances_of_one_plot_can_be_split_by_themselves(spark: SparkSession) -> None:
    said = spark.createDataFrame([(f"u{n}", "p", "p-1", "x", f"words {n}", "joy") for n in range(200)], DISTINCT)
    levels = said.selectExpr("utterance_id", "label", "0.9D AS level")
    by_plot, by_utterance = (
        Counter(row.split for row in examples(levels, said, 0.3, 1 / 3, key).rows.collect())
        for key in ("plot", "utterance")
    )
    assert len(by_plot) == 1
    assert set(by_utterance) == {"train", "validation", "test"}
    assert by_utterance["train"] > 140
