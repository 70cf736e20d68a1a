"""Contexts, cleaned contexts and rewritten utterances out of answers as models give them, good and bad."""

import pytest

from conf.prompts import prompt
from etl.emo_pillars.prose import parse_prose
from etl.emo_pillars.steps.clean_contexts import parse_cleaned
from etl.emo_pillars.steps.rewrites import parse_rewrite

CONTEXT, CLEAN, REWRITE = (prompt(f"emo_pillars/{name}") for name in ("contexts", "clean_contexts", "rewrites"))
STORY = "Ada had kept the lamp alone since her uncle sailed. A letter came that named the day of his return."


@pytest.mark.parametrize(
    "answer",
    [
        STORY,
        f"  {STORY}\n",
        f"Context: {STORY}",
        f"**Context:** {STORY}",
        f"Sure! Here is what happened:\n\n{STORY}",
        f"Here's the text without feelings:\n{STORY}",
        f'"{STORY}"',
        STORY.replace(". ", ".\n\n"),
        f"{STORY}\n\nNote: I removed one clause.",
        f"{STORY}\n(Note that nothing else was changed.)",
        f"Cleaned text:\n{STORY}",
    ],
)
def test_a_text_stands_without_what_is_said_around_it(answer: str) -> None:
    for parsed in (parse_prose(answer, CONTEXT), parse_cleaned(answer, CLEAN)):
        assert [tuple(one) for one in parsed.items] == [(STORY, False, False)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "no_words"),
        ("...", "no_words"),
        ("Ada waits.", "too_short"),
        ("I'm sorry, I cannot assist with that request, for it has no story in it.", "refusal"),
        ("Start as early in the story as it takes to understand them, and stop just before.", "repeats_prompt"),
    ],
)
def test_what_is_no_context_is_rejected(answer: str, reason: str) -> None:
    parsed = parse_prose(answer, CONTEXT)
    assert parsed.items == []
    assert [one.reason for one in parsed.rejected] == [reason]


def test_a_context_that_was_cut_off_ends_with_its_last_sentence() -> None:
    parsed = parse_prose(f"{STORY} And then the lam", CONTEXT, cut_off=True)
    assert [tuple(one) for one in parsed.items] == [(STORY, True, False)]
    assert parse_prose("Ada had kept the lamp alone since", CONTEXT, cut_off=True).rejected[0].reason == "cut_off"


@pytest.mark.parametrize(
    "answer",
    [
        "The text does not speak of feelings.",
        "There are no clauses that speak of emotions in the text.",
        "No changes are needed.",
        "Nothing to remove.",
        "The given context doesn't discuss emotions, so it stays unchanged.",
    ],
)
def test_nothing_to_clean_is_an_answer(answer: str) -> None:
    parsed = parse_cleaned(answer, CLEAN)
    assert [one.unchanged for one in parsed.items] == [True]


def test_a_story_that_begins_like_such_an_answer_is_a_story() -> None:
    text = "There are no ships at the island when Ada climbs the stairs, lights the lamp and waits for a sail. " * 2
    text += "At noon a boat comes around the cape with her uncle at the oars."
    assert [one.unchanged for one in parse_cleaned(text, CLEAN).items] == [False]


@pytest.mark.parametrize(
    "answer",
    [
        "The lamp is out.",
        '"The lamp is out."',
        "“The lamp is out.”",
        'Rewritten utterance: "The lamp is out."',
        'Ada Voss: "The lamp is out."',
        'Here is a way to say it:\n\n"The lamp is out."\n\nThis hides how she feels.',
        '1. "The lamp is out."\n2. "It is dark up there."',
        '"The lamp is out." (her worry is hidden)',
        "**The lamp is out.**",
        "New words: The lamp is out.",
    ],
)
def test_a_rewritten_utterance_stands_alone(answer: str) -> None:
    assert [one.text for one in parse_rewrite(answer, REWRITE).items] == ["The lamp is out."]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "no_words"),
        ("?!", "no_words"),
        ("As a language model I have no feelings to hide.", "refusal"),
        ("I cannot write hateful content. Instead, here are some tips:\n1. Take a deep breath.", "refusal"),
        ('"After all that, the lamp ag', "cut_off"),
        ("Say it in other words, so that somebody who does not know what happened could not tell", "repeats_prompt"),
        ("so " * 101, "too_long"),
    ],
)
def test_what_is_no_rewriting_is_rejected(answer: str, reason: str) -> None:
    parsed = parse_rewrite(answer, REWRITE)
    assert parsed.items == []
    assert [one.reason for one in parsed.rejected] == [reason]
