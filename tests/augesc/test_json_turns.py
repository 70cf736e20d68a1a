"""Conversations that models write as JSON, and several speakers on one line."""

import pytest

from etl.augesc.conversation_texts import instruction, parse, prompt
from etl.augesc.json_turns import json_turns, role_of

TASK = instruction()

QUERY = "My shifts were cut ."
A = "supporter"
H = "seeker"


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("AI", A),
        ("assistant", A),
        ("Help-Seeker", H),
        ("help seeker", H),
        ("helpSeeker", H),
        ("Counselor", A),
        ("user", H),
        ("narrator", None),
        (3, None),
    ],
)
def test_names_of_speakers(name: object, role: str | None) -> None:
    assert role_of(name) == role


@pytest.mark.parametrize(
    ("answer", "turns"),
    [
        ('[{"role": "assistant", "content": "I see ."}]', [(A, "I see .")]),
        ('```json\n{"dialog": [{"speaker": "seeker", "content": "Yes ."}]}\n```', [(H, "Yes .")]),
        ('[{"AI": "I see ."}, {"Human": "Yes ."}]', [(A, "I see ."), (H, "Yes .")]),
        ('{"AI": ["I see .", "And then ?"]}', [(A, "I see ."), (A, "And then ?")]),
        ('[["Human", "Yes ."], ["AI", "I see ."]]', [(H, "Yes ."), (A, "I see .")]),
        ('["AI: I see .", "**Human:** Yes ."]', [(A, "I see ."), (H, "Yes .")]),
        ('["I see .", "Yes ."]', [(A, "I see ."), (H, "Yes .")]),
        ('{"reply": "I see ."}', [(A, "I see .")]),
        (
            '{"a1": {"role": "ai", "text": "I see ."}, "a2": {"role": "human", "text": "Yes ."}}',
            [(A, "I see ."), (H, "Yes .")],
        ),
        (
            '[{"role": "ai", "text": "I see ."}, {"role": "narrator", "text": "Rain ."}]',
            [(A, "I see ."), (None, "Rain .")],
        ),
        ('[{"role": "ai", "text": "I see ."}, {"role": "human", "te', [(A, "I see .")]),
        ('Here it is:\n[{"role": "ai", "text": "I see ."}]', [(A, "I see .")]),
    ],
)
def test_forms_of_conversations(answer: str, turns: list[tuple[str | None, str]]) -> None:
    assert json_turns(answer) == turns


@pytest.mark.parametrize(
    "answer",
    [
        " I see .\nHuman: Yes .",
        ' I made a list: ["tea", "rest"] for you .\nHuman: Thanks .',
        ' Oh .\nHuman: he wrote {"role": "boss", "text": "no"} to me .',
        " [sighs] I see .",
        "",
    ],
)
def test_lines_are_no_json(answer: str) -> None:
    assert json_turns(answer) is None


def test_an_answer_that_begins_with_the_prompts_query_has_it_once() -> None:
    answer = '[{"role": "user", "content": "my shifts were cut."}, {"role": "assistant", "content": "I see ."}]'
    assert [turn.text for turn in parse(prompt(QUERY, TASK) + answer, TASK).turns] == [QUERY, "I see ."]


def test_turns_without_a_speaker_are_faulty() -> None:
    parsed = parse(
        prompt(QUERY, TASK) + '[{"role": "ai", "text": "I see ."}, {"role": "narrator", "text": "Rain ."}]', TASK
    )
    assert [turn.role for turn in parsed.turns] == [H, A]
    assert parsed.faulty == ("Rain .",)


@pytest.mark.parametrize(
    ("answer", "turns"),
    [
        (" I see . Human: Yes . AI: Rest .", [(A, "I see ."), (H, "Yes ."), (A, "Rest .")]),
        (" i see Human: yes AI: rest", [(A, "i see"), (H, "yes"), (A, "rest")]),
        (" I said Human: twice .", [(A, "I said Human: twice .")]),
        (" I am an AI: a program .", [(A, "I am an AI: a program .")]),
        (" I see . | Human: Yes .", [(A, "I see ."), (H, "Yes .")]),
        (" Good ! 🙂 Human: Yes .", [(A, "Good ! 🙂"), (H, "Yes .")]),
        (" AI: I see .", [(A, "I see .")]),
        ("\nI see .", [(A, "I see .")]),
        (" The Humanity: a book .", [(A, "The Humanity: a book .")]),
    ],
)
def test_several_speakers_on_one_line(answer: str, turns: list[tuple[str, str]]) -> None:
    parsed = parse(prompt(QUERY, TASK) + answer, TASK)
    assert [(turn.role, turn.text) for turn in parsed.turns] == [(H, QUERY), *turns]
    assert parsed.faulty == ()
