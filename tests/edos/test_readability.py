"""Readability: f + 0.04 d over the vocabulary of all clean dialogues (EDOS A)."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from etl.edos.readability import Reading, band_of, correlations, readability_of_turns
from etl.edos.tables import READABILITY

DIALOGUES = {
    "easy": ["I know you .", "You know me .", "And I know that ."],
    "hard": ["Sesquipedalian ostriches gesticulate .", "Hm ?"],
    "no": ["No no no no", "No no no no"],
    "dear": ["Dear , dear ."],
    "void": [" "],
}
LABELS = [
    ("easy", 0, "sad", 0.95),
    ("easy", 2, "sad", 0.89996),
    ("hard", 0, "sad", 0.9),
    ("no", 1, "angry", 1.0),
    ("dear", 0, "angry", 0.5999),
    ("hard", 1, "neutral", 0.1),
    ("void", 0, "sad", 0.99),
]


@pytest.fixture(scope="module")
def frames(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    dialogues = [(name, [(turn,) for turn in turns]) for name, turns in DIALOGUES.items()]
    return (
        spark.createDataFrame(LABELS, "dialogue_id string, turn int, label string, confidence float").cache(),
        spark.createDataFrame(dialogues, "dialogue_id string, turns array<struct<text: string>>").cache(),
    )


def test_f_and_d_by_hand(frames: tuple[DataFrame, DataFrame]) -> None:
    outcome = readability_of_turns(*frames, (0.9, 0.6), Reading())
    assert {field.name for field in READABILITY.schema} <= set(outcome.rows.columns)
    rows = {(row["dialogue_id"], row["turn"]): row for row in outcome.rows.collect()}
    words = [word.lower() for turns in DIALOGUES.values() for turn in turns for word in turn.split()]
    easy = rows[("easy", 0)]
    count_sum = sum(words.count(word) for word in ("i", "know", "you", "."))
    f = count_sum / len(words) / (87 + 4)
    d = 1.0
    assert (easy["count_sum"], easy["corpus_tokens"], easy["tokens"]) == (count_sum, len(words), 4)
    assert easy["f"] == pytest.approx(f)
    assert easy["d"] == d
    assert easy["readability"] == pytest.approx(f + 0.04 * d, abs=1e-6)
    whole = rows[("easy", 2)]
    assert (whole["tokens"], whole["distinct_tokens"]) == (13, 7)  # i know you . me and that
    assert rows[("no", 1)]["d"] == 1 / 8
    assert rows[("no", 1)]["readability"] < easy["readability"]


def test_bands_and_who_is_below(frames: tuple[DataFrame, DataFrame]) -> None:
    outcome = readability_of_turns(frames[0].repartition(3), frames[1], (0.6, 0.9), Reading())
    bands = {(row["dialogue_id"], row["turn"]): row["band"] for row in outcome.rows.collect()}
    assert bands == dict.fromkeys([("easy", 0), ("easy", 2), ("hard", 0), ("no", 1)], "0.9")
    assert outcome.dropped is not None
    left = {(row["id"], row["reason"], row["detail"]): row["units"] for row in outcome.dropped.collect()}
    assert left == {
        ("angry/below_bands", "below_bands", "bands from 0.6"): 1,
        ("neutral/below_bands", "below_bands", "bands from 0.6"): 1,
        ("sad/no_words", "no_words", "bands from 0.6"): 1,
    }
    assert sum(left.values()) + len(bands) == len(LABELS)


@pytest.mark.parametrize(
    ("confidence", "band"), [(1.0, "0.9"), (0.9, "0.9"), (0.89994, "0.8"), (0.59, None), (0.0, None)]
)
def test_confidences_are_rounded_before_the_threshold(spark: SparkSession, confidence: float, band: str | None) -> None:
    from pyspark.sql import functions as F

    row = spark.range(1).select(band_of(F.lit(confidence).cast("float"), (0.6, 0.9, 0.8)).alias("band")).first()
    assert row is not None
    assert row["band"] == band


def test_other_readings_leave_one_term_without_a_say(frames: tuple[DataFrame, DataFrame]) -> None:
    counts = correlations(readability_of_turns(*frames, (0.0,), Reading(frequencies="counts")).rows)
    percent = correlations(readability_of_turns(*frames, (0.0,), Reading(distinct="percent")).rows)
    assert counts[0] == pytest.approx(1, abs=0.02)
    assert percent[1] == pytest.approx(1, abs=0.02)
