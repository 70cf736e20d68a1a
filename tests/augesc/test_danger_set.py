"""The danger set: what is held out is fixed by content, and nothing like it is learnt from."""

from collections import Counter

import pytest

from etl.augesc.danger_set import (
    HELD_OUT,
    LINE_BREAK,
    TUNE,
    Rate,
    evaluation_lines,
    half_of,
    overlap,
    rates,
    training_lines,
)

EVALUATED = [*evaluation_lines(TUNE), *evaluation_lines(HELD_OUT)]


def test_the_halves_follow_from_the_texts() -> None:
    assert Counter(line.danger for line in EVALUATED) == {True: 200, False: 200}
    assert all(line.half == half_of(LINE_BREAK.join(line.lines)) for line in EVALUATED)
    kinds = {"self_harm", "overdose", "violence_against", "violence_by", "children", "eating", "psychosis"}
    for half in (TUNE, HELD_OUT):
        assert {line.kind for line in evaluation_lines(half) if line.danger} == kinds


def test_no_line_to_learn_from_is_like_one_that_is_judged() -> None:
    learnt = training_lines()
    assert min(Counter(line.danger for line in learnt).values()) > 500
    like = [(line.text, one.text) for line in learnt for one in EVALUATED if overlap(line.text, one.text) >= 0.5]
    assert like == []


def test_a_rate_has_wilsons_interval() -> None:
    assert Rate(90, 100).interval == pytest.approx((0.8256, 0.9448), abs=1e-4)
    assert Rate(0, 10).interval == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert Rate(0, 0).interval == (0.0, 1.0)
    assert str(Rate(1, 2)) == "0.500 [0.095, 0.905] (1/2)"


def test_floors_are_what_they_must_be() -> None:
    lines = evaluation_lines(TUNE)
    always, never = rates(lines, lambda said: True), rates(lines, lambda said: False)
    assert (always[0].share, always[1].share, never[0].share, never[1].share) == (1, 1, 0, 0)
    assert sum(rate.cases for rate in always[2].values()) == len(lines)
