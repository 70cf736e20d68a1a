"""Answers in JSON, as servers with a schema and chat models give them, for each step (Emo Pillars 3)."""

import time

import pytest

from conf.prompts import prompt
from etl.emo_pillars.prose import parse_prose
from etl.emo_pillars.step import OURS
from etl.emo_pillars.steps.actors import parse_actors
from etl.emo_pillars.steps.clean_contexts import parse_cleaned
from etl.emo_pillars.steps.rewrites import parse_rewrite
from etl.emo_pillars.steps.soft_labels import labels_with_levels
from etl.emo_pillars.steps.topic_categories import parse_categories
from etl.emo_pillars.steps.topic_names import parse_topic_name
from etl.emo_pillars.steps.utterances import labelled_utterances
from etl.llm.json_answers import json_value

ACTORS, UTTERANCES, LABELS, CONTEXT, CLEAN, REWRITE = (
    prompt(f"emo_pillars/{step}")
    for step in ("actors", "utterances", "soft_labels", "contexts", "clean_contexts", "rewrites")
)
NAMES = OURS.known_names


@pytest.mark.parametrize(
    "answer",
    [
        '[{"name": "Ada Voss", "description": "keeper of the lamp"}, {"name": "Piet", "description": "her uncle"}]',
        '```json\n{"characters": [{"name": "Ada Voss", '
        '"role": "keeper of the lamp"},\n{"name": "Piet", "role": "her uncle"},]}\n```',
        'Here is the list:\n```\n[{"Character Name": "Ada Voss", '
        '"Who they are": "keeper of the lamp"}, {"Character Name": "Piet", "Who they are": "her uncle"}]\n```\nDone!',
        '{"Ada Voss": "keeper of the lamp", "Piet": "her uncle"}',
        '{"characters": {"Ada Voss": "keeper of the lamp", "Piet": "her uncle"}}',
        '["Ada Voss (keeper of the lamp)", "Piet (her uncle)"]',
        '{"name": "Ada Voss", "role": "keeper of the lamp"}\n{"name": "Piet", "role": "her uncle"}',
        "[{'name': 'Ada Voss', 'role': 'keeper of the lamp'}, {'name': 'Piet', 'role': 'her uncle'}]",
        '{"actors": [{"name": "Ada Voss", "about": "keeper of the lamp"}, {"name": "Piet", "about": "her uncle"}, {"na',
    ],
)
def test_characters(answer: str) -> None:
    found = parse_actors(answer, ACTORS)
    assert [one.actor for one in found.items] == ["Ada Voss (keeper of the lamp)", "Piet (her uncle)"]


@pytest.mark.parametrize(
    "answer",
    [
        '[{"emotion": "Joy", "utterance": "The ship is here!"}, {"emotion": "neutral", "utterance": "It is noon."}]',
        '```json\n{"emotional": [{"label": "joy", "text": "The ship is here!"}], "neutral": ["It is noon."]}\n```',
        '{"utterances": [{"emotion": "joy", "words": "The ship is here!"}], '
        '"neutral_utterances": [{"words": "It is noon."}]}',
        '{"joy": "The ship is here!", "neutral": ["It is noon."]}',
        '{"utterances": {"joy": "The ship is here!", "neutral": "It is noon."}}',
        '```json\n[{"emotion": "joy", "words": "The ship is here!"}]\n```\n'
        '```json\n[{"emotion": "neutral", "words": "It is noon."}]\n```',
        '[{"emotion": "joy", "words": "The ship\\nis here!"}, {"emotion": "neutral", "words": "It is noon."}]',
        '[{"emotion": "joy", "words": ""The ship is here!""}, {"emotion": "neutral", "words": "It is noon."}]',
        '[{"emotion": ["joy", "love"], "quote": "The ship is here!"}, {"label": "neutral", '
        '"quote": "It is noon."}, {"label": "f',
    ],
)
def test_utterances(answer: str) -> None:
    found = labelled_utterances(answer, UTTERANCES, False, NAMES)
    assert [(one.label, one.utterance) for one in found.items] == [
        ("joy", "The ship is here!"),
        ("neutral", "It is noon."),
    ]


@pytest.mark.parametrize("fence", ["", "```json\n", "~~~\n", "Here it is:\n```\n"])
@pytest.mark.parametrize("words", ["The ```ship``` is here!", "It's here!", 'He said "ahoy" to me.'])
def test_marks_within_a_string(fence: str, words: str) -> None:
    quote = "'" if "'" in words else '"'
    record = f"{{{quote}emotion{quote}: {quote}joy{quote}, {quote}words{quote}: {quote}{words}{quote}}}"
    answer = f"{fence}[{record}, {record.replace('joy', 'fear')}]{fence.split()[-1][:3] if fence else ''}"
    value = json_value(answer)
    assert value == [{"emotion": "joy", "words": words}, {"emotion": "fear", "words": words}]


