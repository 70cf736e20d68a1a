"""Choosing the top N dialogues by weak confidence (EDOS 3.1)."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.wordlists import words
from etl.common.hashes import text_hash
from etl.edos.choosing import (
    accepted_share,
    choice_curve,
    choose_emotional,
    dialogue_confidence,
    emotional_confidence,
    places_for,
    score_of,
    scored_by,
    sizes_by_score,
)
from etl.edos.settings import ChoiceRules, WorthWeights
from etl.edos.tables import INITIAL, WEAK_SCORES
from etl.edos.turn_labels import weak_labels_of_turns
from tests.frames import computed

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


def test_each_turn_has_the_top_label_of_its_text_by_one_model(spark: SparkSession) -> None:
    dialogues = spark.createDataFrame(
        [("a-0", [("hi .",), ("no !",)]), ("b-0", [("hi .",), ("lost",)])],
        "dialogue_id string, turns array<struct<text: string>>",
    )
    answers = [
        ("hi .", "m@1", [("caring", 0.5), ("sad", 0.3)], None),
        ("hi .", "m@0", [("angry", 0.9)], None),
        ("no !", "m@1", [("angry", 0.7)], None),
        ("lost", "m@1", None, "too long"),
    ]
    ddl = "text string, model string, top3 array<struct<label: string, confidence: float>>, error string"
    scores = spark.createDataFrame(answers, ddl).withColumn("text_hash", text_hash(F.col("text")))
    outcome = weak_labels_of_turns(dialogues, scores.select(*WEAK_SCORES.columns), "m@1")
    rows = outcome.rows.orderBy("dialogue_id", "turn").collect()
    assert [(row.dialogue_id, row.turn, row.label, round(row.confidence, 4)) for row in rows] == [
        ("a-0", 0, "caring", 0.5),
        ("a-0", 1, "angry", 0.7),
        ("b-0", 0, "caring", 0.5),
    ]
    assert outcome.dropped is not None
    assert [(row.id, row.reason) for row in outcome.dropped.collect()] == [("b-0/1", "model_failed")]


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
    outcome = choose_emotional(
        dialogues.repartition(3),
        labels.repartition(4),
        ChoiceRules(top_n=2, dialogue_confidence="max", not_emotions=()),
    )
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


def test_worth_without_the_parts_that_are_said_is_emotion_times_certainty(spark: SparkSession) -> None:
    dialogues, labels = choosing_frames(spark)
    certainty = F.create_map(*(F.lit(part) for pair in {"a-0": 0.9, "b-0": 0.2, "c-0": 0.8}.items() for part in pair))
    certain = dialogues.withColumn("certainty", certainty[F.col("dialogue_id")])
    named = labels.withColumn("label", F.lit("sad"))
    weights = WorthWeights(emotion=1, certainty=1, content=0, exchange=0, variety=0)
    outcome = choose_emotional(certain, named, ChoiceRules(choice="worth", worth=weights))
    rows = sorted(outcome.rows.collect(), key=lambda row: row["rank"])
    assert [(row["dialogue_id"], round(row["confidence"], 4)) for row in rows] == [
        ("a-0", 0.45),
        ("c-0", 0.4),
        ("b-0", 0.14),
        ("d-0", 0.0),
    ]
    assert (rows[0]["emotion"], rows[0]["certainty"]) == pytest.approx((0.5, 0.9))


TALKS = {
    "full": ["Your brother sold the farm without a word .", "Because nobody in this family listens to him !"],
    "short": ["When ?", "Tonight , now ."],
    "apart": ["Your brother sold the farm without a word .", "The harbour master closed every gate at noon ."],
}


def talks(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    dialogues = [(name, "film", [(text,) for text in texts], 0.9) for name, texts in TALKS.items()]
    columns = "dialogue_id string, movie_id string, turns array<struct<text: string>>, certainty float"
    labels = [(name, turn, "sad", 0.8 if name != "short" else 0.95) for name in TALKS for turn in range(2)]
    frame = spark.createDataFrame(labels, "dialogue_id string, turn int, label string, confidence float")
    return spark.createDataFrame(dialogues, columns), frame


@pytest.fixture(scope="module")
def by_worth(spark: SparkSession) -> DataFrame:
    """The talks chosen by worth with the default weights."""
    outcome = choose_emotional(*talks(spark), ChoiceRules(choice="worth"), words("function_words"))
    assert outcome.rows.schema.simpleString() == INITIAL.schema.simpleString()
    return computed(outcome.rows)


def in_order(scored: DataFrame, *weights: dict[str, float]) -> list[list[str]]:
    """Return the dialogues in the order of their scores, for each of several weights."""
    scores = [score_of("worth", WorthWeights(**one).model_dump()) for one in weights]
    rows = scored.select("dialogue_id", F.array(*scores).alias("scores")).collect()
    found = []
    for place in range(len(weights)):
        ordered = sorted(rows, key=lambda row: (-row["scores"][place], row["dialogue_id"]))
        found.append([row["dialogue_id"] for row in ordered])
    return found


def test_worth_ranks_by_what_is_said_with_the_weights_given(by_worth: DataFrame) -> None:
    rows = sorted(by_worth.collect(), key=lambda row: row["rank"])
    assert [row["dialogue_id"] for row in rows] == ["full", "apart", "short"]
    said_nothing = {"content": 0, "exchange": 0, "variety": 0}
    assert in_order(by_worth, {}, said_nothing, {"exchange": 0}) == [
        ["full", "apart", "short"],
        ["short", "apart", "full"],
        ["apart", "full", "short"],
    ]
    (short,) = [row for row in rows if row["dialogue_id"] == "short"]
    assert (short["content"], short["exchange"], short["formulas"]) == (0.0, 0.5, 1.0)


THRESHOLDS = {"sad": 0.7, "proud": None, "questioning": 0.5}


def thresholds(spark: SparkSession, model: str = "weak@1") -> DataFrame:
    rows = [(model, label, least) for label, least in THRESHOLDS.items()]
    return spark.createDataFrame(rows, "model string, label string, threshold float")


def test_a_turn_counts_by_its_accepted_label(spark: SparkSession) -> None:
    turns = {
        "emotions": [("sad", 0.9), ("sad", 0.7)],
        "one": [("sad", 0.75), ("questioning", 0.6)],
        "unsure": [("sad", 0.69), ("proud", 0.99), ("questioning", 0.4), ("sad", None)],
        "questions": [("questioning", 0.9), ("questioning", 0.5)],
    }
    rows = [(name, "weak@1", *label) for name, labels in turns.items() for label in labels]
    labels = spark.createDataFrame(rows, "dialogue_id string, model string, label string, confidence float")
    found = accepted_share(labels, thresholds(spark), ("neutral", "questioning"))
    assert {row["dialogue_id"]: row["accepted"] for row in found.collect()} == {
        "emotions": 1.0,
        "one": 0.75,
        "unsure": 0.1,
        "questions": 0.5,
    }
    assert accepted_share(labels, thresholds(spark, "weak@2"), ()).isEmpty()


def test_accepted_emotions_come_first_and_unknown_ones_change_nothing(spark: SparkSession, by_worth: DataFrame) -> None:
    dialogues, labels = talks(spark)
    sure = {"full": 0.72, "apart": 0.69, "short": 0.95}
    confidence = F.create_map(*(F.lit(part) for pair in sure.items() for part in pair))[F.col("dialogue_id")]
    weak = labels.withColumn("model", F.lit("weak@1")).withColumn("confidence", confidence.cast("float"))
    rules = ChoiceRules(choice="worth", worth=WorthWeights(exchange=0, content=0.1, emotion=0))
    chosen = computed(
        choose_emotional(dialogues, weak, rules, words("function_words"), thresholds=thresholds(spark)).rows
    )
    rows = sorted(chosen.collect(), key=lambda row: row["rank"])
    assert [(row["dialogue_id"], row["accepted"]) for row in rows] == [
        ("full", 1.0),
        ("apart", pytest.approx(0.1)),
        ("short", 1.0),
    ]
    apart_first = ["apart", "full", "short"]
    weights = {"exchange": 0, "content": 0.1}
    assert in_order(chosen, {**weights, "emotion": 0, "accepted": 0}) == [apart_first]
    other = computed(scored_by(rules, dialogues, weak, words("function_words"), thresholds(spark, "weak@2")))
    for unknown in (other, by_worth):
        assert {row["accepted"] for row in unknown.collect()} == {None}
        assert in_order(unknown, {**weights, "emotion": 0}) == [apart_first]


def test_a_share_of_the_turns_bounds_the_choice(spark: SparkSession) -> None:
    rows = [(9_000, 3), (8_000, 2), (8_000, 4), (5_000, 11)]
    sizes = sizes_by_score(spark.createDataFrame(rows, "score bigint, size int"))
    assert sizes == [(9_000, 1, 3), (8_000, 2, 6), (5_000, 1, 11)]
    shares = (0.1, 0.15, 0.3, 0.45, 0.5, 0.99, 1.0)
    assert [places_for(sizes, share) for share in shares] == [1, 1, 2, 3, 3, 3, 4]
    assert places_for([], 0.5) == 0
    outcome = choose_emotional(*talks(spark), ChoiceRules(choice="worth", top_share=0.5), words("function_words"))
    assert [row["dialogue_id"] for row in outcome.rows.collect()] == ["full"]


def test_the_curve_says_what_each_size_of_the_choice_has(spark: SparkSession) -> None:
    rules = ChoiceRules(choice="worth")
    dialogues, labels = talks(spark)
    scored = scored_by(rules, dialogues, labels, words("function_words"))
    small, whole = choice_curve(scored, rules, computed, (0.34, 1.0))
    assert (small["dialogues"], small["films"], small["turns"], small["short"]) == (1, 1, 2.0, 1.0)
    assert small["tokens"] == pytest.approx(9.0)
    assert small["faults"] == pytest.approx(0.1)
    assert whole["dialogues"] == 3
    assert whole["tokens"] == pytest.approx(7.0, abs=0.2)
