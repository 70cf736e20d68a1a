"""A context without mentions of emotions (Emo Pillars 3.4)."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.llm_settings import DecodingSettings
from etl.emo_pillars.answers import Parsed, plain
from etl.emo_pillars.examples import with_needed_context
from etl.emo_pillars.prompts import emotions
from etl.emo_pillars.prose import Prose, parse_prose
from etl.emo_pillars.quality import judged, text_faults
from etl.emo_pillars.remarks import without_unchanged
from etl.emo_pillars.step import OURS, PROSE, Rules, Step, Wording, text_schema
from etl.llm.json_answers import json_value, prose_of
from etl.llm.prompt_texts import as_data, filled
from etl.llm.requests import answered_request, with_requests
from etl.pipeline.outcome import Outcome


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


def _judged(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    parsed = parse_cleaned(answer, rules.template, cut_off)
    texts = [(given.get("context") or "") if one.unchanged else one.text for one in parsed.items]
    faults = [text_faults(text, given.get("labels") or (), rules.names) for text in texts]
    return judged(parsed, texts, faults, rules.quality.reject)


STEP = Step(
    name="clean_contexts",
    unit="context",
    key="utterance_id",
    item=PROSE,
    parse=_judged,
    schema=lambda taxonomy: text_schema("cleaned_context"),
)


def clean_contexts_prompt(context: Column, actor: Column, emotions: Column, wording: Wording = OURS) -> Column:
    """Ask for a context without mentions of emotions, given actor and emotions (Emo Pillars 3.4)."""
    slots = {"actor": as_data(actor), "context": as_data(context), "emotions": emotions}
    return filled(STEP.template(wording=wording), slots)


def requests(
    contexts: DataFrame, examples: DataFrame, decoding: DecodingSettings, wording: Wording = OURS
) -> DataFrame:
    """Return one prompt per context (Emo Pillars 3.4)."""
    units = contexts.select("utterance_id", "context").join(with_needed_context(examples), "utterance_id")
    prompt = clean_contexts_prompt(F.col("context"), F.col("actor"), emotions(), wording)
    template = STEP.template(wording=wording)
    return with_requests(units, prompt, STEP.decoding(decoding, wording=wording), template=template)


def rows(answers: DataFrame, quality: Any, wording: Wording = OURS) -> Outcome:
    """Return ``emo_pillars.clean_contexts``, with the original context if it is unchanged (Emo Pillars 3.4).

    Args:
        answers: rows of ``etl.llm.requests.with_answers``.
        quality: the section ``emo_pillars.quality``.
        wording: of the prompts.
    """
    given = {"labels": F.col("labels")["label"], "context": F.col("context")}
    items, dropped = STEP.read(answers, STEP.rules(quality, wording=wording), given)
    cleaned = F.when(F.col("item.unchanged"), F.col("context")).otherwise(F.col("item.text"))
    columns = (cleaned.alias("context"), "item.cut", "item.unchanged", "item.faults", answered_request())
    return Outcome(items.select("utterance_id", *columns), dropped)