@pytest.mark.parametrize(
    "answer",
    [
        '[{"label": "joy", "level": 0.9}, {"label": "fear", "level": 0.4}]',
        '```json\n{"labels": [{"emotion": "joy", "score": "0.9", "reason": "the ship"}, '
        '{"emotion": "fear", "score": 0.4}]}\n```',
        '{"joy": 0.9, "fear": 0.4}',
        '{"emotions": {"joy": 0.9, "fear": "40%"}}',
        '1. joy\n[{"label": "joy", "rating": 0.9}, {"label": "fear", "rating": 0.4}]',
        '["joy (0.9)", "fear (0.4)"]',
        '[{"joy": 0.9}, {"fear": 0.4}]',
    ],
)
def test_levels(answer: str) -> None:
    found = labels_with_levels(answer, LABELS, 5, NAMES)
    assert [(one.label, one.level) for one in found.items] == [("joy", 0.9), ("fear", 0.4)]


@pytest.mark.parametrize(
    "answer",
    [
        '{"context": "Ada was alone in the tower. A door fell shut."}',
        '```json\n{\n  "background": "Ada was alone in the tower. A door fell shut."\n}\n```',
        '{"result": {"text": "Ada was alone in the tower. A door fell shut."}}',
        '{"cleaned_context": "Ada was alone in the tower. A door fell shut.", "removed": ["She was afraid."]}',
    ],
)
def test_contexts(answer: str) -> None:
    for found in (parse_prose(answer, CONTEXT), parse_cleaned(answer, CLEAN)):
        assert [one.text for one in found.items] == ["Ada was alone in the tower. A door fell shut."]


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ('{"contexte": "Ada was alone in the tower."}', ["Ada was alone in the tower."]),
        (
            '{"contexte": "Ada was alone up there.", "explication": "No words that name a feeling are left in it."}',
            ["Ada was alone up there."],
        ),
        ('{"eins": "Ada was alone up there.", "zwei": "A door fell shut below, very slowly."}', []),
    ],
)
def test_keys_that_nobody_asked_for(answer: str, texts: list[str]) -> None:
    found = parse_prose(answer, CONTEXT)
    assert [one.text for one in found.items] == texts
    assert len(found.rejected) == 1 - len(texts)


def test_an_unchanged_context() -> None:
    (found,) = parse_cleaned('{"cleaned_context": null, "unchanged": true}', CLEAN).items
    assert found.unchanged


@pytest.mark.parametrize(
    "answer",
    [
        '{"rewritten": "Something moved down there."}',
        '```json\n{"rewritten_utterance": "\\"Something moved down there.\\"", '
        '"explanation": "It hides the fear."}\n```',
        '{"newWords": "Something moved down there."}',
    ],
)
def test_rewritten_utterances(answer: str) -> None:
    assert [one.text for one in parse_rewrite(answer, REWRITE, emotions=NAMES).items] == ["Something moved down there."]


def test_topics() -> None:
    assert [one.text for one in parse_topic_name('{"topic": "Oil and clocks"}', "").items] == ["Oil and clocks"]
    answer = '[{"topic": 1, "category": "Daily life"}, {"topic": 2, "category": "Travel"}]'
    assert [tuple(one) for one in parse_categories(answer, "").items] == [(1, "Daily life"), (2, "Travel")]


@pytest.mark.parametrize(
    "answer",
    [
        "1. [Joy] The ship!",
        '[Joy] "The ship!"',
        "{plot}",
        "He wrote [sic] and {so on}.",
        '1. (Joy) ["The ship!"]',
        "[1]",
    ],
)
def test_text_with_brackets_is_no_json(answer: str) -> None:
    assert json_value(answer) is None


@pytest.mark.parametrize(
    "answer",
    [
        '[{"a":' * 2_500,
        '["' * 6_000,
        '{"a": [' * 2_000,
        "```" * 6_000,
        '["' + "'a'," * 4_000,
        "[" + '{"a": ""b"' * 1_500,
        '{"' + "a" * 19_000,
        "//" * 9_000 + '{"',
    ],
)
def test_hostile_json_is_read_in_time(answer: str) -> None:
    began = time.process_time()
    json_value(answer)
    assert time.process_time() - began < 3
