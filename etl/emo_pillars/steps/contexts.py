"""The context of an utterance: the events that led to it (Emo Pillars 3.4)."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.llm_settings import DecodingSettings
from etl.emo_pillars.answers import Parsed
from etl.emo_pillars.examples import with_needed_context
from etl.emo_pillars.prompts import emotions, spoken_slots
from etl.emo_pillars.prose import parse_prose
from etl.emo_pillars.quality import judged, text_faults
from etl.emo_pillars.step import OURS, PROSE, Rules, Step, Wording, text_schema
from etl.llm.prompt_texts import as_data, filled
from etl.llm.requests import answered_request, with_requests
from etl.pipeline.outcome import Outcome


def _judged(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    parsed = parse_prose(answer, rules.template, cut_off)
    texts = [one.text for one in parsed.items]
    faults = [text_faults(text, given.get("labels") or (), rules.names) for text in texts]
    return judged(parsed, texts, faults, rules.quality.reject)


STEP = Step(
    name="contexts",
    unit="context",
    key="utterance_id",
    item=PROSE,
    parse=_judged,
    schema=lambda taxonomy: text_schema("context"),
)


def contexts_prompt(
    plot: Column, actor: Column, utterance: Column, emotions: Column, wording: Wording = OURS
) -> Column:
    """Ask for the events before an utterance, given plot, actor and emotions (Emo Pillars 3.4)."""
    return filled(STEP.template(wording=wording), {"plot": as_data(plot)} | spoken_slots(actor, utterance, emotions))


def requests(examples: DataFrame, plots: DataFrame, decoding: DecodingSettings, wording: Wording = OURS) -> DataFrame:
    """Return one prompt per example that needs a context (Emo Pillars 3.4, 4)."""
    units = with_needed_context(examples).join(plots.select("plot_id", "plot"), "plot_id")
    prompt = contexts_prompt(F.col("plot"), F.col("actor"), F.col("utterance"), emotions(), wording)
    decoded = STEP.decoding(decoding, wording=wording)
    template = STEP.template(wording=wording)
    return with_requests(units, prompt, decoded, together=F.col("plot_id"), template=template)


def rows(answers: DataFrame, quality: Any, wording: Wording = OURS) -> Outcome:
    """Return ``emo_pillars.contexts`` (Emo Pillars 3.4).

    Args:
        answers: rows of ``etl.llm.requests.with_answers``.
        quality: the section ``emo_pillars.quality``.
        wording: of the prompts.
    """
    items, dropped = STEP.read(answers, STEP.rules(quality, wording=wording), {"labels": F.col("labels")["label"]})
    columns = (F.col("item.text").alias("context"), "item.cut", "item.faults", answered_request())
    return Outcome(items.select("utterance_id", *columns), dropped)
