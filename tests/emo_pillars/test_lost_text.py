"""Texts and labels that parsers of real answers lost, one table for each loss."""

import time

import pytest

from conf.prompts import prompt
from etl.emo_pillars.prose import parse_prose
from etl.emo_pillars.step import OURS
from etl.emo_pillars.steps.actors import parse_actors
from etl.emo_pillars.steps.clean_contexts import parse_cleaned
from etl.emo_pillars.steps.rewrites import parse_rewrite
from etl.emo_pillars.steps.soft_labels import labels_with_levels
from etl.emo_pillars.steps.utterances import labelled_utterances

ACTORS, UTTERANCES, LABELS, CONTEXT, CLEAN, REWRITE = (
    prompt(f"emo_pillars/{step}")
    for step in ("actors", "utterances", "soft_labels", "contexts", "clean_contexts", "rewrites")
)
NAMES = OURS.known_names
HOSTILE = (
    "“" * 20_000,
    '"' * 20_000,
    "(joy) " * 3_300,
    '"a" ' * 5_000,
    "**a " * 5_000,
    "Sure!\n" * 3_000,
    "1. " * 6_600,
    "a" + " " * 19_998 + "b",
    "| a " * 5_000,
    "I can't " * 2_500,
    "Here is " * 2_500,
    "joy 0.9, " * 2_200,
    "(" * 20_000,
    "a: " * 6_600,
    "[" * 10_000 + "]" * 10_000,
    "no text " * 2_500,
    "\\" * 20_000,
    "A (" * 6_600,
    "a, the " * 2_800,
)


def rewritten(answer: str) -> list[str]:
    return [one.text for one in parse_rewrite(answer, REWRITE, emotions=NAMES).items]


def said(answer: str) -> list[tuple[str, str]]:
    return [(one.label, one.utterance) for one in labelled_utterances(answer, UTTERANCES, False, NAMES).items]


def levels(answer: str) -> list[tuple[str, float]]:
    return [(one.label, one.level) for one in labels_with_levels(answer, LABELS, 5, NAMES).items]


@pytest.mark.parametrize(
    "text",
    [
        "I'm not sure what to do. I have to bring this boat home.",
        "You are sure. I am not: the stairs are wet.",
        "I know the answer: he never wrote.",
        "It is 10:30. The lamp should burn by now.",
        "Okay... light it again, then.",
        "Okay. Light it again. I will wait below.",
        "Of course. He always comes too late.",
        "Of course! I had the key all the time.",
        "Sure. And who pays for the oil?",
        "I can't do that to her.",
        "I can't do this any more.",
        "I am sorry, the bread is gone.",
        "Nobody told me anything: context, names, nothing.",
        'He said "no" and went.',
        'She calls it "our lamp" (it is mine).',
        "The snake_case and __init__ and 2*3*4 stay.",
    ],
)
def test_speech_is_kept(text: str) -> None:
    assert rewritten(text) == [text]
    assert said(f"1. (Fear) {text}") == [("fear", text)]


