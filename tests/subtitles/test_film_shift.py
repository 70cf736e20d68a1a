"""A film's marks correct the segmenter in the rest of the film."""

import math

import numpy as np
import pytest

from conf.subtitle_settings import TurnCertainty
from etl.subtitles.borders import Borders
from etl.subtitles.film_shift import FilmSpread, film_shifts
from etl.subtitles.turn_marks import UNMARKED
from etl.subtitles.turn_sentences import Sentences
from tests.subtitles.marked_files import marks_file, marks_files


def drawn(shift: float, pairs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return log-odds, and whether a turn opens where the film's odds are higher by a shift."""
    random = np.random.default_rng(seed)
    log_odds = random.normal(-0.6, 1.5, pairs)
    return log_odds, random.random(pairs) < 1 / (1 + np.exp(-(log_odds + shift)))


@pytest.mark.parametrize("shift", [-1.2, -0.4, 0.0, 0.7, 1.5])
def test_the_shift_of_a_film_with_many_marks_is_found(shift: float) -> None:
    log_odds, new_turn = drawn(shift, 20_000, 7)
    [found] = film_shifts(log_odds, new_turn, np.zeros(20_000, dtype=int), 1, 0.5)
    assert found == pytest.approx(shift, abs=0.06)


# log-odds and marks of one film, its spread, the least and the most shift
CASES = {
    "no marks": ([], [], 0.5, 0.0, 0.0),
    "one change more than told": ([-0.5], [True], 0.5, 0.05, 0.2),
    "few marks move it less than many": ([-0.5] * 3, [True] * 3, 0.5, 0.2, 0.5),
    "all are changes, hundreds of them": ([0.0] * 500, [True] * 500, 0.5, 1.0, 5.0),
    "none is a change": ([0.0] * 500, [False] * 500, 0.5, -5.0, -1.0),
    "scores that are sure and wrong": ([-900.0] * 50, [True] * 50, 0.5, 1.0, 25.0),
    "a spread of 0": ([-0.5] * 50, [True] * 50, 0.0, 0.0, 0.0),
    "films that hardly differ": ([-0.5] * 50, [True] * 50, 0.01, 0.0, 0.01),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_shift_of_few_or_odd_marks_is_bounded(case: tuple) -> None:
    log_odds, new_turn, spread, least, most = case
    film = np.zeros(len(log_odds), dtype=int)
    [found] = film_shifts(np.array(log_odds, dtype=float), np.array(new_turn, dtype=bool), film, 1, spread)
    assert least <= found <= most


def test_each_film_has_its_own_shift_in_any_company() -> None:
    films = [drawn(shift, 300, seed) for seed, shift in enumerate((-1.0, 0.0, 1.0))]
    alone = [film_shifts(odds, new, np.zeros(300, dtype=int), 1, 0.5)[0] for odds, new in films]
    together = film_shifts(
        np.concatenate([odds for odds, _ in films]),
        np.concatenate([new for _, new in films]),
        np.repeat([0, 2, 3], 300),
        5,
        0.5,
    )
    assert together[[0, 2, 3]] == pytest.approx(alone, abs=1e-9)
    assert together[[1, 4]].tolist() == [0.0, 0.0]


def film(changes: int, of: int) -> tuple[list, list[float]]:
    """Return blocks of two sentences, some with dashes, whose scores say nothing, and two blocks without marks."""
    rows = []
    for block in range(of):
        dash = "- " if block < changes else ""
        rows += [(f"{dash}Is it {block} ?", block), (f"{dash}It is {block} .", block)]
    rows += [("We wait .", of), ("We go .", of + 1)]
    return rows, [0.0] + [-0.1, -2.0] * of + [-0.1]


@pytest.mark.parametrize(
    ("changes", "spread", "opens"),
    [(38, 0.5, True), (38, 0.0, False), (0, 0.5, False), (12, 0.5, False), (5, 0.5, False)],
    ids=["most blocks have two speakers", "one limit for all", "no marks", "few blocks have two", "too few marks"],
)
def test_marks_within_blocks_move_the_limit_of_their_film(changes: int, spread: float, opens: bool) -> None:
    rows, scores = film(changes, 40)
    borders = Borders.of(Sentences.of(marks_file(*rows)), np.array(scores), films=FilmSpread(spread, 1.45))
    assert borders.own[-1] == UNMARKED
    assert bool(borders.starts[-1]) is opens


def test_the_limit_of_another_film_stays() -> None:
    rows, scores = film(38, 40)
    borders = Borders.of(
        Sentences.of(marks_files([rows, rows[-2:]])), np.array([*scores, 0.0, -0.1]), films=FilmSpread(0.5, 1.45)
    )
    assert borders.starts[-3]
    assert not borders.starts[-1]
    assert borders.margin[-1] == pytest.approx(-0.1)


def test_the_certainty_counts_from_the_moved_limit() -> None:
    rows, scores = film(38, 40)
    borders = Borders.of(Sentences.of(marks_file(*rows)), np.array(scores), films=FilmSpread(0.5, 2.0))
    rates = TurnCertainty(model=(0.0, 2.0))
    assert borders.certainty(rates)[-1] == pytest.approx(1 / (1 + math.exp(-2.0 * borders.margin[-1])))


def test_marks_that_do_not_count_move_nothing() -> None:
    rows, scores = film(38, 40)
    sentences = Sentences.of(marks_file(*rows))
    borders = Borders.of(sentences, np.array(scores), explicit_marks=False, films=FilmSpread(0.5, 1.45))
    assert borders.margin[-1] == pytest.approx(-0.1)
    slopeless = Borders.of(sentences, np.array(scores), films=FilmSpread(0.5, 0.0))
    assert slopeless.margin[-1] == pytest.approx(-0.1)


def test_a_dash_that_opens_a_block_keeps_its_limit() -> None:
    rows, scores = film(38, 40)
    rows += [("- Are you there ?", 60), ("- I am .", 60)]
    borders = Borders.of(Sentences.of(marks_file(*rows)), np.array([*scores, -0.5, 0.0]), films=FilmSpread(0.5, 1.45))
    assert borders.margin[-2] == pytest.approx(-0.3)
    assert not borders.starts[-2]
