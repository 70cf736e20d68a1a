"""Labels with levels out of answers as models give them, good and bad."""

import pytest

from conf.prompts import prompt
from etl.emo_pillars.steps.soft_labels import level_of, parse_soft_labels

TEMPLATE = prompt("emo_pillars/soft_labels")


@pytest.mark.parametrize(
    ("line", "level", "reasoning"),
    [
        ("1. joy (0.9)", 0.9, None),
        ("1. joy: 0.9", 0.9, None),
        ("1. joy (٠٫٩)", 0.9, None),
        ("१. joy: ०.९", 0.9, None),
        ("1. Joy - 0.9", 0.9, None),
        ("1. joy – 0.9", 0.9, None),
        ("1. joy = 0.9", 0.9, None),
        ("1. joy 0.9", 0.9, None),
        ("1. joy, 0.9", 0.9, None),
        ("1. joy: .9", 0.9, None),
        ("1. joy [0.9]", 0.9, None),
        ("1. **joy**: 0.9", 0.9, None),
        ('1. "joy": 0.9', 0.9, None),
        ("1. joy: 0,9", 0.9, None),
        ("1. joy (0,9)", 0.9, None),
        ("1. joy: 9/10", 0.9, None),
        ("1. joy (9 out of 10)", 0.9, None),
        ("1. joy: 0.9/1", 0.9, None),
        ("1. joy: 90%", 0.9, None),
        ("1. joy: 1", 1.0, None),
        ("1. joy (1.0)", 1.0, None),
        ("1. joy: 0", 0.0, None),
        ("1. joy (level: 0.9)", 0.9, None),
        ("1. joy (expressiveness level: 0.9)", 0.9, None),
        ("1. joy - Rating: 0.9", 0.9, None),
        ("1) joy: 0.9", 0.9, None),
        ("- joy: 0.9", 0.9, None),
        ("joy: 0.9", 0.9, None),
        ("1. joy (0.9) - The ship has come.", 0.9, "The ship has come"),
        ("1. joy: 0.9 (The ship has come.)", 0.9, "The ship has come"),
        ("1. joy: 0.9, for the ship has come", 0.9, "for the ship has come"),
    ],
)
def test_the_shapes_of_a_level(line: str, level: float, reasoning: str | None) -> None:
    parsed = parse_soft_labels(line, TEMPLATE, 5)
    assert [tuple(one) for one in parsed.items] == [("joy", level, reasoning)]
    assert parsed.rejected == []


@pytest.mark.parametrize(
    ("answer", "reasons"),
    [
        ("1. joy", ["no_level"]),
        ("1. joy: high", ["level_in_words"]),
        ("1. joy (very strongly)", ["level_in_words"]),
        ("1. joy - Moderate", ["level_in_words"]),
        ("1. joy: 7", ["level_out_of_range"]),
        ("1. joy: 1.5", ["level_out_of_range"]),
        ("1. joy (-0.3)", ["level_out_of_range"]),
        ("1. joy: 12/10", ["level_out_of_range"]),
        ("1. joy: 3/0", ["level_out_of_range"]),
        ("1. joy: 0.5-0.7", ["level_is_a_range"]),
        ("1. joy: 0.5 to 0.7", ["level_is_a_range"]),
        ("1. 0.9", ["no_label"]),
        ("The words sound happy.", ["no_list_item"]),
        ("", []),
        (
            "Which labels fit these words best? Choose the 5 that fit best, the strongest first, and rate how strongly "
            "each is expressed: from 0 to 1",
            ["repeats_prompt"],
        ),
    ],
)
def test_what_is_no_level_is_rejected(answer: str, reasons: list[str]) -> None:
    parsed = parse_soft_labels(answer, TEMPLATE, 5)
    assert parsed.items == []
    assert [one.reason for one in parsed.rejected] == reasons


def test_several_labels_on_one_line() -> None:
    parsed = parse_soft_labels("1. joy: 0.9, 2. love: 0.7 3. pride (0.4)", TEMPLATE, 5)
    assert [(one.raw_label, one.level) for one in parsed.items] == [("joy", 0.9), ("love", 0.7), ("pride", 0.4)]


def test_the_top_five_count_once_each() -> None:
    labels = ("joy", "love", "joy", "pride", "relief", "hope", "caring")
    answer = "\n".join(f"{n}. {label}: 0.{9 - n}" for n, label in enumerate(labels, 1))
    parsed = parse_soft_labels(answer, TEMPLATE, 5)
    assert [one.raw_label for one in parsed.items] == ["joy", "love", "pride", "relief", "hope"]
    assert [one.reason for one in parsed.rejected] == ["repeated_label", "beyond_top"]


@pytest.mark.parametrize(
    ("given", "level"),
    [(("0.75", None, False), 0.75), (("70", None, True), 0.7), (("4", "5", False), 0.8), (("101", None, True), None)],
)
def test_level_of(given: tuple, level: float | None) -> None:
    assert level_of(*given) == level


def test_an_answer_that_begins_anew_keeps_its_labels() -> None:
    from udfs.llm_requests import continuation

    answer = "1. anger (0.9): she shouts\n2. sadness (0.5): she cries\n3. disappointment (0.4): she hoped"
    parsed = parse_soft_labels("1. joy" + continuation(answer, "1. joy"), TEMPLATE, 5)
    assert [(one.raw_label, one.level) for one in parsed.items] == [
        ("anger", 0.9),
        ("sadness", 0.5),
        ("disappointment", 0.4),
    ]
