"""Runs of turns whose borders are right with a given probability."""

import math
from itertools import combinations, pairwise
from random import Random

import pytest
from pyspark.sql import SparkSession

from etl.common.dialogue_content import Said, span_worth
from etl.pipeline.spark_api import cached
from etl.subtitles.certain_spans import worthiest_spans
from etl.subtitles.cleaning_words import cleaning_words
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.tables import DIALOGUES
from tests.subtitles.cleaned import clean_dialogues

WORDS = frozenset(cleaning_words().function_words)
APART = dict.fromkeys(
    ("exact_duplicates", "near_duplicates", "corpus_duplicates", "drop_silent_films", "drop_wrong_years"), False
)
"""No rule that compares dialogues or films."""
TALK = (
    "Your brother sold the farm without a word to anybody .",
    "Because nobody in this family ever listens to him !",
    "He gambled the family money away , and mother cried all night .",
    "What did the lawyer say about the contract ?",
    "The contract is void , the judge never signed it .",
    "Then bring my brother home before winter .",
)
# certainties of the turns, of the borders before them, the probability asked, places that stay, the runs
CASES = {
    "all are right": ([0.99, 0.99, 1.0], [1.0, 0.99, 0.99], 0.9, None, [(0, 3, 0.9801)]),
    "the border before a run counts": ([0.5, 1.0, 1.0], [1.0, 0.5, 1.0], 0.6, None, []),
    "the border after a run counts": ([1.0, 0.5, 1.0], [1.0, 1.0, 0.5], 0.6, None, []),
    "two runs of one dialogue": (
        [0.95, 0.95, 0.4, 1.0, 1.0],
        [1.0, 0.99, 0.97, 0.9, 0.99],
        0.8,
        None,
        [(0, 2, 0.9025), (3, 2, 0.9)],
    ),
    "a single turn is no run": ([1.0, 0.1, 1.0], [1.0, 1.0, 1.0], 0.9, None, []),
    "a border of a turn that went alone": ([0.9, 0.9, 0.9], [1, 1, 1], 0.75, [0, 2], []),
    "no turn": ([], [], 0.5, None, []),
    "the probability itself is enough": ([0.8, 1.0], [1.0, 1.0], 0.8, None, [(0, 2, 0.8)]),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_runs_are_those_whose_borders_are_right(case: tuple) -> None:
    certainties, opening, least, places, expected = case
    texts = [TALK[place] for place in (range(len(certainties)) if places is None else places)]
    found = worthiest_spans(texts, certainties, opening, least, WORDS, places=places)
    assert found == [(first, size, pytest.approx(probability)) for first, size, probability in expected]


@pytest.mark.parametrize("seed", range(60))
def test_no_choice_of_runs_is_worth_more(seed: int) -> None:
    random = Random(seed)
    least = random.choice([0.3, 0.5, 0.8])
    turns = [(random.choice([0.3, 0.6, 0.9, 1.0]), random.choice([0.5, 0.8, 1.0])) for _ in range(random.randint(0, 6))]
    texts = [random.choice((*TALK, "Hello .", "Where ?", "Yes , sir .")) for _ in turns]
    certainties = [certain for certain, _ in turns]
    opening = [before for _, before in turns]

    def probability(first: int, last: int) -> float:
        return round(opening[first] * math.prod(certainties[first:last]), 4)

    found = worthiest_spans(texts, certainties, opening, least, WORDS)
    said = [Said.of(text, WORDS) for text in texts]
    right = {
        (first, last): span_worth(said[first:last], probability(first, last)) ** 2
        for first, last in combinations(range(len(turns) + 1), 2)
        if last - first >= 2 and probability(first, last) >= least
    }
    most = 0.0
    for chosen in range(len(right) + 1):
        for runs in combinations(sorted(right), chosen):
            apart = all(a[1] <= b[0] for a, b in pairwise(runs))
            most = max(most, sum(right[run] for run in runs)) if apart else most
    assert sum(right[first, first + size] for first, size, _ in found) == pytest.approx(most)


def test_spans_become_dialogues_and_the_rest_is_in_the_ledger(spark: SparkSession) -> None:
    texts = [*TALK[:4], "( door )", *TALK[4:]]
    turns = [(text, 1_000 * n, 1_000 * n + 900, n, n) for n, text in enumerate(texts)]
    certainties = [0.99, 0.95, 0.3, 0.4, 1.0, 0.95, 0.99]
    before = [1.0, 0.99, 0.97, 0.5, 0.97, 1.0, 0.95]
    borders = ["silence", *["mark"] * 3, "model", "carried", "model"]
    speakers = ["ANA", *[None] * 6]
    row = ("9-40", "9.xml", "9", "77", "v2018", "en", 1999, ["Drama"], turns, certainties, borders, before, speakers, 1)
    dialogues = spark.createDataFrame([row], DIALOGUES.schema).drop("work_version")
    rules = CleaningSettings(min_certainty=0.8, **APART)
    outcome = clean_dialogues(dialogues, rules, cleaning_words(), persist=cached)
    rows = sorted(outcome.rows.collect(), key=lambda one: one["dialogue_id"])
    assert [one["dialogue_id"] for one in rows] == ["9-0", "9-5"]
    assert [one["raw_dialogue_id"] for one in rows] == ["9-40", "9-40"]
    assert [[turn["text"] for turn in one["turns"]] for one in rows] == [texts[:2], texts[5:]]
    assert rows[0]["speakers"] == ["ANA", None]
    assert rows[1]["borders"] == ["carried", "model"]
    assert [one["certainty"] for one in rows] == pytest.approx([0.9405, 0.9405])
    assert outcome.dropped is not None
    dropped = {one["id"]: one["reason"] for one in outcome.dropped.collect()}
    assert dropped == {"9-40/2": "uncertain_turn", "9-40/3": "uncertain_turn", "9-40/4": "nothing_said"}


WORTHY = ["Hello .", "Hello , Anna .", *TALK[:3], "Now ."]


@pytest.mark.parametrize(
    ("certainties", "expected"),
    [
        ([0.9] * 6, [(2, 3, 0.6561)]),
        ([0.9, 0.9, 0.9, 0.2, 0.9, 0.9], [(0, 3, 0.6561)]),
        ([0.9, 0.9, 0.9, 0.9, 0.4, 0.9], [(2, 2, 0.729)]),
        ([0.9, 0.9, 0.4, 0.9, 0.9, 0.9], [(3, 2, 0.729)]),
    ],
)
def test_the_spans_that_are_worth_most_say_something(certainties: list[float], expected: list[tuple]) -> None:
    found = worthiest_spans(WORTHY, certainties, [0.9] * 6, 0.5, WORDS)
    assert found == [(first, size, pytest.approx(probability, abs=1e-4)) for first, size, probability in expected]


def test_a_worthy_span_reaches_over_a_turn_that_went_alone() -> None:
    found = worthiest_spans([TALK[0], TALK[2]], [0.9] * 5, [1.0] * 5, 0.5, WORDS, places=[2, 4])
    assert found == [(0, 2, pytest.approx(0.729))]
    assert worthiest_spans([], [], [], 0.5, WORDS) == []


def test_cleaning_cuts_out_the_spans_that_are_worth_most(spark: SparkSession) -> None:
    turns = [(text, 1_000 * n, 1_000 * n + 900, n, n) for n, text in enumerate(WORTHY)]
    lists = ([0.9] * 6, ["mark"] * 6, [0.9] * 6, [None] * 6)
    row = ("9-0", "9.xml", "9", "77", "v2018", "en", 1999, ["Drama"], turns, *lists, 1)
    dialogues = spark.createDataFrame([row], DIALOGUES.schema).drop("work_version")
    rules = CleaningSettings(preset="trusted", min_certainty=0.5, **APART)
    outcome = clean_dialogues(dialogues, rules, cleaning_words(), persist=cached)
    (one,) = outcome.rows.collect()
    assert one["dialogue_id"] == "9-2"
    assert [turn["text"] for turn in one["turns"]] == WORTHY[2:5]
    assert one["certainty"] == pytest.approx(0.6561, abs=1e-4)
    assert outcome.dropped is not None
    details = {row["id"]: row["detail"] for row in outcome.dropped.collect() if row["reason"] == "uncertain_turn"}
    assert set(details) == {"9-0/0", "9-0/1", "9-0/5"}
    assert details["9-0/5"] == "in none of the spans that are worth most with a certainty of 0.5 or more: Now ."


def test_without_min_certainty_a_dialogue_says_how_certain_it_is(spark: SparkSession) -> None:
    turns = [("Come in , please .", 0, 900, 3, 3), ("Thank you .", 950, 1_800, 4, 4)]
    row = ("9-3", "9.xml", "9", "77", "v2018", "en", 1999, [], turns, [0.9, 0.5], ["mark"] * 2, [0.8, 0.9], [None] * 2)
    dialogues = spark.createDataFrame([(*row, 1)], DIALOGUES.schema).drop("work_version")
    outcome = clean_dialogues(dialogues, CleaningSettings(**APART), cleaning_words(), persist=cached)
    (found,) = outcome.rows.collect()
    assert found["certainty"] == pytest.approx(0.36)
    assert found["raw_dialogue_id"] == found["dialogue_id"] == "9-3"
