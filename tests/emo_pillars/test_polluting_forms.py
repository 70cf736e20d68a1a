"""Forms of answers that were lost, or that put words of the model into the data (Emo Pillars 3)."""

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


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('1. 😨 (Fear) "The stairs moved."', [("fear", "The stairs moved.")]),
        ('1. 😨 Fear: "The stairs moved."', [("fear", "The stairs moved.")]),
        ('😨 **Fear**: "The stairs moved."', [("fear", "The stairs moved.")]),
        ('1. (😡 Anger) "Out again!"', [("anger", "Out again!")]),
        ('1. (Anger 😡) "Out again!"', [("anger", "Out again!")]),
        ('1. "Out again!" → anger', [("anger", "Out again!")]),
        ('1. "Out again!" -> Anger', [("anger", "Out again!")]),
        ('1. "Out again!" => (anger)', [("anger", "Out again!")]),
        ('1. Anger → "Out again!"', [("anger", "Out again!")]),
        ("1. (Anger) Out again! — she is angry because the lamp failed", [("anger", "Out again!")]),
        ("1. (Anger) Out again! – expresses anger at the lamp", [("anger", "Out again!")]),
        ("1. (Anger) Out again! (This shows her anger.)", [("anger", "Out again!")]),
        ("1. (Anger) Out again - and nobody came.", [("anger", "Out again - and nobody came.")]),
        ('1. ~~(Joy) "At last!"~~ (Anger) "Out again!"', [("anger", "Out again!")]),
        ('1. (Anger) "Out again!" [Question]', [("anger", "Out again!")]),
        ("1. (Confusion) Which lamp is it? [Question]", [("confusion", "Which lamp is it?")]),
        ("1. (Fear) [Content removed due to safety policy]", []),
        ("1. (Fear) [REDACTED]", []),
        ("1. (Fear) (No suitable utterance)", []),
        ("1. (Fear) ...", []),
        (
            "Neutral:\n- As an AI language model, I can write neutral lines:\n1. It is noon.",
            [("neutral", "It is noon.")],
        ),
        ("Neutral:\n1. Here are two neutral lines:\n2. It is noon.", [("neutral", "It is noon.")]),
    ],
)
def test_utterances(answer: str, expected: list[tuple[str, str]]) -> None:
    found = labelled_utterances(answer, UTTERANCES, False, NAMES).items
    assert [(one.label, one.utterance) for one in found] == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1. sadness / grief – 0.5\n2. fear – 0.4", [("sadness", 0.5), ("fear", 0.4)]),
        ("1. 😢 sadness (0.5)\n2. 😨 fear (0.4)", [("sadness", 0.5), ("fear", 0.4)]),
        ("1. sadness 😢: 0.5\n2. fear 😨: 0.4", [("sadness", 0.5), ("fear", 0.4)]),
        ("1. sadness → 0.5\n2. fear -> 0.4", [("sadness", 0.5), ("fear", 0.4)]),
        ("1. sadness (or grief): 0.5\n2. fear & nervousness: 0.4", [("sadness", 0.5), ("fear", 0.4)]),
        ("1. sadness = 0.5\n2. ~~joy = 0.8~~ fear = 0.4", [("sadness", 0.5), ("fear", 0.4)]),
    ],
)
def test_levels(answer: str, expected: list[tuple[str, float]]) -> None:
    found = labels_with_levels(answer, LABELS, 5, NAMES).items
    assert [(one.label, one.level) for one in found] == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "1. Ada Voss (keeper)\n   - Goal: to light it\n   - Relationship to others: niece of Piet\n2. Piet",
            ["Ada Voss", "Piet"],
        ),
        ("1. Ada Voss\n- Motivation: the ship\n- Traits: brave\n2. Piet\n- Age: 60", ["Ada Voss", "Piet"]),
        ("1. Ada Voss (keeper)\n2. Piet (uncle)\n3. Ada (same as 1)", ["Ada Voss", "Piet"]),
        ("1. Ada Voss (keeper)\n2. The keeper (see Ada Voss above)\n3. Piet", ["Ada Voss", "Piet"]),
        ("1. 👩 Ada Voss (keeper)\n2. 👴 Piet", ["Ada Voss", "Piet"]),
        ("1. ~~The goat~~\n2. Ada Voss", ["Ada Voss"]),
        ("1. Ada Voss → keeper of the lamp\n2. Piet -> her uncle", ["Ada Voss", "Piet"]),
    ],
)
def test_characters(answer: str, expected: list[str]) -> None:
    assert [one.name for one in parse_actors(answer, ACTORS).items] == expected


@pytest.mark.parametrize(
    "answer",
    [
        "Ada was alone in the tower. A door fell shut. (Without the summary of how she feels.)",
        "Ada was alone in the tower. ~~She was afraid.~~ A door fell shut.",
        "Ada was alone in the tower. A door fell shut.\n\nHuman: Thank you!",
        "Ada was alone in the tower. A door fell shut.\n### Instruction:\nNow the next",
    ],
)
def test_contexts(answer: str) -> None:
    for found in (parse_prose(answer, CONTEXT), parse_cleaned(answer, CLEAN)):
        assert [one.text for one in found.items] == ["Ada was alone in the tower. A door fell shut."]


@pytest.mark.parametrize(
    "answer",
    [
        "Something moved down there. (Without naming the fear.)",
        "~~I am afraid!~~ Something moved down there.",
        "Something moved down there. [Statement]",
        '"Something moved down there." → keeps the fear hidden',
        "Something moved down there.\nHuman: Another one, please.",
    ],
)
def test_rewritten_utterances(answer: str) -> None:
    assert [one.text for one in parse_rewrite(answer, REWRITE, emotions=NAMES).items] == ["Something moved down there."]


@pytest.mark.parametrize(
    "text",
    [
        "Read it (without the summary of the weather) and go.",
        "I said it - she laughed.",
        "He left it all to me — she is my sister.",
        "They removed it (the ring).",
        "Take a -> b as you like.",
        "It was cold (and nobody came).",
    ],
)
def test_speech_is_kept(text: str) -> None:
    found = labelled_utterances(f'1. (Anger) "{text}"', UTTERANCES, False, NAMES).items
    assert [one.utterance for one in found] == [text]
    assert [one.text for one in parse_rewrite(text, REWRITE, emotions=NAMES).items] == [text]
