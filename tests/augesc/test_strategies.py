"""ESConv's support strategies: read from each form, learned from by setting, told from words, and counted."""

import json
from io import BytesIO
from typing import Any

import pytest

from etl.augesc.conversation_texts import instruction, parse, with_strategy
from etl.augesc.measures import measure
from udfs.session_files import STRATEGIES, sessions_in, strategy_of

TASK = instruction()


@pytest.mark.parametrize(
    ("turn", "strategy"),
    [
        ({"annotation": {"strategy": "Question", "feedback": "5"}}, "Question"),
        ({"annotation": {"feedback": "5"}, "strategy": "Question"}, None),
        ({"annotation": {}}, None),
        ({"annotation": "Question"}, None),
        ({"strategy": "[Self-disclosure]"}, "Self-disclosure"),
        ({"strategy": ["Others", "Question"]}, "Others"),
        ({"strategy": "questions"}, "Question"),
        ({"annotation": {"strategy": "Other"}}, "Others"),
        ({"strategy": "Humming"}, "Humming"),
        ({"strategy": []}, None),
        ({"strategy": 4}, None),
        ({"strategy": " \n"}, None),
        ({"strategy": "a" * 500}, "a" * 60),
        ({}, None),
    ],
)
def test_a_turns_strategy(turn: dict[str, Any], strategy: str | None) -> None:
    assert strategy_of(turn) == strategy


def test_each_form_of_files_keeps_them_beside_its_turns() -> None:
    said = [
        {"speaker": "seeker", "content": "My cat is ill.", "annotation": {"strategy": "Question"}},
        {"speaker": "supporter", "content": " ", "annotation": {"strategy": "Others"}},
        {"speaker": "supporter", "content": "Since when?", "annotation": {"strategy": "Question"}},
        {"speaker": "supporter", "content": "Poor cat."},
    ]
    (esconv,) = sessions_in("x.json", BytesIO(json.dumps([{"dialog": said}]).encode()))
    assert esconv["strategies"] == [None, "Question", None]
    assert len(esconv["turns"]) == 3
    line = "0 0 0 My cat is ill. EOS 1 1 [Question] Since when?"
    (rolling,) = sessions_in("x.tsv", BytesIO(line.encode()))
    assert rolling["strategies"] == [None, "Question"]
    assert [turn["text"] for turn in rolling["turns"]] == ["My cat is ill.", "Since when?"]


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("form", ["[{}] Go on.", "({}) Go on.", "**[{}]** Go on.", "[{}]: Go on."])
def test_a_strategy_before_a_turn_is_none_of_its_words(name: str, form: str) -> None:
    written = form.format(name)
    assert with_strategy("supporter", written) == (name, "Go on.")
    assert with_strategy("supporter", written.replace(name, name.upper())) == (name, "Go on.")
    assert with_strategy("seeker", written) == (None, written)


@pytest.mark.parametrize(
    "text", ["[laughs] Go on.", "Question: why?", "[Question", "(I see) Go on.", "Go on [Others]."]
)
def test_other_words_in_brackets_stay(text: str) -> None:
    assert with_strategy("supporter", text) == (None, text)


def test_a_text_is_measured_without_its_strategies() -> None:
    text = "Human: I failed.\nAI: [Question] In what?\nHuman: (sighs) Maths.\nAI: [Information]\nAI: Oh."
    faulty, first, _, turns, strategies = measure(text, TASK)
    assert (faulty, first) == (1, "AI: [Information]")
    assert [turn["text"] for turn in turns] == ["I failed.", "In what?", "(sighs) Maths.", "Oh."]
    assert strategies == [None, "Question", None, None]


def test_answers_in_json_lose_them_too() -> None:
    said = [{"speaker": "Human", "text": "I failed."}, {"speaker": "AI", "text": "[Question] In what?"}]
    parsed = parse(json.dumps({"conversation": said}), TASK)
    assert [(turn.text, turn.strategy) for turn in parsed.turns] == [("I failed.", None), ("In what?", "Question")]
