"""Faults of answers that parse well, and the account of stored answers."""

import pytest

from conf.emo_pillars_settings import EmoPillarsSettings, QualitySettings
from conf.prompts import prompt
from etl.emo_pillars.answer_quality import OTHER, judged_answer
from etl.emo_pillars.prompts import PLAIN
from etl.emo_pillars.quality import text_faults
from etl.emo_pillars.step import OURS, Rules, slots_of
from etl.emo_pillars.steps import SYNTHESIS
from etl.emo_pillars.steps.rewrites import is_of_other_person, rewrite_faults
from etl.emo_pillars.steps.soft_labels import label_faults
from etl.emo_pillars.steps.utterances import utterance_faults

NAMES = OURS.taxonomy.known_names
STEPS = {step.name: step for step in SYNTHESIS}
QUALITY = QualitySettings()
SAID = {"utterance": "I can see the lamp from my window.", "actor": "Ada Voss (keeper of the lamp)", "labels": ["joy"]}


def rules(step: str, **changed: object) -> Rules:
    return Rules(prompt(f"emo_pillars/{step}"), NAMES, QUALITY.model_copy(update=changed))


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("The lamp is burning again.", []),
        ("joy, love, admiration", ["list_of_labels", "names_emotion"]),
        ("Anger and fear", ["list_of_labels"]),
        ("1. Joy", ["list_of_labels", "names_emotion"]),
        ("What a joy to see the lamp!", ["names_emotion"]),
        ("He was joyful and enjoyed it.", []),
        ("She lights the lamp again. Wind. She lights the lamp again! She lights the lamp AGAIN.", ["repeats_itself"]),
        ("Come home. Come home. Come home. Come home.", []),
        ("She lights the lamp again. She lights the lamp again.", []),
    ],
)
def test_texts(text: str, faults: list[str]) -> None:
    assert text_faults(text, ["joy"], NAMES, QUALITY) == faults


def test_utterances_of_other_emotions_that_are_the_same() -> None:
    said = [
        ("joy", "I feel joy when I see the lamp"),
        ("anger", "I feel anger when I see the lamp"),
        ("fear", "Who is at the door?"),
        ("grief", "Oh"),
    ]
    assert utterance_faults(said, NAMES, QUALITY) == [
        ["names_emotion", "same_across_emotions"],
        ["names_emotion", "same_across_emotions"],
        [],
        ["too_few_words"],
    ]
    equal = [("joy", "The lamp burns on."), ("joy", "The lamp burns on!")]
    assert utterance_faults(equal, NAMES, QUALITY) == [[], []]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("From my window it shines.", []),
        ("The lamp is there.", []),
        ("joy", ["list_of_labels", "names_emotion", "too_few_words"]),
        ("I can see the lamp, from my window!", ["same_as_original"]),
        ("Ada sees the lamp from the window.", ["other_person"]),
        ("She can see it from there.", ["other_person"]),
        ("The character looks at the lamp.", ["other_person"]),
        ("He put it there for me.", []),
        ("so " * 27, ["too_many_words"]),
        ("so " * 26, []),
    ],
)
def test_rewritten_utterances(text: str, faults: list[str]) -> None:
    assert rewrite_faults(text, SAID, NAMES, QUALITY) == faults


@pytest.mark.parametrize(
    ("words", "before", "other"),
    [
        ("he is late", "he is late again", False),
        ("he is late", "i wait for him", True),
        ("he let me wait", "i wait for him", False),
        ("", "i wait", False),
        ("this person is late", "late", True),
    ],
)
def test_the_person_of_words(words: str, before: str, other: bool) -> None:
    assert is_of_other_person(words.split(), before.split(), "") is other


@pytest.mark.parametrize(
    ("levels", "faults"),
    [
        ([("joy", 0.9), ("love", 0.4)], []),
        ([("joy", 0.9)], ["few_labels"]),
        ([("joy", 0.9), ("love", 0.9), ("pride", 0.9)], ["equal_levels"]),
        ([("joy", 0.9), ("love", 0.9)], []),
        ([("joy", 0.9), ("joy", 0.4)], ["few_labels"]),
    ],
)
def test_labels_with_levels(levels: list[tuple[str, float]], faults: list[str]) -> None:
    assert label_faults(levels, QUALITY) == faults


def test_bare_lists_of_labels_parse_and_are_not_usable() -> None:
    """Five answers that a small model gives in place of rewritten utterances."""
    answers = ("joy, love, admiration", "Anger", "1. Joy\n2. Love", '"fear and sadness"', "Emotions: joy, pride")
    for answer in answers:
        parsed = STEPS["rewrites"].items_of(rules("rewrites"), answer, False, SAID)
        assert parsed.items == [], answer
        assert parsed.rejected[0].reason == "list_of_labels", answer
        kept = STEPS["rewrites"].items_of(rules("rewrites", reject=()), answer, False, SAID)
        assert "list_of_labels" in kept.items[0][-1]


