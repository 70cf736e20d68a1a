"""The danger set: what is held out is fixed by content, and nothing like it is learnt from."""

import hashlib
from collections import Counter

import pytest

from etl.safety.grammar import DANGER, FOLDER, HARMLESS, grammar_lines, parsed, wordings
from etl.safety.lines import (
    HELD_OUT,
    LINE_BREAK,
    TUNE,
    DangerLine,
    Rate,
    evaluation_lines,
    kind_lines,
    rates,
    unlike,
)
from etl.safety.stored import entries
from etl.safety.training import learnt_lines

EVALUATED = [*evaluation_lines(TUNE), *evaluation_lines(HELD_OUT)]
BY_KIND = [*kind_lines(TUNE), *kind_lines(HELD_OUT)]


def test_the_halves_follow_from_the_texts() -> None:
    assert Counter(line.danger for line in EVALUATED) == {True: 200, False: 200}
    for line in EVALUATED:
        content = hashlib.sha256(LINE_BREAK.join(line.lines).encode()).digest()
        assert line.half == (TUNE, HELD_OUT)[content[-1] % 2], line.text
    for half in (TUNE, HELD_OUT):
        assert {line.kind for line in evaluation_lines(half) if line.danger} == set(DANGER)


def test_no_line_to_learn_from_is_like_one_that_is_judged() -> None:
    learnt = learnt_lines()
    assert min(Counter(line.danger for line in learnt).values()) > 3_000
    assert unlike(learnt, EVALUATED) == learnt
    assert unlike(learnt, BY_KIND) == learnt
    assert unlike([*learnt[:3], EVALUATED[0]], EVALUATED) == learnt[:3]


def test_whole_kinds_and_one_style_are_held_out_of_the_lines_by_kind() -> None:
    tuned = kind_lines(TUNE)
    held_out = kind_lines(HELD_OUT)
    assert len(tuned) + len(held_out) == 630
    assert len({line.text for line in BY_KIND}) == 630
    whole = {line.kind for line in held_out} - {line.kind for line in tuned}
    assert whole == {
        "places",
        "not waking",
        "earlier attempts",
        "threats to others",
        "disguised words",
        "recklessness",
    }
    assert {line.style for line in held_out if line.kind not in whole} == {"wry"}
    assert "wry" not in {line.style for line in tuned}


def test_each_kind_has_look_alikes_in_four_languages_and_at_least_four_styles() -> None:
    for kind in {line.kind for line in BY_KIND}:
        lines = [line for line in BY_KIND if line.kind == kind]
        for danger in (True, False):
            some = [line for line in lines if line.danger == danger]
            assert len(some) >= 12, kind
            assert len({line.style for line in some}) >= 4, kind
        assert {line.language for line in lines} == {"en", "es", "de", "fr"}, kind


def test_shared_words_count_once_whatever_their_case() -> None:
    lines = [DangerLine("x", True, (text,), "") for text in ("I'm so sad", "im SO happy, sad", "two")]
    assert unlike(lines[:1], lines[1:], 0.75) == []
    assert unlike(lines[:1], lines[1:], 0.76) == lines[:1]
    assert unlike(lines[2:], lines[:2], 0.01) == lines[2:]
    assert unlike(lines, []) == lines
    lines = [DangerLine("x", True, (text,), "") for text in ("a b c d", "a b x y")]
    assert unlike(lines, lines[1:], 0.5) == lines[:1]


@pytest.mark.parametrize("kind", [*DANGER, *HARMLESS])
def test_each_template_has_whole_wordings(kind: str) -> None:
    slots, templates = parsed(entries(f"{FOLDER}/{kind}"))
    assert len(set(templates)) == len(templates) > 25
    for template in templates:
        found = wordings(template, slots, 3)
        assert found, template
        assert all(not set(text) & set("[]{}|@") for text in found), template
        assert all("  " not in text for text in found), template


def test_wordings_are_the_same_each_time_and_belong_to_their_template() -> None:
    lines = grammar_lines(2, 3)
    assert lines == grammar_lines(2, 3)
    counts = Counter((line.danger, line.template) for line in lines)
    assert all(count <= (2 if danger else 3) for (danger, _), count in counts.items())
    assert {line.kind for line in lines} == {*DANGER, *HARMLESS}
    assert len(counts) > 600
    assert sorted(wordings("[I|you] like {thing}", {"thing": ["tea"]}, 5)) == ["I like tea", "you like tea"]


def test_a_rate_has_wilsons_interval() -> None:
    assert Rate(90, 100).interval == pytest.approx((0.8256, 0.9448), abs=1e-4)
    assert Rate(0, 10).interval == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert Rate(0, 0).interval == (0.0, 1.0)
    assert str(Rate(1, 2)) == "0.500 [0.095, 0.905] (1/2)"


def test_floors_are_what_they_must_be() -> None:
    lines = evaluation_lines(TUNE)
    always = rates(lines, lambda said: True)
    never = rates(lines, lambda said: False)
    assert (always[0].share, always[1].share, never[0].share, never[1].share) == (1, 1, 0, 0)
    assert sum(rate.cases for rate in always[2].values()) == len(lines)
