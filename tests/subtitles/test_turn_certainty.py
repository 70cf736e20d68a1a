"""How certain each decision between two sentences is, and what a turn makes of it."""

import math

import numpy as np
import pytest

from conf.errors import InputError
from conf.settings import load_settings
from etl.subtitles.borders import Borders
from etl.subtitles.settings import TurnCertainty
from etl.subtitles.turn_marks import NEW_TURN, SAME_TURN, UNMARKED
from etl.subtitles.turn_sentences import Sentences
from etl.subtitles.turns import turn_lists
from tests.subtitles.marked_files import marks_file

RATES = TurnCertainty(mark=0.9, carried=0.8, model=(-1.0, 2.0))


def by_model(distance: float) -> float:
    return 1 / (1 + math.exp(1 - 2 * distance))


# the sentences (text, block, start, end), the mark of another upload and the score before the second of them, marks
# count, the certainty of the decision
CASES = {
    "a dash": ([("Hi .", 1), ("- Who is it ?", 1)], UNMARKED, 2.0, True, 0.9, "mark"),
    "a dash, but marks are off": ([("Hi .", 1), ("- Who is it ?", 1)], UNMARKED, 2.0, False, by_model(2.0), "model"),
    "the own mark goes first": ([("Hi .", 1), ("- Who is it ?", 1)], SAME_TURN, 2.0, True, 0.9, "mark"),
    "another upload": ([("Hi .", 1), ("Who is it ?", 2)], NEW_TURN, 2.0, True, 0.8, "carried"),
    "the model, in one block": ([("Hi .", 1), ("Who is it ?", 1)], UNMARKED, 2.0, True, by_model(2.0), "model"),
    "the model, going on": ([("Hi .", 1), ("Who is it ?", 1)], UNMARKED, -2.0, True, by_model(2.0), "model"),
    "the model, two blocks": ([("Hi .", 1), ("Who is it ?", 2)], UNMARKED, 2.0, True, by_model(2.0), "model"),
    "a silence": ([("Hi .", 1, 0, 900), ("Who is it ?", 2, 5_901, 6_000)], UNMARKED, 2.0, True, 1.0, "silence"),
    "a mark after a silence": ([("Hi .", 1, 0, 9), ("Who ?", 2, 6_000, 7_000)], NEW_TURN, 2.0, True, 1.0, "carried"),
    "no silence": ([("Hi .", 1, 0, 900), ("So ?", 2, 5_900, 6_000)], UNMARKED, 2.0, True, by_model(2.0), "model"),
    "nothing to decide": ([("...", 1), ("Who is it ?", 2)], UNMARKED, 2.0, True, 1.0, ""),
    "a dash that opens a block of several": (
        [("Hi .", 1), ("- Who ?", 2), ("- Me .", 2)],
        UNMARKED,
        0.3,
        True,
        by_model(0.5),
        "model",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_decides_says_how_certain_it_is(case: tuple) -> None:
    rows, carried, score, marks, expected, source = case
    sentences = Sentences.of(marks_file(*rows))
    scores = np.zeros(len(rows))
    others = np.full(len(rows), UNMARKED)
    scores[1] = score
    others[1] = carried
    borders = Borders.of(sentences, scores, others if marks else None, explicit_marks=marks, silence_ends_turn_ms=5_000)
    found = borders.certainty(RATES)
    assert found[0] == 1.0
    assert found[1] == pytest.approx(expected)
    assert borders.sources[:2].tolist() == ["start", source]


def test_a_turn_is_right_if_the_decisions_in_it_and_at_its_end_are() -> None:
    sentences = Sentences.of(marks_file(*((text, 1) for text in ("One .", "Two .", "", "Three .", "Four ."))))
    scores = np.array([0.0, -1.0, 1.0, 1.0, -1.0])
    certainty = np.array([1.0, 0.5, 0.8, 0.9, 0.25])
    turns, certainties, borders, opening, speakers = turn_lists(Borders.of(sentences, scores), certainty)
    assert [turn["text"] for turn in turns.to_pylist()[0]] == ["One . Two .", "Three . Four ."]
    assert certainties.to_pylist()[0] == pytest.approx([0.5 * 0.8, 0.9 * 0.25])
    assert borders.to_pylist() == [["start", "model"]]
    assert opening.to_pylist()[0] == pytest.approx([1.0, 0.8])
    assert speakers.to_pylist() == [[None, None]]


def test_a_turn_has_the_name_of_its_label() -> None:
    texts = ["Ana :", "Come in .", "Sit down .", "Bo : No .", "Ana : Why ?", "Bo : Because .", "Note : it was cold ."]
    sentences = Sentences.of(marks_file(*((text, place) for place, text in enumerate(texts))))
    turns, _, borders, _, speakers = turn_lists(Borders.of(sentences, np.full(7, 1.0)), np.ones(7))
    assert [turn["sentence_first"] for turn in turns.to_pylist()[0]] == [0, 2, 3, 4, 5, 6]
    assert speakers.to_pylist() == [["ANA", None, "BO", "ANA", "BO", None]]
    assert borders.to_pylist()[0][2:5] == ["mark"] * 3


@pytest.mark.parametrize("given", ["mark=0", "carried=1.1", "model=[1]", "model=[1,2,3]"])
def test_rates_are_probabilities_and_pairs_of_numbers(given: str) -> None:
    with pytest.raises(InputError, match=r"subtitles\.certainty"):
        load_settings("local", [], [f"subtitles.certainty.{given}"])
