"""Answers whose form a JSON schema prescribes: what servers are sent, and that answers of the form are read whole."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from conf.errors import InputError
from conf.llm_settings import DecodingSettings
from etl.augesc.conversation_texts import instruction, parse, prompt
from etl.augesc.generation import with_schema
from etl.emo_pillars.settings import EmoPillarsSettings
from etl.emo_pillars.step import OURS, Rules, Step
from etl.emo_pillars.steps import SYNTHESIS, topic_names
from udfs.llm_requests import Request
from udfs.openai_server import extra_fields

TASK = instruction()
SCHEMA = '{"type": "object"}'


@pytest.mark.parametrize("dialect", ["vllm", "llama.cpp", "openai"])
@pytest.mark.parametrize(
    ("form", "field"),
    [
        ("json", {"type": "json_object"}),
        (
            SCHEMA,
            {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True}},
        ),
    ],
)
def test_a_form_is_sent_as_servers_know_it(dialect: str, form: str, field: dict[str, Any]) -> None:
    sent = extra_fields(Request("p"), DecodingSettings(response_format=form), dialect)
    assert sent["response_format"] == field
    assert "response_format" not in extra_fields(Request("p"), DecodingSettings(), dialect)


@pytest.mark.parametrize("form", ["{", "[1]", "lines", ""])
def test_what_is_no_schema_is_refused(form: str) -> None:
    with pytest.raises(ValidationError, match="a JSON schema as text"):
        DecodingSettings(response_format=form)


def test_no_form_leaves_the_hash_of_stored_answers_alone() -> None:
    assert "response_format" not in DecodingSettings().text()
    assert "response_format" in DecodingSettings(response_format="json").text()


def example(schema: dict[str, Any], words: str) -> Any:
    """Return a value of a schema."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {name: example(inner, words) for name, inner in schema["properties"].items()}
    if schema["type"] == "array":
        return [example(schema["items"], words)]
    return 0.5 if schema["type"] == "number" else words


WITH_SCHEMA = [step for step in SYNTHESIS if step.schema is not None]


@pytest.mark.parametrize("step", WITH_SCHEMA, ids=lambda step: step.name)
def test_an_answer_of_a_steps_schema_is_read(step: Step) -> None:
    decoding = step.decoding(DecodingSettings(response_format="step"))
    schema = json.loads(decoding.response_format or "")
    rules = Rules(step.template(), OURS.known_names, EmoPillarsSettings().quality)
    answers = [json.dumps(example(schema, words)) for words in ("Ada lights the lamp again.", "kitchen")]
    parsed = [step.items_of(rules, answer, False, {}) for answer in answers]
    assert len(WITH_SCHEMA) >= 6
    assert [one for one in parsed if len(one.items) == 1 and not one.rejected]


def test_a_step_without_a_schema_says_so() -> None:
    with pytest.raises(InputError, match=r"topic_names\.response_format"):
        topic_names.STEP.decoding(DecodingSettings(response_format="step"))


def test_a_conversation_of_the_schema_is_read() -> None:
    schema = json.loads(with_schema(DecodingSettings(response_format="step")).response_format or "")
    parsed = parse(prompt("My shifts were cut .", TASK) + json.dumps(example(schema, "Since when ?")), TASK)
    assert [turn.text for turn in parsed.turns] == ["My shifts were cut .", "Since when ?"]
    assert parsed.faulty == ()
