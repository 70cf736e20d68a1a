"""What is left of a dialogue when turns are removed: the turns before, or each run of turns."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from etl.pipeline.outcome import Outcome
from etl.pipeline.spark_api import cached
from etl.subtitles.cleaning_words import cleaning_words
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.tables import DIALOGUES
from tests.frames import outcome_computed
from tests.subtitles.cleaned import clean_dialogues
from tests.subtitles.counts import count_turns

ADVERT = "Subtitles : Ana Roca"
Line = tuple[str, int, int]


def lines(*texts: str) -> list[Line]:
    """Return turns one second apart."""
    return [(text, i * 1000, i * 1000 + 900) for i, text in enumerate(texts)]


SILENCE = [
    ("Who is there ?", 0, 1000),
    ("It is me .", 1500, 2000),
    ("[ DOOR SLAMS ]", 5000, 6000),
    ("Come in .", 9000, 9500),
    ("The door sticks .", 9900, 11000),
]
TALKS = {
    "advert": lines("Who is there ?", "It is me .", ADVERT, "Come in .", "The door sticks .", "Push it ."),
    "adverts": lines("Who is there ?", ADVERT, "Come in .", "The door sticks .", ADVERT, "Push it ."),
    "end": lines(ADVERT, "The End"),
    "silence": SILENCE,
    "sound": [*SILENCE[:3], ("Come in .", 6900, 7500), ("The door sticks .", 7900, 9000)],
}
OFF = ("exact_duplicates", "near_duplicates", "corpus_duplicates", "drop_silent_films", "drop_wrong_years")


def cleaned(spark: SparkSession, talks: dict[str, list[Line]], **rules: object) -> Outcome:
    """Clean dialogues, one a film, that begin with the film's sentence 7; their certainties name the turns."""
    rows = []
    for film, turns in talks.items():
        placed = [(text, start, end, 7 + i, 7 + i) for i, (text, start, end) in enumerate(turns)]
        certainties = [round(0.01 * i, 2) for i in range(len(turns))]
        about = (f"{film}-7", f"xml/{film}.xml", film, film, "v2018", "en", 2001, ["Drama"])
        rows.append((*about, placed, certainties))
    dialogues = spark.createDataFrame(rows, StructType(DIALOGUES.schema.fields[:10]))
    given = {"preset": "trusted", "min_certainty": None, **dict.fromkeys(OFF, False), **rules}
    outcome = outcome_computed(clean_dialogues(dialogues, CleaningSettings(**given), cleaning_words(), 5.0, cached))
    assert outcome.dropped is not None
    gone = sum(row["units"] for row in outcome.dropped.collect())
    assert count_turns(outcome.rows) + gone == sum(map(len, talks.values()))
    return outcome


def kept(outcome: Outcome, film: str) -> dict[str, list[str]]:
    rows = outcome.rows.where(f"movie_id = '{film}'").collect()
    return {row["dialogue_id"]: [turn["text"] for turn in row["turns"]] for row in rows}


def ledger(outcome: Outcome, film: str) -> dict[tuple[str, str], tuple[str, int]]:
    assert outcome.dropped is not None
    rows = outcome.dropped.where(f"id LIKE '{film}-%'").collect()
    return {(row["unit"], row["id"]): (row["reason"], row["units"]) for row in rows}


@pytest.fixture(scope="module")
def cut(spark: SparkSession) -> Outcome:
    """The talks, cleaned by the preset."""
    return cleaned(spark, TALKS)


def test_a_removed_turn_parts_two_dialogues(cut: Outcome) -> None:
    assert kept(cut, "advert") == {
        "advert-7": ["Who is there ?", "It is me ."],
        "advert-10": ["Come in .", "The door sticks .", "Push it ."],
    }
    assert ledger(cut, "advert") == {("turn", "advert-7/2"): ("credit", 1)}
    (later,) = cut.rows.filter("dialogue_id = 'advert-10'").collect()
    assert later["certainties"] == pytest.approx([0.03, 0.04, 0.05])
    assert later["turns"][0]["start_ms"] == 3000


def test_a_run_of_one_turn_is_no_dialogue(cut: Outcome) -> None:
    assert kept(cut, "adverts") == {"adverts-9": ["Come in .", "The door sticks ."]}
    assert ledger(cut, "adverts") == {
        ("turn", "adverts-7/1"): ("credit", 1),
        ("turn", "adverts-7/4"): ("credit", 1),
        ("dialogue", "adverts-7"): ("one_turn_left", 1),
        ("dialogue", "adverts-12"): ("one_turn_left", 1),
    }


def test_a_dialogue_of_removed_turns_alone_is_one_row_of_the_ledger(cut: Outcome) -> None:
    assert kept(cut, "end") == {}
    assert ledger(cut, "end")[("dialogue", "end-7")] == ("no_turns_left", 0)


def test_the_turns_after_a_removed_one_go_as_the_paper_says(spark: SparkSession) -> None:
    outcome = cleaned(spark, {"f": TALKS["advert"][:5]}, keep_after_removed=False)
    assert kept(outcome, "f") == {"f-7": ["Who is there ?", "It is me ."]}
    assert ledger(outcome, "f")[("turn", "f-7/4")] == ("after_removed_turn", 1)


def test_a_frequent_turn_parts_two_dialogues_and_a_sound_may_join_over_a_silence(spark: SparkSession) -> None:
    talks = {
        "f": lines(
            "What was it ?", "Never .", "Climb up .", "Never .", "Pull it .", "Harder .", "Never .", "Well then ."
        ),
        "silence": SILENCE,
    }
    outcome = cleaned(spark, talks, max_turn_frequency=1, cues_bridge_silences=True)
    assert kept(outcome, "f") == {"f-7": ["What was it ?", "Never .", "Climb up ."], "f-11": ["Pull it .", "Harder ."]}
    assert ledger(outcome, "f") == {
        ("turn", "f-7/3"): ("frequent_turn", 1),
        ("turn", "f-7/6"): ("frequent_turn", 1),
        ("dialogue", "f-14"): ("one_turn_left", 1),
    }
    assert list(kept(outcome, "silence")) == ["silence-7"]


def test_a_sound_joins_no_speech_over_a_silence(cut: Outcome) -> None:
    assert kept(cut, "silence") == {
        "silence-7": ["Who is there ?", "It is me ."],
        "silence-10": ["Come in .", "The door sticks ."],
    }
    assert ledger(cut, "silence") == {("turn", "silence-7/2"): ("nothing_said", 1)}
    assert list(kept(cut, "sound")) == ["sound-7"]
