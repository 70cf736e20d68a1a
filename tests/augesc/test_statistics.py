"""Sizes, bigrams and typical words of sets of conversations, against computations of their own (AugESC 5)."""

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from etl.augesc.conversation_texts import instruction
from etl.augesc.measures import measured_texts, session_texts
from etl.augesc.sessions import read_sessions, usable_sessions
from etl.augesc.statistics import (
    bigram_growth,
    conversations_by_set,
    log_odds,
    most_typical,
    role_statistics,
    sampled,
    word_counts,
)
from etl.augesc.tables import BIGRAM_GROWTH, STATISTICS, TYPICAL_WORDS
from tests.stand_ins import StandIns

TASK = instruction()

SAID = "data_set string, session_id string, turns array<struct<role: string, text: string, tokens: int>>"
TALKS = {
    "esconv": ["covid and covid again|stay well", "the survey is long|the vaccine helps", "covid !|oh"],
    "ed": ["my dog ate my car keys|a dog does that", "the dog barks|which dog", "3 , 4|5"],
    "reddit": ["anxiety and panic|feel the panic", "I feel no joy|joy comes", "again and again and again|yes"],
}


@pytest.fixture(scope="module")
def said(spark: SparkSession) -> DataFrame:
    rows: list[tuple[str, str, list[tuple[str, str, int]]]] = []
    for name, talks in TALKS.items():
        for number, talk in enumerate(talks):
            lines = zip(("seeker", "supporter"), talk.split("|"), strict=True)
            rows.append((name, f"{name}-{number}", [(role, text, len(text.split())) for role, text in lines]))
    return spark.createDataFrame(rows, SAID).repartition(3).cache()


def words_of(name: str, role: int) -> list[list[str]]:
    texts = [talk.split("|")[role].lower().split() for talk in TALKS[name]]
    return [[word for word in text if any(map(str.isalpha, word))] for text in texts]


def test_table_2_by_hand(said: DataFrame) -> None:
    found = {(row.data_set, row.role, row.measure): row.value for row in role_statistics(said).collect()}
    assert found["esconv", "both", "sessions"] == 3
    assert found["esconv", "both", "session_length"] == pytest.approx((6 + 7 + 3) / 3)
    assert found["esconv", "both", "unique_words"] == 12
    assert (found["ed", "seeker", "utterances"], found["ed", "supporter", "utterances"]) == (3, 3)
    assert found["ed", "seeker", "utterance_length"] == pytest.approx((6 + 3 + 3) / 3)
    assert found["ed", "supporter", "utterances_per_session"] == 1
    assert found["reddit", "supporter", "unique_words"] == len({"feel", "the", "panic", "joy", "comes", "yes"})
    assert len(found) == 3 * (3 + 2 * 4)


def test_bigrams_grow_to_all_that_there_are(said: DataFrame) -> None:
    rows = bigram_growth(said, 3).collect()
    found = {(row.data_set, row.sessions): row.unique_bigrams for row in rows}
    for name in TALKS:
        every = {pair for role in (0, 1) for text in words_of(name, role) for pair in pairwise(text)}
        sizes = [found[name, size] for size in (1, 2, 3)]
        assert sizes == sorted(sizes)
        assert sizes[-1] == len(every)
    coarse = {(row.data_set, row.sessions): row.unique_bigrams for row in bigram_growth(said, 2).collect()}
    assert coarse == {key: found[key] for key in coarse}
    assert {size for _, size in coarse} == {2, 3}


def z_by_hand(counts: dict[str, Counter[str]], name: str, word: str, prior: float) -> float:
    every = sum(counts.values(), Counter())
    alpha = prior * every[word] / every.total()
    own = counts[name]
    other = every - own
    odds = [math.log((side[word] + alpha) / (side.total() + prior - side[word] - alpha)) for side in (own, other)]
    return (odds[0] - odds[1]) / math.sqrt(sum(1 / (side[word] + alpha) for side in (own, other)))


@pytest.mark.slow
def test_log_odds_agree_with_a_computation_of_their_own(said: DataFrame) -> None:
    prior = 20.0
    odds = log_odds(word_counts(said), prior)
    rows = {(row.data_set, row.role, row.word): row for row in odds.collect()}
    for place, role in enumerate(("seeker", "supporter")):
        counts = {name: Counter(word for text in words_of(name, place) for word in text) for name in TALKS}
        expected = {(name, role, word) for name in TALKS for word in counts[name]}
        assert {key for key in rows if key[1] == role} == expected
        for name, _, word in expected:
            assert rows[name, role, word].z == pytest.approx(z_by_hand(counts, name, word, prior), abs=1e-4)
            assert rows[name, role, word].number == counts[name][word]
    top = {(row.data_set, row.role): row.word for row in most_typical(odds, 1).collect()}
    assert top["esconv", "seeker"] == "covid"
    assert top["ed", "supporter"] == "dog"


def test_samples_are_part_of_larger_ones(said: DataFrame) -> None:
    two = {row.session_id for row in sampled(said, 2).collect()}
    one = {row.session_id for row in sampled(said.repartition(5), 1).collect()}
    assert len(two) == 6
    assert len(one) == 3
    assert one < two


@pytest.mark.slow
def test_views_show_the_papers_figures_beside_ours(stand_ins: StandIns, said: DataFrame) -> None:
    odds = most_typical(log_odds(word_counts(said), 20), 50)
    frames = {
        STATISTICS.name: role_statistics(said),
        BIGRAM_GROWTH.name: bigram_growth(said, 2),
        TYPICAL_WORDS.name: odds,
    }
    for table, frame in frames.items():
        stand_ins.give(table, frame)
    shown = stand_ins.ask
    table_2 = {(row.data_set, row.role, row.measure): row for row in shown("augesc_table_2")}
    assert table_2["ed", "seeker", "utterance_length"].asDict()["value"] == 4.0
    assert table_2["ed", "seeker", "utterance_length"].paper == 19.8
    assert table_2["total", "both", "sessions"].value is None
    assert [row.rank for row in shown("augesc_figure_4") if row.data_set == "ed" and row.role == "seeker"][:2] == [1, 2]
    assert len(shown("augesc_figure_5")) == 6


def test_figure_4_has_the_papers_words_before_a_run(stand_ins: StandIns) -> None:
    rows = stand_ins.ask("augesc_figure_4")
    assert len(rows) == 60
    assert (rows[0].data_set, rows[0].role, rows[0].word, rows[0].paper_word, rows[0].paper_z) == (
        "ed",
        "seeker",
        None,
        "car",
        10,
    )


@pytest.mark.slow
def test_real_sessions_are_as_long_as_table_2_says(spark: SparkSession, shared_data: Path) -> None:
    folder = shared_data / "esconv"
    files = [str(folder / name) for name in ("multiesc_valid.jsonl", "multiesc_test.jsonl", "ppdpp_valid.jsonl")]
    sessions = usable_sessions(read_sessions(spark, files, []), 60_000).rows
    turns = "turns array<struct<role: string, text: string, tokens: int>>"
    nothing = spark.createDataFrame([], f"conversation_id string, source string, {turns}")
    said = conversations_by_set(measured_texts(session_texts(sessions, TASK), TASK), nothing)
    found = {(row.role, row.measure): row.value for row in role_statistics(said).collect()}
    assert found["both", "sessions"] == 390
    # The paper: 543.7 tokens; 16.8 and 21.0 an utterance, where turns are not merged.
    assert found["both", "session_length"] == pytest.approx(543.7, rel=0.1)
