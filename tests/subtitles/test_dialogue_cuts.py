"""What is left of a dialogue when turns are removed: the turns before, or each run of turns."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from etl.pipeline.outcome import Outcome
from etl.pipeline.spark_api import cached
from etl.subtitles.cleaning import clean_dialogues
from etl.subtitles.cleaning_words import cleaning_words
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.tables import DIALOGUES
from tests.frames import outcome_computed
from tests.subtitles.counts import count_turns

ADVERT = "Subtitles : Ana Roca"
Line = tuple[str, int, int]


def lines(*texts: str) -> list[Line]:
    """Return turns one second apart."""
    return [(text, i * 1000, i * 1000 + 900) for i, text in enumerate(texts)]


def cleaned(spark: SparkSession, turns: list[Line], **rules: object) -> Outcome:
    """Clean one dialogue that begins with the film's sentence 7; its certainties name the turns."""
    placed = [(text, start, end, 7 + i, 7 + i) for i, (text, start, end) in enumerate(turns)]
    certainties = [round(0.01 * i, 2) for i in range(len(turns))]
    row = ("f-7", "xml/f.xml", "f", "film", "v2018", "en", 2001, ["Drama"], placed, certainties)
    dialogues = spark.createDataFrame([row], StructType(DIALOGUES.schema.fields[:10]))
    given = {"preset": "trusted", "min_certainty": None, **rules}
    outcome = outcome_computed(clean_dialogues(dialogues, CleaningSettings(**given), cleaning_words(), 5.0, cached))
    assert outcome.dropped is not None
    gone = sum(row["units"] for row in outcome.dropped.collect())
    assert count_turns(outcome.rows) + gone == len(turns)
    return outcome


def kept(outcome: Outcome) -> dict[str, list[str]]:
    return {row["dialogue_id"]: [turn["text"] for turn in row["turns"]] for row in outcome.rows.collect()}


def ledger(outcome: Outcome) -> dict[tuple[str, str], tuple[str, int]]:
    assert outcome.dropped is not None
    return {(row["unit"], row["id"]): (row["reason"], row["units"]) for row in outcome.dropped.collect()}


def test_a_removed_turn_parts_two_dialogues(spark: SparkSession) -> None:
    turns = lines("Who is there ?", "It is me .", ADVERT, "Come in .", "The door sticks .", "Push it .")
    outcome = cleaned(spark, turns)
    assert kept(outcome) == {
        "f-7": ["Who is there ?", "It is me ."],
        "f-10": ["Come in .", "The door sticks .", "Push it ."],
    }
    assert ledger(outcome) == {("turn", "f-7/2"): ("credit", 1)}
    (later,) = outcome.rows.filter("dialogue_id = 'f-10'").collect()
    assert later["certainties"] == pytest.approx([0.03, 0.04, 0.05])
    assert later["turns"][0]["start_ms"] == 3000


def test_a_run_of_one_turn_is_no_dialogue(spark: SparkSession) -> None:
    turns = lines("Who is there ?", ADVERT, "Come in .", "The door sticks .", ADVERT, "Push it .")
    outcome = cleaned(spark, turns)
    assert kept(outcome) == {"f-9": ["Come in .", "The door sticks ."]}
    assert ledger(outcome) == {
        ("turn", "f-7/1"): ("credit", 1),
        ("turn", "f-7/4"): ("credit", 1),
        ("dialogue", "f-7"): ("one_turn_left", 1),
        ("dialogue", "f-12"): ("one_turn_left", 1),
    }


def test_a_dialogue_of_removed_turns_alone_is_one_row_of_the_ledger(spark: SparkSession) -> None:
    outcome = cleaned(spark, lines(ADVERT, "The End"))
    assert kept(outcome) == {}
    assert ledger(outcome)[("dialogue", "f-7")] == ("no_turns_left", 0)


def test_the_turns_after_a_removed_one_go_as_the_paper_says(spark: SparkSession) -> None:
    turns = lines("Who is there ?", "It is me .", ADVERT, "Come in .", "The door sticks .")
    outcome = cleaned(spark, turns, keep_after_removed=False)
    assert kept(outcome) == {"f-7": ["Who is there ?", "It is me ."]}
    assert ledger(outcome)[("turn", "f-7/4")] == ("after_removed_turn", 1)


def test_a_frequent_turn_parts_two_dialogues_too(spark: SparkSession) -> None:
    turns = lines(
        "Who is there ?", "Never .", "Come in .", "Never .", "Push it .", "Harder .", "Never .", "Well then ."
    )
    outcome = cleaned(spark, turns, max_turn_frequency=1)
    assert kept(outcome) == {"f-7": ["Who is there ?", "Never .", "Come in ."], "f-11": ["Push it .", "Harder ."]}
    assert ledger(outcome) == {
        ("turn", "f-7/3"): ("frequent_turn", 1),
        ("turn", "f-7/6"): ("frequent_turn", 1),
        ("dialogue", "f-14"): ("one_turn_left", 1),
    }


def test_a_sound_joins_no_speech_over_a_silence(spark: SparkSession) -> None:
    turns = [
        ("Who is there ?", 0, 1000),
        ("It is me .", 1500, 2000),
        ("[ DOOR SLAMS ]", 5000, 6000),
        ("Come in .", 9000, 9500),
        ("The door sticks .", 9900, 11000),
    ]
    outcome = cleaned(spark, turns)
    assert kept(outcome) == {"f-7": ["Who is there ?", "It is me ."], "f-10": ["Come in .", "The door sticks ."]}
    assert ledger(outcome) == {("turn", "f-7/2"): ("nothing_said", 1)}
    joined = cleaned(spark, turns, cues_bridge_silences=True)
    assert list(kept(joined)) == ["f-7"]
    near = [*turns[:3], ("Come in .", 6900, 7500), ("The door sticks .", 7900, 9000)]
    assert list(kept(cleaned(spark, near))) == ["f-7"]