@pytest.mark.parametrize(
    "answer",
    [
        "I can't fulfill that request.",
        "I am sorry, the plot is empty.",
        "There are no characters mentioned",
        "There are no characters mentioned.",
        "There are no named characters in this story.",
    ],
)
def test_refusals_in_other_words_are_no_answers(answer: str) -> None:
    assert rewritten(answer) == []
    assert parse_prose(answer, CONTEXT).items == []
    for shape in (answer, f"1. {answer}", f"- {answer}"):
        assert parse_actors(shape, ACTORS).items == []


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("There is nothing to drink on the boat. Ada rows on.", "There is nothing to drink on the boat. Ada rows on."),
        (
            "The text of the letter is unchanged. Ada posts it again.",
            "The text of the letter is unchanged. Ada posts it again.",
        ),
        (
            "No changes are needed.\n\nAda climbs the stairs and lights the lamp.",
            "Ada climbs the stairs and lights the lamp.",
        ),
        ("There is no mention of a feeling in the text. Nothing was removed.", None),
    ],
)
def test_only_a_plain_statement_keeps_the_original_context(answer: str, text: str | None) -> None:
    (found,) = parse_cleaned(answer, CLEAN).items
    assert (found.text or None, found.unchanged) == (text, text is None)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (r"\"The lamp is out.\"", "The lamp is out."),
        (r"He said \"the lamp is out\" again.", 'He said "the lamp is out" again.'),
        (r"Don\'t go up there.", "Don't go up there."),
        ("The lamp is out. [Amusement]", "The lamp is out."),
        ('(Anger) "The lamp is out."', "The lamp is out."),
        ('Anger: "The lamp is out."', "The lamp is out."),
        ('"The lamp is out." (Anger)', "The lamp is out."),
        ('"The lamp is out." - Anger', "The lamp is out."),
        ('"The lamp is out." or "It is dark up there."', "The lamp is out."),
        ('"The lamp is out." / "It is dark up there."', "The lamp is out."),
        ("\"He said 'out' and left.\"", "He said 'out' and left."),
        ('"He said "out" and left."', 'He said "out" and left.'),
        ('Option 1: "The lamp is out."', "The lamp is out."),
        ('**Rewritten utterance:** *"The lamp is out."*', "The lamp is out."),
    ],
)
def test_marks_and_labels_are_no_part_of_a_rewritten_utterance(answer: str, text: str) -> None:
    assert rewritten(answer) == [text]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1. I can't believe it. [Amusement]", [("amusement", "I can't believe it.")]),
        ("1. I can't believe it. (amusement)", [("amusement", "I can't believe it.")]),
        ('1. Neutral: (Confusion) "Which lamp is it?"', [("confusion", "Which lamp is it?")]),
        ('1. (Joy) (Love) "My lamp!"', [("joy", "My lamp!")]),
        ('1. (Joy) Love: "My lamp!"', [("joy", "My lamp!")]),
        ('**Line 1:** (Anger) "Out again!"', [("anger", "Out again!")]),
        ('Line 1: Anger: "Out again!"', [("anger", "Out again!")]),
        ('1. Line 1 (Anger): "Out again!"', [("anger", "Out again!")]),
        ('**Utterance 2:** [Anger] "Out again!"', [("anger", "Out again!")]),
        ('**Joy** "The ship is here!"', [("joy", "The ship is here!")]),
        ('1. **Joy** "The ship is here!"', [("joy", "The ship is here!")]),
        ('1. Joy "The ship is here!"', [("joy", "The ship is here!")]),
        ('1. **Joy**\n   "The ship is here!"', [("joy", "The ship is here!")]),
        ("1. Joy: The ship is here!", [("joy", "The ship is here!")]),
        ('1. Emotion: Joy\n   Words: "The ship is here!"', [("joy", "The ship is here!")]),
        ('1. (Joy) "The ship!" "It is here!"', [("joy", "The ship!"), ("joy", "It is here!")]),
        ('1. (Joy) "The ship!" (Fear) "A storm!"', [("joy", "The ship!"), ("fear", "A storm!")]),
        ('1. (Joy) "The ship!", (Fear) "A storm!"', [("joy", "The ship!"), ("fear", "A storm!")]),
        ('1. (Joy) "He said "here" and laughed."', [("joy", 'He said "here" and laughed.')]),
        ('1. (Joy) "The ship," she cried. "At last!"', [("joy", "The ship,")]),
        (r"1. (Joy) \"The ship!\"", [("joy", "The ship!")]),
        ("Neutral:\n1. Well: it is noon.", [("neutral", "Well: it is noon.")]),
        ('Neutral:\n1. "It is noon." (neutral)', [("neutral", "It is noon.")]),
        ('1. (Joy) I said: "come home".', [("joy", 'I said: "come home".')]),
        ("1. (Joy) I love it (the lamp)", [("joy", "I love it (the lamp)")]),
        ('| 1 | Joy | "The ship is here!" |', [("joy", "The ship is here!")]),
    ],
)
def test_forms_of_labelled_utterances(line: str, expected: list[tuple[str, str]]) -> None:
    assert said(line) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1. joy\n0.9\n2. fear\n0.4", [("joy", 0.9), ("fear", 0.4)]),
        ("1. joy\n   Level: 0.9\n2. fear\n   Level: 0.4", [("joy", 0.9), ("fear", 0.4)]),
        ("1. joy\n   - Rating: 0.9\n   - Reason: the ship.\n2. fear\n   - Rating: 0.4", [("joy", 0.9), ("fear", 0.4)]),
        ("1. joy\n(0.9) the ship is here\n2. fear (0.4)", [("joy", 0.9), ("fear", 0.4)]),
        ("1. joy | 0.9 | the ship\n2. fear | 0.4 |", [("joy", 0.9), ("fear", 0.4)]),
        (
            "| Label | Rating | Reason |\n|---|---|---|\n| joy | 0.9 | the ship |\n| fear | 0.4 | |",
            [("joy", 0.9), ("fear", 0.4)],
        ),
        ("1. **joy**: 0.9\n2. *fear*: 0.4", [("joy", 0.9), ("fear", 0.4)]),
        ("1. Label: joy, Rating: 0.9\n2. Label: fear, Rating: 0.4", [("joy", 0.9), ("fear", 0.4)]),
        ("1. (joy) 0.9\n2. [fear] (0.4)", [("joy", 0.9), ("fear", 0.4)]),
        ("joy 0.9, fear 0.4", [("joy", 0.9), ("fear", 0.4)]),
        ("1. joy\n2. 0.9\n", []),
    ],
)
def test_forms_of_labels_with_levels(answer: str, expected: list[tuple[str, float]]) -> None:
    assert levels(answer) == expected


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("Name: Ada Voss\nName: Piet", ["Ada Voss", "Piet"]),
        (
            "1. Name: Ada Voss\n   Role: keeper of the lamp\n2. Name: Piet\n   Role: her uncle",
            ["Ada Voss (keeper of the lamp)", "Piet (her uncle)"],
        ),
        (
            "1. Name: Ada Voss (keeper of the lamp)\n2. Name: Piet (her uncle)",
            ["Ada Voss (keeper of the lamp)", "Piet (her uncle)"],
        ),
        ("**Name:** Ada Voss\n**Who they are:** keeper of the lamp", ["Ada Voss (keeper of the lamp)"]),
        ("Character 1: Ada Voss\nCharacter 2: Piet", ["Ada Voss", "Piet"]),
        (
            "| Name | Role |\n|---|---|\n| Ada Voss | keeper of the lamp |\n| Piet | her uncle |",
            ["Ada Voss (keeper of the lamp)", "Piet (her uncle)"],
        ),
        ("NAME: Ada Voss, WHO THEY ARE: keeper of the lamp", ["Ada Voss (keeper of the lamp)"]),
    ],
)
def test_forms_of_characters(answer: str, names: list[str]) -> None:
    assert [one.actor for one in parse_actors(answer, ACTORS).items] == names


@pytest.mark.parametrize("answer", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_answers_are_parsed_in_time(answer: str) -> None:
    began = time.process_time()
    parse_prose(answer, CONTEXT)
    parse_cleaned(answer, CLEAN)
    rewritten(answer)
    said(answer)
    levels(answer)
    parse_actors(answer, ACTORS)
    assert time.process_time() - began < 10
