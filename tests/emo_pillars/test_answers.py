"""What all parsers share."""

import pytest

from etl.emo_pillars.answers import echoes, up_to_last_sentence
from etl.emo_pillars.quotes import unquoted
from etl.emo_pillars.refusals import refuses

TEMPLATE = "Read this story: {plot} Then name every single person who takes part in it, one on each line. {actor}"


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ('"a b"', "a b"),
        ("'I don't know'", "I don't know"),
        ("‘I don’t know’", "I don’t know"),
        ("“a”", "a"),
        ("«a»", "a"),
        ('"a" and "b"', '"a" and "b"'),
        ('"a', '"a'),
        ('"', '"'),
        ("", ""),
        ("  a ", "a"),
    ],
)
def test_unquoted(text: str, bare: str) -> None:
    assert unquoted(text) == bare


@pytest.mark.parametrize(
    ("text", "is_echo"),
    [
        ("Then name every single person who takes part in it, one on each line.", True),
        ("then NAME every single person, who takes part", True),
        ("name every single person who takes", False),
        ("story: the keeper of the lamp waits. Then name", False),  # only what stands around a slot
        ("", False),
    ],
)
def test_echoes_are_of_the_templates_own_words(text: str, is_echo: bool) -> None:
    assert echoes(text, TEMPLATE) is is_echo


@pytest.mark.parametrize(
    ("text", "is_refusal"),
    [
        ("As an AI language model, I have no opinion.", True),
        ("I'm sorry, but I can't assist with that.", True),
        ("I am unable to fulfil this request.", True),
        ("I'm sorry, Ada. I cannot stay.", False),
        ("I can't help it, I love the sea.", False),
        ("He won't answer my letters.", False),
        ("I cannot provide for my children.", False),
    ],
)
def test_refusals(text: str, is_refusal: bool) -> None:
    assert refuses(text) is is_refusal


@pytest.mark.parametrize(
    ("text", "whole"),
    [("One. Two th", "One."), ('He said "no." And', 'He said "no."'), ("No end", None), ("3.5 is a num", None)],
)
def test_up_to_last_sentence(text: str, whole: str | None) -> None:
    assert up_to_last_sentence(text) == whole
