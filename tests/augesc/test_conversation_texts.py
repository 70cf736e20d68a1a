"""Conversations as text and back (AugESC Figure 2, 4.3 Format)."""

import pytest

from etl.augesc.conversation_texts import (
    Turn,
    conversation,
    instruction,
    parse,
    prompt,
    training_text,
    without_thoughts,
)

TASK = instruction()

QUERY = "My shifts were cut\nand I can't pay the rent ."
TURNS = [
    Turn("seeker", "I lost my keys again ."),
    Turn("supporter", "Again ? What happened ?"),
    Turn("supporter", "Tell me : was it late ?"),
]


def spoken(text: str) -> list[tuple[str, str]]:
    return [("H" if turn.role == "seeker" else "A", turn.text) for turn in parse(text, TASK).turns]


def test_a_prompt_ends_where_the_supporter_speaks() -> None:
    lines = prompt(QUERY, TASK).split("\n")
    assert lines == [instruction(), "Human: My shifts were cut and I can't pay the rent .", "AI:"]
    assert len(instruction().split()) > 20
    assert "\n" not in instruction()


def test_what_is_written_is_read_again() -> None:
    left_out, learned = training_text(TURNS, "<|endoftext|>", TASK)
    assert learned.endswith("late ?<|endoftext|>")
    assert left_out == f"{instruction()}\n"
    assert parse(left_out + learned, TASK).turns == tuple(TURNS)
    assert not parse(left_out + learned, TASK).faulty
    as_dicts = [{"role": turn.role, "text": turn.text} for turn in TURNS]
    assert conversation(as_dicts) == conversation(TURNS)


@pytest.mark.parametrize(
    ("answer", "turns"),
    [
        (" That is hard .\nHuman: It is .", [("A", "That is hard ."), ("H", "It is .")]),
        ("That is hard .\n\n\n- Human: It is .\n", [("A", "That is hard ."), ("H", "It is .")]),
        (" Oh .\r\n  **Human:** It is .\r\n### AI : Rest .", [("A", "Oh ."), ("H", "It is ."), ("A", "Rest .")]),
        (" Oh .\\nHuman: Yes .", [("A", "Oh ."), ("H", "Yes .")]),
        (" Oh .\u2028“Human： Yes", [("A", "Oh ."), ("H", "Yes")]),
        (" Oh .\nHuman: So : what ?", [("A", "Oh ."), ("H", "So : what ?")]),
        (" Oh .<|endoftext|>Title: News of the day\nBuy now", [("A", "Oh .")]),
        (" Oh .<|im_end|>\n<|im_start|>", [("A", "Oh .")]),
        (" I said Human: twice .", [("A", "I said Human: twice .")]),
    ],
)
def test_answers_that_are_conversations(answer: str, turns: list[tuple[str, str]]) -> None:
    text = prompt("Help me .", TASK) + answer
    assert not parse(text, TASK).faulty
    assert spoken(text) == [("H", "Help me ."), *turns]


@pytest.mark.parametrize(
    ("answer", "faulty"),
    [
        ("", ["AI:"]),
        ("\nHuman: Hello ?", ["AI:"]),
        (" Oh .\nHuman:", ["Human:"]),
        (" Oh .\nHuman: ...", []),
        (" Oh .\nI see .", ["I see ."]),
        (" Oh .\n(The human leaves .)", ["(The human leaves .)"]),
        (" Oh .\nhuman: yes", ["human: yes"]),
        (" Oh .\nUser: yes", ["User: yes"]),
        (" Oh .\nHumanity: yes", ["Humanity: yes"]),
        (" Oh .\n1. Human: yes", ["1. Human: yes"]),
        (" Oh .\nAI says yes", ["AI says yes"]),
        (" Oh .\nНuman: a Cyrillic letter", ["Нuman: a Cyrillic letter"]),
        (" Oh .\n*****", ["*****"]),
        (" Oh .\n[EOS]", ["[EOS]"]),
    ],
)
def test_answers_that_are_none(answer: str, faulty: list[str]) -> None:
    assert list(parse(prompt("Help me .", TASK) + answer, TASK).faulty) == faulty


@pytest.mark.parametrize(
    ("answer", "turns", "faulty"),
    [
        (" Oh .\n\n- Human: So : what ?\r\n", ["Oh .", "So : what ?"], 0),
        (" Oh . Human: Yes . AI: Rest .", ["Oh . Human: Yes . AI: Rest ."], 0),
        (" [Question] Why ?", ["[Question] Why ?"], 0),
        (" Oh .</s>Title: News\nBuy", ["Oh ."], 0),
        (" Oh .\\nHuman: Yes .", ["Oh .\\nHuman: Yes ."], 0),
        (" Oh .\n**Human:** Yes .", ["Oh .", "** Yes ."], 0),
        (" Oh .\nHuman： Yes .", ["Oh ."], 1),
        (" Oh .\nHuman : Yes .", ["Oh ."], 1),
        (" Oh .\nHuman:", ["Oh ."], 1),
        ("\nOh .", [], 2),
        (
            ' [{"role": "AI", "text": "Oh ."},\n{"role": "Human", "text": "Yes ."}]',
            ['[{"role": "AI", "text": "Oh ."},'],
            1,
        ),
    ],
)
def test_the_papers_reading_takes_each_line_as_one_utterance(answer: str, turns: list[str], faulty: int) -> None:
    found = parse(prompt("Help me .", TASK) + answer, TASK, "paper")
    assert ([turn.text for turn in found.turns], len(found.faulty)) == (["Help me .", *turns], faulty)


def test_endless_texts_are_read() -> None:
    assert len(parse("Human: a\nAI: b\n" * 50_000, TASK).turns) == 100_000
    assert len(parse("*" * 200_000, TASK).faulty) == 1
    assert parse("", TASK).turns == parse("\n \n", TASK).faulty == ()


@pytest.mark.parametrize(
    "answer",
    [
        "<think>They are sad. Ask why.</think> That is hard .\nHuman: It is .",
        "They are sad. Ask why.\n</think> That is hard .\nHuman: It is .",
        " <reasoning>Ask why.</reasoning>That is hard .\nHuman: It is .\nAI: <think>Now comfort",
    ],
)
def test_thoughts_are_no_utterances(answer: str) -> None:
    text = without_thoughts(prompt("Help me .", TASK) + answer)
    assert spoken(text)[:3] == [("H", "Help me ."), ("A", "That is hard ."), ("H", "It is .")]
