"""Histories with their replies: which pairs there are, and that nothing held out is learnt from."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from etl.common.labelled_files import local_rows
from etl.common.splits import split_by_film
from etl.replies.conversations import (
    COLUMNS,
    CONVERSATIONS,
    empathetic_conversations,
    subtitle_conversations,
)
from etl.replies.pairs import reply_examples
from etl.replies.tables import EXAMPLES

RULES = {"test_share": 0.1, "validation_share": 0.1, "shared_words": 4, "near_jaccard": None, "max_tokens": 100}


def talk(name: str, *texts: str, source: str = "os", origin: str | None = None) -> tuple:
    return source, name, origin or f"conversation {name}", [(text, None) for text in texts]


def talks_of(spark: SparkSession, *talks: tuple) -> DataFrame:
    return spark.createDataFrame(list(talks), CONVERSATIONS)


@pytest.fixture(scope="module")
def names(spark: SparkSession) -> dict[str, list[str]]:
    """Names of conversations by the split that they go to."""
    given = [talk(f"t{number}", "how ?", f"answer {number} is mine alone") for number in range(200)]
    found: dict[str, list[str]] = {"train": [], "validation": [], "test": []}
    for row in reply_examples(talks_of(spark, *given), **RULES).rows.collect():
        found[row.split].append(row.example_id.split("/")[1])
    return {split: sorted(own) for split, own in found.items()}


def test_each_turn_but_the_first_replies_to_those_before_it(spark: SparkSession) -> None:
    clean = spark.createDataFrame(
        [("a", "7", [("One .",), ("Two .",), ("Three .",)]), ("b", "8", [("Gone .",), ("To EDOS .",)])],
        "dialogue_id string, movie_id string, turns array<struct<text: string>>",
    )
    edos = spark.createDataFrame(
        [("b", "8", [("Gone .", "sad", 0.9), ("To EDOS .", "agreeing", 0.8)])],
        "dialogue_id string, movie_id string, turns array<struct<text: string, label: string, confidence: double>>",
    )
    said = [
        dict(zip(COLUMNS, row, strict=True))
        for row in [
            ("h", "situation", "Not said", "sad"),
            ("h", "utterance", "It  rained ", " Sad "),
            ("h", "Utterance", "Did it ?", "hangry"),
            ("k", "utterance", "Alone .", "lonely"),
        ]
    ]
    talks = subtitle_conversations(clean, edos).unionByName(empathetic_conversations(spark, said, ("sad", "lonely")))
    outcome = reply_examples(talks, **RULES)
    found = {row.example_id: (row.context, row.reply, row.intent) for row in outcome.rows.collect()}
    assert found == {
        "os/a/1": (["One."], "Two.", None),
        "os/a/2": (["One.", "Two."], "Three.", None),
        "edos/b/1": (["Gone."], "To EDOS.", "agreeing"),
        "empathetic/h/1": (["It rained"], "Did it?", None),
    }
    assert outcome.rows_in == 4
    assert set(EXAMPLES.columns) <= set(outcome.rows.columns)
    films = {row.dialogue_id: row.split for row in split_by_film(clean).collect()}
    assert {row.example_id[3:4]: row.split for row in outcome.rows.where("source = 'os'").collect()} == {
        "a": films["a"]
    }


def test_what_is_too_long_to_be_read_is_not_kept_and_what_is_empty_is_noted(spark: SparkSession) -> None:
    turns = [f"turn {number}" for number in range(9)]
    given = talks_of(spark, talk("long", *turns), talk("holes", " ", "First .", "", "Second ."))
    outcome = reply_examples(given, **{**RULES, "max_tokens": 8})
    found = {row.example_id: row.context for row in outcome.rows.collect()}
    assert found["os/long/8"] == turns[4:8]
    assert found["os/long/3"] == turns[:3]
    assert found["os/holes/3"] == ["First ."]
    assert dropped(outcome) == {("os/holes/1", "no_history"), ("os/holes/2", "no_text")}
    assert outcome.rows_in == 11


def dropped(outcome) -> set[tuple[str, str]]:
    return {(row.id, row.reason) for row in outcome.dropped.collect()}


def test_what_is_held_out_is_not_learnt_from(spark: SparkSession, names: dict[str, list[str]]) -> None:
    train, test, valid = (names[split][0] for split in ("train", "test", "validation"))
    given = talks_of(
        spark,
        talk(test, "How are you ?", "I am fine .", "What a long day it was !", "Bye !"),
        talk(train, "how are you", "I am fine", "So what ?", "What a long day it was", "So ?", "Bye !"),
        talk(valid, "Bye .", "What a LONG day it was ..."),
    )
    outcome = reply_examples(given, **RULES)
    # A short reply counts with the turn before it, a long one wherever it is said.
    assert dropped(outcome) == {
        (f"os/{train}/1", "reply_is_held_out"),
        (f"os/{train}/3", "reply_is_held_out"),
        (f"os/{valid}/1", "reply_is_held_out"),
    }
    assert outcome.rows.count() == outcome.rows_in - 3 == 6


def test_a_dialogue_like_a_held_out_one_is_left_out_whole(spark: SparkSession, names: dict[str, list[str]]) -> None:
    train, other = names["train"][:2]
    test = names["test"][0]
    lines = ["we walked along the river until dark", "and then the whole town lost its light", "nobody was afraid"]
    given = talks_of(
        spark, talk(test, *lines), talk(train, *lines[:2], "nobody was sad", source="edos"), talk(other, "a b c d", "e")
    )
    outcome = reply_examples(given, **{**RULES, "near_jaccard": 0.6})
    assert dropped(outcome) == {(f"edos/{train}/{n}", "near_held_out") for n in (1, 2)}
    assert {row.detail for row in outcome.dropped.collect()} == {f"os/{test}"}


def test_the_rows_do_not_depend_on_partitions(spark: SparkSession) -> None:
    given = talks_of(spark, *(talk(f"t{n}", "how ?", f"answer {n % 9} is mine", f"and {n}") for n in range(60)))
    rules = {**RULES, "near_jaccard": 0.6}

    def rows(talks: DataFrame) -> Sequence[Row]:
        return sorted(reply_examples(talks, **rules).rows.select(EXAMPLES.columns).collect())

    assert rows(given.repartition(3)) == rows(given.coalesce(1))


@pytest.mark.slow
def test_the_real_conversations(spark: SparkSession, shared_data: Path) -> None:
    from conf.taxonomy import edos_labels

    said = local_rows([str(shared_data / "empathetic_dialogues")], COLUMNS, "edos.empathetic_dialogues").rows
    outcome = reply_examples(empathetic_conversations(spark, said, edos_labels()), **{**RULES, "shared_words": 6})
    splits = {row.split: row["count"] for row in outcome.rows.groupBy("split").count().collect()}
    assert outcome.rows_in == 107_247 - 24_856
    assert splits["train"] == pytest.approx(0.8 * outcome.rows_in, rel=0.03)
    assert splits["test"] == pytest.approx(0.1 * outcome.rows_in, rel=0.05)
    assert sum(splits.values()) + outcome.dropped.count() == outcome.rows_in