def test_faults_are_a_column_or_a_reason_by_setting() -> None:
    answer = '1. (Joy) "What a joy!"\n2. (Fear) "Who is at the door?"'
    kept = STEPS["utterances"].items_of(rules("utterances"), answer, False, {})
    assert [(item[1], item[-1]) for item in kept.items] == [
        ("What a joy!", ["names_emotion"]),
        ("Who is at the door?", []),
    ]
    some = STEPS["utterances"].items_of(rules("utterances", reject=("names_emotion",)), answer, False, {})
    assert [item[1] for item in some.items] == ["Who is at the door?"]
    assert [(one.reason, one.text) for one in some.rejected] == [("names_emotion", "What a joy!")]


def test_a_context_that_stays_as_it_was_is_judged_too() -> None:
    given = {"labels": ["joy"], "context": "Her joy was great when the ship came into the harbour."}
    parsed = STEPS["clean_contexts"].items_of(rules("clean_contexts"), "No changes are needed.", False, given)
    assert parsed.items == [("", False, True, ["names_emotion"])]


def filled(step: str, **values: str) -> str:
    text = prompt(f"emo_pillars/{step}")
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text


@pytest.mark.parametrize("step", STEPS)
def test_what_a_prompt_contained_is_read_out_of_it(step: str) -> None:
    template = prompt(f"emo_pillars/{step}")
    slots = ["plot", "actor", "utterance", "emotions", "context", "definitions", "start", "top", "emotional", "neutral"]
    values = {name: f"some {name}\nwith (marks) and {{braces}}" for name in slots}
    found = slots_of(template, filled(step, **values))
    assert found == {name: value for name, value in values.items() if "{" + name + "}" in template}
    assert slots_of(template, "another prompt") is None


def test_a_stored_answer_is_judged_with_what_its_prompt_contained() -> None:
    asked = filled(
        "rewrites", context="It is dark.", actor=SAID["actor"], utterance=SAID["utterance"], emotions="joy, love"
    )
    name, items, usable, faults, rejected = judged_answer(
        STEPS["rewrites"], rules("rewrites"), asked, "She sees love.", False
    )
    assert len(name) == 8
    assert (items, usable) == (1, 0)
    assert rejected == []
    assert faults == ["names_emotion", "other_person"]
    assert judged_answer(STEPS["rewrites"], rules("rewrites"), asked, None, False) == (name, None, None, [], [])
    other = judged_answer(STEPS["rewrites"], rules("rewrites"), "an old prompt", "She sees it now.", False)
    assert other == (OTHER, 1, 1, [], [])
    assert judged_answer(STEPS["rewrites"], rules("rewrites"), asked, "I cannot rewrite that.", False)[1:] == (
        0,
        0,
        [],
        ["refusal"],
    )


@pytest.mark.parametrize(
    ("step", "answer"), [("utterances", '1. (joy) "I see it now."'), ("soft_labels", "1. joy (0.9)\n2. love (0.8)")]
)
def test_a_prompt_of_either_order_is_told_by_its_template(step: str, answer: str) -> None:
    forms = tuple(map(STEPS[step].template, STEPS[step].forms))
    said = {"plot": "It is dark.", "actor": SAID["actor"], "utterance": SAID["utterance"], "start": "1. joy"}
    said |= {"definitions": "- joy: joy", "emotional": "8", "neutral": "2", "top": "5"}
    judged = [
        judged_answer(STEPS[step], rules(step), filled(name, **said), answer, False, forms[1:])
        for name in (step, f"{step}_{STEPS[step].form}")
    ]
    assert len({one[0] for one in judged}) == 2
    assert OTHER not in {one[0] for one in judged}
    assert judged[0][1] == judged[1][1] > 0
    assert judged[0][2:] == judged[1][2:]
    assert {slot for slot in said if "{" + slot + "}" in forms[0]} == {
        slot for slot in said if "{" + slot + "}" in forms[1]
    }


def test_a_rewriting_prompt_of_either_form_is_told_by_its_template() -> None:
    names = ("rewrites", "rewrites_example")
    assert STEPS["rewrites"].forms == (PLAIN, "example")
    forms = tuple(prompt(f"emo_pillars/{name}") for name in names)
    said = {"context": "It is dark.", "actor": SAID["actor"], "utterance": SAID["utterance"], "emotions": "joy"}
    judged = [
        judged_answer(STEPS["rewrites"], rules("rewrites"), filled(name, **said), '"I see it now."', False, forms)
        for name in names
    ]
    assert len({one[0] for one in judged}) == 2
    assert OTHER not in {one[0] for one in judged}
    assert [one[1:] for one in judged] == [(1, 1, [], [])] * 2
    echoed = "So I ran all that way, and then nothing but a locked door."  # of the examples
    assert (
        judged_answer(STEPS["rewrites"], rules("rewrites"), filled("rewrites_example", **said), echoed, False, forms)[1]
        == 0
    )


def test_the_sections_default_rejects_what_no_use_can_be_made_of() -> None:
    assert EmoPillarsSettings().quality.reject == ("list_of_labels", "repeats_itself")
