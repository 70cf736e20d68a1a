"""Utterances with their emotions out of answers as models give them, good and bad."""

import pytest

from conf.prompts import prompt
from etl.emo_pillars.steps.utterances import first_label, parse_utterances

TEMPLATE = prompt("emo_pillars/utterances")
WORDS = "The lamp went out again!"


@pytest.mark.parametrize(
    "line",
    [
        '1. (Anger) "The lamp went out again!"',
        '1. [Anger] "The lamp went out again!"',
        '1) Anger: "The lamp went out again!"',
        '1. **Anger**: "The lamp went out again!"',
        '1. **(Anger)** "The lamp went out again!"',
        '- Anger - "The lamp went out again!"',
        "1. Anger – “The lamp went out again!”",
        "1. (anger) The lamp went out again!",
        "1. Anger: 'The lamp went out again!'",
        '1. "The lamp went out again!" (Anger)',
        '1. "The lamp went out again!" - Anger',
        '1. "The lamp went out again!" [anger].',
        'Anger: "The lamp went out again!"',
        '1. Anger:\n"The lamp went out again!"',
        "1. Anger\n",
        '1. (Anger/Fear) "The lamp went out again!"',
        '1. Anger and fear: "The lamp went out again!"',
        '(1) (Anger): "The lamp went out again!"',
        "１．（Anger）「The lamp went out again!」",
    ],
)
def test_the_shapes_of_a_line(line: str) -> None:
    parsed = parse_utterances(line, TEMPLATE)
    if line == "1. Anger\n":  # an emotion alone says nothing
        assert parsed.items == []
        assert [one.reason for one in parsed.rejected] == ["no_emotion"]
        return
    assert [(one.raw_label, one.utterance) for one in parsed.items] == [("anger", WORDS)]
    assert parsed.rejected == []


def test_a_whole_answer_with_neutral_ones_that_are_numbered_anew() -> None:
    answer = """Here are the lines:

1. (Fear) "What was that noise below the stairs?"
2. (Curiosity) "Who left this letter here?" (She has never seen the hand before.)
3. (Hope) "Tomorrow the ship will come."
Reason: she waits for her uncle.

Neutral:
1. "The oil is in the shed."
2. (Neutral) "It is four o'clock."
"""
    parsed = parse_utterances(answer, TEMPLATE)
    assert [(one.raw_label, one.utterance) for one in parsed.items] == [
        ("fear", "What was that noise below the stairs?"),
        ("curiosity", "Who left this letter here?"),
        ("hope", "Tomorrow the ship will come."),
        ("neutral", "The oil is in the shed."),
        ("neutral", "It is four o'clock."),
    ]
    assert [one.reasoning for one in parsed.items[1:3]] == [
        "She has never seen the hand before.",
        "Reason: she waits for her uncle.",
    ]
    assert parsed.rejected == []


@pytest.mark.parametrize(
    "heading",
    [
        "Neutral:",
        "**Neutral:**",
        "Neutral utterances:",
        "The neutral ones:",
        "NEUTRAL",
        "### Neutral",
        "2 neutral lines:",
    ],
)
def test_headings_of_the_neutral_part(heading: str) -> None:
    parsed = parse_utterances(f'1. (Joy) "The ship is here!"\n{heading}\n1. "It is noon."', TEMPLATE)
    assert [one.raw_label for one in parsed.items] == ["joy", "neutral"]


@pytest.mark.parametrize(
    ("answer", "reasons"),
    [
        ("", []),
        ("As an AI, I cannot take the part of a person.", ["refusal"]),
        ('1. "The lamp went out again!"', ["no_emotion"]),
        ("1. (Anger) ...", ["no_words"]),
        ('1. (Anger) ""', ["no_words"]),
        ("Ada walks to the lamp and sighs.", ["no_emotion"]),
        (f'1. (Anger) "{"so " * 101}"', ["too_long"]),
        ("First write 8 things that this character could say to themselves at different moments", ["repeats_prompt"]),
        (
            "1. anger: strong displeasure. Each must express a different one of the emotions above, and none may be "
            "neutral.",
            ["repeats_prompt"],
        ),
    ],
)
def test_malformed_answers_give_no_utterance(answer: str, reasons: list[str]) -> None:
    parsed = parse_utterances(answer, TEMPLATE)
    assert parsed.items == []
    assert [one.reason for one in parsed.rejected] == reasons


@pytest.mark.parametrize(
    ("last", "cut_off"), [("What was that noi", True), ('"What was that noi', True), ('"What was that noi', False)]
)
def test_an_answer_that_was_cut_off_keeps_its_whole_lines(last: str, cut_off: bool) -> None:
    answer = f'1. (Joy) "The ship is here!"\n2. (Fear) {last}'
    parsed = parse_utterances(answer, TEMPLATE, cut_off=cut_off)
    assert [one.raw_label for one in parsed.items] == ["joy"]
    assert [one.reason for one in parsed.rejected] == ["cut_off"]


def test_words_said_twice_count_once() -> None:
    parsed = parse_utterances('1. (Joy) "The ship!"\n2. (Love) "the ship"', TEMPLATE)
    assert [one.raw_label for one in parsed.items] == ["joy"]
    assert [(one.reason, one.text) for one in parsed.rejected] == [("repeated", "the ship")]


@pytest.mark.parametrize(("label", "first"), [("Anger", "anger"), (" Joy & Love", "joy"), ("fear, grief", "fear")])
def test_first_label(label: str, first: str) -> None:
    assert first_label(label) == first
