"""The name of a topic, from examples of its utterances (Emo Pillars H)."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.llm_settings import DecodingSettings
from etl.emo_pillars.answers import Line, Parsed, Rejected, lines_of
from etl.emo_pillars.names import bare_name, problem_of_name
from etl.emo_pillars.step import OURS, Rules, Step, Wording
from etl.llm.json_answers import field, json_value, prose_of
from etl.llm.prompt_texts import as_data, filled
from etl.llm.requests import with_requests
from etl.pipeline.outcome import Outcome

MOST_NAME_WORDS = 10
NAMED = "number: int, text: string"
_OPENING = re.compile(r"(?:the )?(?:common |shared )?topic(?: of [^:]{1,60})?\s*(?::|\bis\b:?)\s*", re.IGNORECASE)


class Named(NamedTuple):
    """A name or a category, and its number in the answer; 0 for none."""

    number: int
    text: str


def parse_topic_name(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """Parse a topic's name of at most ten words (Emo Pillars H)."""
    value = json_value(answer)
    answer = answer if value is None else _text_of(value)
    lines = [line for line in lines_of(answer) if not line.text.endswith(":")] or [Line("", False)]
    text = bare_name(_OPENING.sub("", lines[0].text, count=1))
    if cut_off and len(lines) == 1:
        return Parsed([], [Rejected("cut_off", text)])
    problem = problem_of_name(text, template, MOST_NAME_WORDS)
    return Parsed([], [Rejected(problem, answer.strip())]) if problem else Parsed([Named(0, text)], [])


def _text_of(value: Any) -> str:
    """Return the topic of an answer in JSON."""
    topic = field(value, ("topic", "name", "topic_name", "title")) if isinstance(value, dict) else None
    return topic if isinstance(topic, str) else prose_of(value)[0]


def _parsed(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    return parse_topic_name(answer, rules.template, cut_off)


STEP = Step(name="topic_names", unit="topic", key="topic_id", item=NAMED, parse=_parsed)


def topic_names_prompt(utterances: Column, wording: Wording = OURS) -> Column:
    """Ask for a topic's name, given an array of its utterances (Emo Pillars H)."""
    lines = F.transform(utterances, lambda one: F.concat(F.lit("- "), as_data(one)))
    return filled(STEP.template(wording=wording), {"utterances": F.array_join(lines, "\n")})


def requests(topics: DataFrame, large_topic: int, decoding: DecodingSettings, wording: Wording = OURS) -> DataFrame:
    """Return one prompt per large topic (Emo Pillars H)."""
    large = topics.where(F.col("utterances") >= large_topic)
    units = large.select("emotion", "topic", "examples", F.concat_ws("-", "emotion", "topic").alias("topic_id"))
    prompt = topic_names_prompt(F.col("examples"), wording)
    template = STEP.template(wording=wording)
    return with_requests(units, prompt, STEP.decoding(decoding, wording=wording), template=template)


def rows(answers: DataFrame, wording: Wording = OURS) -> Outcome:
    """Return ``emo_pillars.topic_names`` (Emo Pillars H). ``answers`` are rows of ``with_answers``.

    The topics that were asked about are the units: small topics have no name, and none has one without a model.
    """
    items, dropped = STEP.read(answers, Rules(STEP.template(wording=wording), {}))
    names = items.select("emotion", "topic", F.col("item.text").alias("name"))
    return Outcome(names, dropped, rows_in=answers.count())
