"""The last screen of a run."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from etl.common.splits import Split, split_faults
from etl.edos.description import Made, next_steps, screen


def cost(rule: str, turns: int, after: int, whole: int) -> dict[str, object]:
    return {
        "rule": rule,
        "turns": turns,
        "turns_after": after,
        "dialogues": 9,
        "dialogues_dropped": 3,
        "turns_of_dialogues": whole,
    }


SAID = [("sad", 0.43, "They are closing the library. " * 9), ("sad", 0.6, "It is sad."), ("caring", 0.5, "Come here.")]
FULL = Made(
    root="lakehouse",
    dialogues=1_389,
    turns=4_021,
    films=12,
    raw=18_412,
    clean=5_120,
    preset="trusted",
    costs=[
        cost("uncertain_turn", 1_200, 2_100, 9_300),
        cost("one_turn_left", 0, 0, 600),
        cost("too_long", 50, 30, 0),
        cost("lyrics", 10, 2, 0),
    ],
    splits={"train": Split(900, 10), "validation": Split(489, 1), "test": Split(0, 0)},
    right=0.612,
    accepted=(0.28, 0.773),
    examples=[SAID, SAID, SAID],
)


@pytest.mark.parametrize("root", ["lakehouse", "demo/lakehouse", "corpora/films/lakehouse"])
def test_the_last_screen_fits_a_small_terminal(root: str) -> None:
    lines = screen(replace(FULL, root=root))
    assert len(lines) == 24
    assert max(map(len, lines)) <= 80


def test_the_last_screen_says_what_was_made_and_what_it_cost() -> None:
    text = "\n".join(screen(FULL))
    assert "1,389 dialogues of 4,021 turns from 12 films, labelled, preset trusted" in text
    assert "Turns: 18,412 in, 5,120 left by cleaning (28%), 4,021 chosen and labelled" in text
    assert "Cleaning removed 13,292 turns" in text
    (line,) = [line for line in screen(FULL) if "speaker not certain enough" in line]
    assert line.split()[-3:] == ["1,200", "2,100", "9,300"]
    assert "lyrics" not in text
    assert "Splits: train 900 of 10 films, validation 489 of 1 film, test 0 of 0 films" in text
    assert "no film is in test" in text
    assert "Labels: 61.2% of the crowd's test turns are right; of the accepted 28.0%, 77.3%" in text


def test_clean_dialogues_alone_have_no_labels_and_no_splits() -> None:
    some = [[("", None, "Come in."), ("", None, "It is cold out there.")]]
    clean = replace(FULL, preset="", splits={}, right=None, accepted=None, costs=(), examples=some)
    text = "\n".join(screen(clean))
    assert "not labelled" in text
    assert "- Come in.\n  It is cold" in text
    assert "Splits" not in text
    assert "Labels" not in text
    assert "edos.turns" not in "\n".join(next_steps("mine", labelled=False))


@pytest.mark.parametrize(
    ("films", "said"),
    [
        ({"train": 8, "validation": 2, "test": 2}, []),
        ({"train": 8, "validation": 1, "test": 2}, ["only one film each is in validation"]),
        ({"train": 2, "validation": 1}, ["no film is in test:", "only one film each is in validation"]),
        ({"train": 1}, ["no film is in validation and test:", "only one film each is in train"]),
    ],
)
def test_splits_without_films_or_of_one_are_said(films: Mapping[str, int], said: list[str]) -> None:
    found = split_faults({name: Split(10, count) for name, count in films.items()})
    assert [line[: len(start)] for line, start in zip(found, said, strict=True)] == said
