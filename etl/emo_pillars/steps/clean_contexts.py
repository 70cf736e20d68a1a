"""A context without mentions of emotions (Emo Pillars 3.4)."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.emo_pillars.answers import Parsed, plain
from etl.emo_pillars.examples import with_needed_context
from etl.emo_pillars.prompts import spoken_slots
from etl.emo_pillars.prose import Prose, parse_prose
from etl.emo_pillars.quality import judged, of_other_language, text_faults
from etl.emo_pillars.remarks import without_unchanged
from etl.emo_pillars.step import FAULTS_COLUMN, PROSE, REQUEST_COLUMN, Asked, Rules, Step, text_schema
from etl.emo_pillars.steps import contexts
from etl.emo_pillars.tables import EXAMPLES
from etl.llm.json_answers import json_value, prose_of
from etl.llm.prompt_texts import as_data


def parse_cleaned(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """Parse a cleaned context. The result is ``unchanged`` if nothing is to be removed (Emo Pillars 3.4)."""
    value = json_value(answer)
    text, unchanged = (answer, False) if value is None else prose_of(value)
    if unchanged:
        return Parsed([Prose("", unchanged=True)], [])
    text = plain(text)
    left = without_unchanged(text)
    if text.strip() and not left:
        return Parsed([Prose("", unchanged=True)], [])
    return parse_prose(left, template, cut_off)


def ask(contexts: DataFrame, examples: DataFrame) -> Asked:
    """Ask for each context without mentions of emotions (Emo Pillars 3.4)."""
    units = contexts.select("utterance_id", "context").join(with_needed_context(examples), "utterance_id")
    return Asked(units, {"context": as_data(F.col("context")), **spoken_slots()})


def read(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    """Parse the cleaned contexts (Emo Pillars 3.4)."""
    parsed = parse_cleaned(answer, rules.template, cut_off)
    texts = [(given.get("context") or "") if one.unchanged else one.text for one in parsed.items]
    faults = [
        foreign + text_faults(text, given.get("labels") or (), rules.names)
        for text, foreign in zip(texts, of_other_language(texts, rules.template), strict=True)
    ]
    return judged(parsed, texts, faults, rules.quality.reject)


STEP = Step(
    name="clean_contexts",
    asked_for="a context without emotions (Emo Pillars 3.4)",
    reads=(contexts.STEP.table, EXAMPLES),
    ask=ask,
    schema=lambda taxonomy: text_schema("cleaned_context"),
    unit="context",
    unit_key="utterance_id",
    given={"labels": "labels.label", "context": "context"},
    item=PROSE,
    read=read,
    row="A context without a word on the character's emotions (Emo Pillars 3.4).",
    columns=f"""
    utterance_id string, context string, cut boolean,
    unchanged boolean COMMENT 'the model left the context as it was', {FAULTS_COLUMN}, {REQUEST_COLUMN}
    """,
    key=("utterance_id",),
    values={"context": "if(item.unchanged, context, item.text)"},
    accounting="contexts",
    version=8,
)
