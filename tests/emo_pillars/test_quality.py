"""Faults of answers that parse well, and the account of stored answers."""

import pytest

from conf.prompts import prompt
from etl.emo_pillars.quality import text_faults
from etl.emo_pillars.settings import EmoPillarsSettings, QualitySettings
from etl.emo_pillars.step import OURS, Rules
from etl.emo_pillars.steps import SYNTHESIS
from etl.emo_pillars.steps.rewrites import is_of_other_person, rewrite_faults
from etl.emo_pillars.steps.soft_labels import label_faults
from etl.emo_pillars.steps.utterances import utterance_faults

NAMES = OURS.known_names
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
    assert text_faults(text, ["joy"], NAMES) == faults


def test_utterances_of_other_emotions_that_are_the_same() -> None:
    said = [
        ("joy", "I feel joy when I see the lamp"),
        ("anger", "I feel anger when I see the lamp"),
        ("fear", "Who is at the door?"),
        ("grief", "Oh"),
    ]
    assert utterance_faults(said, NAMES) == [
        ["names_emotion", "same_across_emotions"],
        ["names_emotion", "same_across_emotions"],
        [],
        ["too_few_words"],
    ]
    equal = [("joy", "The lamp burns on."), ("joy", "The lamp burns on!")]
    assert utterance_faults(equal, NAMES) == [[], []]


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
    assert rewrite_faults(text, SAID, NAMES) == faults


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
    assert label_faults(levels) == faults


def test_bare_lists_of_labels_parse_and_are_not_usable() -> None:
    """Five answers that a small model gives in place of rewritten utterances."""
    answers = ("joy, love, admiration", "Anger", "1. Joy\n2. Love", '"fear and sadness"', "Emotions: joy, pride")
    for answer in answers:
        parsed = STEPS["rewrites"].items_of(rules("rewrites"), answer, False, SAID)
        assert parsed.items == [], answer
        assert parsed.rejected[0].reason == "list_of_labels", answer
        kept = STEPS["rewrites"].items_of(rules("rewrites", reject=()), answer, False, SAID)
        assert "list_of_labels" in kept.items[0][-1]


GERMAN = """1. (Wut) "Wer hat gestern Nacht meinen Wagen genommen?"
2. (joy) "Endlich gehört der Wagen mir, komm und sieh!"
Neutral:
3. (neutral) "Der Wagen steht mittags an der Wand."
4. (neutral) "Zehn Minuten."
5. (neutral) "The lamp is over there by the wall."
"""


def test_an_answer_in_another_language_than_its_prompt_is_rejected() -> None:
    parsed = STEPS["utterances"].items_of(rules("utterances"), GERMAN, False, {})
    assert [item[1] for item in parsed.items] == ["The lamp is over there by the wall."]
    assert [one.reason for one in parsed.rejected] == ["unknown_label", *["other_language"] * 3]
    kept = STEPS["utterances"].items_of(rules("utterances", reject=()), GERMAN, False, {})
    assert [item[-1] for item in kept.items] == [["other_language"]] * 3 + [[]]
    asked_in_german = rules("utterances")._replace(template="Schreibe zu dieser Geschichte zehn Sätze der Figur auf.")
    assert len(STEPS["utterances"].items_of(asked_in_german, GERMAN, False, {}).items) == 4


@pytest.mark.parametrize("step", ["contexts", "clean_contexts", "rewrites"])
def test_a_text_in_another_language_than_its_prompt_is_rejected(step: str) -> None:
    answer = "Die Lampe brennt wieder, und alle im Hafen können das Licht sehen."
    parsed = STEPS[step].items_of(rules(step), answer, False, SAID)
    assert (parsed.items, [one.reason for one in parsed.rejected]) == ([], ["other_language"])


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


def test_the_sections_default_rejects_what_no_use_can_be_made_of() -> None:
    assert EmoPillarsSettings().quality.reject == ("other_language", "list_of_labels", "repeats_itself")
