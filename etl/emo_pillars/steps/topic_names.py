"""The name of a topic, from examples of its utterances (Emo Pillars H)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.emo_pillars.answers import Line, Parsed, Rejected, lines_of, problem_of, words_of
from etl.emo_pillars.quotes import unquoted
from etl.emo_pillars.step import NAMER, Asked, Rules, Step
from etl.emo_pillars.tables import TOPICS
from etl.llm.json_answers import field, json_value, prose_of
from etl.llm.prompt_texts import as_data
from etl.pipeline import At, StageRun
from etl.pipeline.outcome import Outcome

MOST_NAME_WORDS = 10
NAMED = "number: int, text: string"
_OPENING = re.compile(r"(?:the )?(?:common |shared )?topic(?: of [^:]{1,60})?\s*(?::|\bis\b:?)\s*", re.IGNORECASE)


class Named(NamedTuple):
    """A name or a category, and its number in the answer; 0 for none."""

    number: int
    text: str


def bare_name(text: str) -> str:
    """Return a name without quotation marks around it and a full stop behind it."""
    return unquoted(text.strip().rstrip(".")).rstrip(".").strip()


def problem_of_name(text: str, template: str, most: int) -> str | None:
    """Return why a text is no name of at most ``most`` words; None if it is one."""
    return problem_of(text, template) or ("too_long" if len(words_of(text)) > most else None)


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


def ask(topics: DataFrame, large_topic: Annotated[int, At("emo_pillars.analysis.large_topic")], run: StageRun) -> Asked:
    """Ask a language model, if one is set, for the name of each large topic (Emo Pillars H)."""
    large = topics.where(F.col("utterances") >= large_topic)
    units = large.select("emotion", "topic", "examples", F.concat_ws("-", "emotion", "topic").alias("topic_id"))
    lines = F.transform("examples", lambda one: F.concat(F.lit("- "), as_data(one)))
    slots = {"utterances": F.array_join(lines, "\n")}
    return Asked(units if run.model(NAMER).given else units.limit(0), slots)


def read(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    """Parse the names of topics (Emo Pillars H)."""
    return parse_topic_name(answer, rules.template, cut_off)


def counted(answers: DataFrame, items: DataFrame, outcome: Outcome) -> Outcome:
    """Return the outcome of the topics that were asked about: no small one has a name, and none without a model."""
    return replace(outcome, rows_in=answers.count())


STEP = Step(
    name="topic_names",
    model=NAMER,
    asked_for="the topic that utterances share (Emo Pillars H)",
    reads=(TOPICS,),
    ask=ask,
    unit="topic",
    unit_key="topic_id",
    item=NAMED,
    read=read,
    rules_from=(),
    row="A language model's name of a large topic; no row without a language model (Emo Pillars H).",
    columns="emotion string, topic int, name string COMMENT 'ten words at most'",
    key=("emotion", "topic"),
    values={"name": "item.text"},
    finish=counted,
    accounting="topics",
    version=3,
)
