"""How certain each decision between two sentences is, and what a turn makes of it."""

import math

import numpy as np
import pytest

from conf.errors import InputError
from conf.settings import load_settings
from conf.subtitle_settings import TurnCertainty
from etl.subtitles.turn_marks import NEW_TURN, SAME_TURN, UNMARKED
from etl.subtitles.turn_sentences import Sentences
from etl.subtitles.turns import Decisions, turn_lists
from tests.subtitles.test_turn_marks import marks_file

RATES = TurnCertainty(mark=0.9, carried=0.8, model=(-1.0, 2.0))


def by_model(distance: float) -> float:
    return 1 / (1 + math.exp(1 - 2 * distance))


# the sentences (text, block, start, end), the mark of another upload and the score before the second of them, marks
# count, the certainty of the decision
CASES = {
    "a dash": ([("Hi .", 1), ("- Who is it ?", 1)], UNMARKED, 2.0, True, 0.9),
    "a dash, but marks are off": ([("Hi .", 1), ("- Who is it ?", 1)], UNMARKED, 2.0, False, by_model(2.0)),
    "the own mark goes first": ([("Hi .", 1), ("- Who is it ?", 1)], SAME_TURN, 2.0, True, 0.9),
    "another upload": ([("Hi .", 1), ("Who is it ?", 2)], NEW_TURN, 2.0, True, 0.8),
    "the model, in one block": ([("Hi .", 1), ("Who is it ?", 1)], UNMARKED, 2.0, True, by_model(2.0)),
    "the model, going on": ([("Hi .", 1), ("Who is it ?", 1)], UNMARKED, -2.0, True, by_model(2.0)),
    "the model, two blocks": ([("Hi .", 1), ("Who is it ?", 2)], UNMARKED, 2.0, True, by_model(2.0)),
    "a silence": ([("Hi .", 1, 0, 900), ("Who is it ?", 2, 5_901, 6_000)], UNMARKED, 2.0, True, 1.0),
    "no silence": ([("Hi .", 1, 0, 900), ("Who is it ?", 2, 5_900, 6_000)], UNMARKED, 2.0, True, by_model(2.0)),
    "nothing to decide": ([("...", 1), ("Who is it ?", 2)], UNMARKED, 2.0, True, 1.0),
    "a dash that opens a block of several": (
        [("Hi .", 1), ("- Who ?", 2), ("- Me .", 2)],
        UNMARKED,
        0.3,
        True,
        by_model(0.5),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_decides_says_how_certain_it_is(case: tuple) -> None:
    rows, carried, score, marks, expected = case
    sentences = Sentences.of(marks_file(*rows))
    scores = np.zeros(len(rows))
    others = np.full(len(rows), UNMARKED)
    scores[1] = score
    others[1] = carried
    decisions = Decisions.of(sentences, scores, others, explicit_marks=marks)
    found = decisions.certainty(5_000, RATES)
    assert found[0] == 1.0
    assert found[1] == pytest.approx(expected)


def test_a_turn_is_right_if_the_decisions_in_it_and_at_its_end_are() -> None:
    sentences = Sentences.of(marks_file(*((text, 1) for text in ("One .", "Two .", "", "Three .", "Four ."))))
    starts = np.array([True, False, True, True, False])
    certainty = np.array([1.0, 0.5, 0.8, 0.9, 0.25])
    turns, certainties = turn_lists(sentences, starts, certainty)
    assert [turn["text"] for turn in turns.to_pylist()[0]] == ["One . Two .", "Three . Four ."]
    assert certainties.to_pylist()[0] == pytest.approx([0.5 * 0.8, 0.25])
    turns, certainties = turn_lists(sentences, np.ones(5, bool), np.ones(5))
    assert certainties.to_pylist() == [[1.0] * 4]


@pytest.mark.parametrize("given", ["mark=0", "carried=1.1", "model=[1]", "model=[1,2,3]"])
def test_rates_are_probabilities_and_pairs_of_numbers(given: str) -> None:
    with pytest.raises(InputError, match=r"subtitles\.certainty"):
        load_settings("local", [], [f"subtitles.certainty.{given}"])
