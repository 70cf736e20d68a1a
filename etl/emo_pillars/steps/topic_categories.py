"""A broad category of each named topic of an emotion (Emo Pillars H)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.emo_pillars.answers import Parsed, Rejected, plain, without_repeats, words_of
from etl.emo_pillars.step import NAMER, Asked, Rules, Step
from etl.emo_pillars.steps import topic_names
from etl.emo_pillars.steps.topic_names import Named, bare_name, problem_of_name
from etl.llm.json_answers import field, json_records, text_of
from etl.llm.prompt_texts import as_data
from etl.pipeline import StageRun
from etl.pipeline.outcome import Outcome, dropped_columns

MOST_CATEGORY_WORDS = 2
TOPIC = "get(topics, item.number - 1)"
"""The topic of a number in an answer; null where none has it."""
NUMBER = words_of("number topic_number id index place topic")
_NUMBERED = re.compile(r"\s*\(?(?P<number>\d{1,3})[.):\]]+\s*(?P<text>.*\S)")
_AFTER_TOPIC = re.compile(r"\A.*(?::|->|→|\s[-–—])\s*", re.DOTALL)


def parse_categories(answer: str, template: str, cut_off: bool = False) -> Parsed:
    """Parse categories of at most two words with their topics' numbers, without a repeated topic (Emo Pillars H)."""
    found = []
    rejected = []
    records = json_records(answer)
    answer = answer if records is None else "\n".join(numbered_lines(records))
    lines = [line for line in plain(answer).splitlines() if line.strip()]
    for place, line in enumerate(lines):
        match = _NUMBERED.fullmatch(line.rstrip())
        if match is None:
            if not line.rstrip().endswith(":"):
                rejected.append(Rejected("no_list_item", line.strip()))
            continue
        text = bare_name(_AFTER_TOPIC.sub("", match["text"], count=1))
        cut = cut_off and place == len(lines) - 1
        problem = "cut_off" if cut else problem_of_name(text, template, MOST_CATEGORY_WORDS)
        if problem:
            rejected.append(Rejected(problem, line.strip()))
        else:
            found.append(Named(int(match["number"]), text))
    kept = without_repeats(found, lambda one: one.number, "repeated")
    return Parsed(kept.items, rejected + kept.rejected)


def numbered_lines(records: Sequence[Any]) -> list[str]:
    """Return categories as numbered lines of the text form (Emo Pillars H)."""
    lines = []
    for place, record in enumerate(records, 1):
        if not isinstance(record, Mapping):
            lines.append(f"{place}. {text_of(record)}")
        elif (category := field(record, ["category", "name", "label"])) is not None:
            number = field(record, NUMBER)
            lines.append(f"{number if isinstance(number, int) else place}. {category}")
        else:
            lines += [f"{key}. {value}" for key, value in record.items()]
    return lines


def ask(names: DataFrame, run: StageRun) -> Asked:
    """Ask the language model for a broad category of each named topic (Emo Pillars H)."""
    # One prompt an emotion, with its named topics numbered from 1, the largest first.
    named = F.array_sort(F.collect_list(F.struct("topic", "name")))
    units = (
        names.groupBy("emotion")
        .agg(named.alias("named"))
        .select("emotion", F.col("named")["topic"].alias("topics"), F.col("named")["name"].alias("names"))
    )
    numbered = F.transform("names", lambda one, place: F.concat((place + 1).cast("string"), F.lit(". "), as_data(one)))
    slots = {"emotion": F.col("emotion"), "topics": F.array_join(numbered, "\n")}
    return Asked(units if run.model(NAMER).given else units.limit(0), slots)


def read(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    """Parse the categories of topics (Emo Pillars H)."""
    return parse_categories(answer, rules.template, cut_off)


def of_asked_topics(answers: DataFrame, items: DataFrame, outcome: Outcome) -> Outcome:
    """Return the categories of topics that were asked about; other numbers are in the ledger."""
    line_id = F.concat_ws("#", "emotion", F.col("item.number"))
    ledger = dropped_columns("line", line_id, "no_such_topic", 0, F.col("item.text"))
    unknown = items.where(F.expr(TOPIC).isNull()).select(*ledger)
    assert outcome.dropped is not None
    return Outcome(outcome.rows.where("topic IS NOT NULL"), outcome.dropped.unionByName(unknown))


STEP = Step(
    name="topic_categories",
    model=NAMER,
    asked_for="the category of a topic (Emo Pillars H)",
    reads=(topic_names.STEP.table,),
    ask=ask,
    unit="emotion",
    unit_key="emotion",
    item=topic_names.NAMED,
    read=read,
    rules_from=(),
    row="The broad category of a named topic; no row without a language model (Emo Pillars H).",
    columns="emotion string, topic int, category string COMMENT 'two words at most'",
    key=("emotion", "topic"),
    values={"topic": TOPIC, "category": "item.text"},
    finish=of_asked_topics,
    accounting="emotions",
    version=2,
)
