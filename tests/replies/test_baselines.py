"""Floors and the ceiling of Table 7: each baseline's replies, and equal numbers for distinct-n."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from etl.common.hashes import history_hash
from etl.replies.baselines import CEILING, FLOORS, NO_REPLY, baseline_replies
from etl.replies.measures import distinct_answers, equal_numbers
from etl.replies.tables import BASELINES, EXAMPLES, STEERED
from tests.stand_ins import StandIns

TRAIN = [
    (["my dog ran away"], "poor dog"),
    (["the rain will not stop"], "yes ."),
    (["so much rain"], "yes ."),
    (["is it true ?"], "no ."),
]
ASKED = [["hello", "rain again ?"], ["my dog bit me", "the dog ran"]]


def examples(spark: SparkSession, sources: tuple[str, ...] = ("edos",)):
    rows = [
        (f"{source}/train{place}/1", source, "train", context, reply, None)
        for source in sources
        for place, (context, reply) in enumerate(TRAIN)
    ]
    rows += [(f"edos/test{place}/1", "edos", "test", context, "true", None) for place, context in enumerate(ASKED)]
    return spark.createDataFrame(rows, EXAMPLES.schema)


@pytest.mark.slow
def test_each_baseline_replies_to_each_history(spark: SparkSession) -> None:
    rows = baseline_replies(examples(spark), None, 100).collect()
    assert set(rows[0].asDict()) == set(BASELINES.columns)
    assert len(rows) == 2 * 5
    said = {(row.generator, row.example_id): row.reply for row in rows}
    by = {name: [said[name, f"edos/test{place}/1"] for place in (0, 1)] for name in (*FLOORS, CEILING)}
    assert by["constant"] == ["yes .", "yes ."]
    assert by["human"] == ["true", "true"]
    assert by["echo"] == ["rain again ?", "the dog ran"]
    assert by["retrieval"] == ["yes .", "poor dog"]
    assert set(by["random"]) <= {reply for _, reply in TRAIN}
    assert len({row.reply_id for row in rows}) == len(rows)
    again = baseline_replies(examples(spark).repartition(3), None, 100).collect()
    assert {(row.generator, row.example_id): row.reply for row in again} == said


def test_a_source_without_training_replies_has_an_error_in_their_place(spark: SparkSession) -> None:
    rows = baseline_replies(examples(spark, ("os",)), 1, 2).collect()
    failed = {row.generator for row in rows if row.error == NO_REPLY and row.reply is None}
    assert failed == {"constant", "random", "retrieval"}
    assert len(rows) == 5


def test_distinct_n_is_of_as_many_replies_in_each_cell(spark: SparkSession) -> None:
    rows = [(name, "os", f"os/{place}", "a") for name, count in (("one", 5), ("other", 2)) for place in range(count)]
    given = spark.createDataFrame(rows, "generator string, source string, example_id string, reply string")
    chosen = equal_numbers(given).collect()
    kept = {name: {row.example_id for row in chosen if row.generator == name} for name in ("one", "other")}
    assert len(kept["one"]) == len(kept["other"]) == 2
    assert {row.distinct_replies for row in chosen} == {2}


def test_true_replies_of_each_intent_are_read_too(spark: SparkSession) -> None:
    rows = [
        (f"empathetic/{place}/1", "empathetic", split, ["so ?"], f"reply {place}", intent)
        for place, (split, intent) in enumerate([("test", "sad")] * 3 + [("test", None), ("train", "sad")])
    ]
    found = distinct_answers(
        spark.createDataFrame([], STEERED.schema), spark.createDataFrame(rows, EXAMPLES.schema), 2
    ).collect()
    assert len(found) == 2
    assert {row.turns[0] for row in found} == {"so ?"}


@pytest.fixture()
def intents(spark: SparkSession, stand_ins: StandIns) -> StandIns:
    said = [("steered", "sad", f"s{place}") for place in range(4)]
    said += [(name, None, f"{name}{place}") for name in ("steered", "empathetic") for place in range(4)]
    steered = spark.createDataFrame(
        [(*one, one[2]) for one in said], "generator string, intent string, reply string, history_hash string"
    )
    people = [(f"empathetic/{place}", "empathetic", "test", ["so ?"], f"p{place}", "sad") for place in range(4)]
    known = spark.createDataFrame(people, EXAMPLES.schema)
    hashes = [row.h for row in known.select(history_hash(F.concat("context", F.array("reply"))).alias("h")).collect()]
    read = {"s0": "sad", "s1": "sad", "s2": "sad", "steered0": "sad", hashes[0]: "sad", hashes[1]: "sad"}
    readings = [(one, "m", read.get(one, "proud"), 1.0) for one in [*(row[2] for row in said), *hashes]]
    stand_ins.give("replies.steered", steered)
    stand_ins.give("replies.examples", known)
    stand_ins.give(
        "replies.intent_readings",
        spark.createDataFrame(
            readings, "history_hash string, model string, label string, confidence double"
        ).withColumn("confidence", F.col("confidence").cast("float")),
    )
    return stand_ins


def test_asked_intents_have_a_floor_a_ceiling_and_intervals(intents: StandIns) -> None:
    every, sad = intents.ask("reply_intents")
    assert (sad.intent, sad.replies, sad.asked_rate, sad.unasked_rate, sad.plain_rate) == ("sad", 4, 0.75, 0.25, 0.0)
    assert (sad.times_unasked, sad.times_plain, sad.true_replies, sad.true_rate) == (3.0, None, 4, 0.5)
    assert (sad.asked_low, sad.asked_high) == pytest.approx((0.3006, 0.9544), abs=2e-4)
    assert (sad.true_low, sad.true_high) == pytest.approx((0.15, 0.85), abs=2e-4)
    assert sad.enough is False
    assert every.intent == "all"
    assert every.enough is None
    assert every.unasked_low is None


def test_table_7_has_floors_and_a_ceiling(spark: SparkSession, stand_ins: StandIns) -> None:
    rows = [("edos", "edos", 0.2, 0.1, 30.0), ("echo", "edos", 0.15, 0.3, None), ("human", "edos", 1.0, 0.4, None)]
    given = spark.createDataFrame(
        rows, "generator string, source string, similarity double, distinct_1 double, perplexity double"
    )
    stand_ins.give("replies.evaluation", given)
    table = stand_ins.ask("edos_table_7")
    assert len(table) == 9 + 3 * 5
    assert [row.generator for row in table[:9]] == sorted(
        (row.generator for row in table[:9]), key=["pretrained", "edos", "empathetic"].index
    )
    found = {(row.generator, row.source): row for row in table}
    assert found["edos", "edos"].above_echo == pytest.approx(0.05)
    assert (found["echo", "edos"].setting, found["human", "edos"].setting) == ("floor", "ceiling")
    assert found["human", "edos"].similarity == 1.0
    assert found["constant", "os"].similarity is None
    assert found["edos", "edos"].likeliest is True
    assert found["echo", "edos"].likeliest is None
