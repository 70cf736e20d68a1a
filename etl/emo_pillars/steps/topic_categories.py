"""A broad category of each named topic of an emotion (Emo Pillars H)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.llm_settings import DecodingSettings
from etl.emo_pillars.answers import Parsed, Rejected, plain, without_repeats, words_of
from etl.emo_pillars.names import bare_name, problem_of_name
from etl.emo_pillars.step import OURS, Rules, Step, Wording
from etl.emo_pillars.steps.topic_names import NAMED, Named
from etl.llm.json_answers import field, json_records, text_of
from etl.llm.prompt_texts import as_data, filled
from etl.llm.requests import with_requests
from etl.pipeline.outcome import Outcome, dropped_columns

MOST_CATEGORY_WORDS = 2
NUMBER = words_of("number topic_number id index place topic")
_NUMBERED = re.compile(r"\s*\(?(?P<number>\d{1,3})[.):\]]+\s*(?P<text>.*\S)")
_AFTER_TOPIC = re.compile(r".*(?::|->|→|\s[-–—])\s*", re.DOTALL)


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


def _parsed(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    return parse_categories(answer, rules.template, cut_off)


STEP = Step(name="topic_categories", unit="emotion", key="emotion", item=NAMED, parse=_parsed)


def topic_categories_prompt(emotion: Column, names: Column, wording: Wording = OURS) -> Column:
    """Ask for the topics' categories, given an array of their names, numbered from 1 (Emo Pillars H)."""
    numbered = F.transform(names, lambda one, place: F.concat((place + 1).cast("string"), F.lit(". "), as_data(one)))
    slots = {"emotion": emotion, "topics": F.array_join(numbered, "\n")}
    return filled(STEP.template(wording=wording), slots)


def requests(names: DataFrame, decoding: DecodingSettings, wording: Wording = OURS) -> DataFrame:
    """Return one prompt per emotion, with its named topics, the largest first (Emo Pillars H)."""
    named = F.array_sort(F.collect_list(F.struct("topic", "name")))
    units = (
        names.groupBy("emotion")
        .agg(named.alias("named"))
        .select("emotion", F.col("named")["topic"].alias("topics"), F.col("named")["name"].alias("names"))
    )
    prompt = topic_categories_prompt(F.col("emotion"), F.col("names"), wording)
    template = STEP.template(wording=wording)
    return with_requests(units, prompt, STEP.decoding(decoding, wording=wording), template=template)


def rows(answers: DataFrame, wording: Wording = OURS) -> Outcome:
    """Return ``emo_pillars.topic_categories``. Unknown topic numbers are recorded in the ledger (Emo Pillars H)."""
    items, dropped = STEP.read(answers, Rules(STEP.template(wording=wording), {}))
    found = items.withColumn("topic", F.get("topics", F.col("item.number") - 1))
    line_id = F.concat_ws("#", "emotion", F.col("item.number"))
    ledger = dropped_columns("line", line_id, "no_such_topic", 0, F.col("item.text"))
    unknown = found.where(F.col("topic").isNull()).select(*ledger)
    known = found.where(F.col("topic").isNotNull()).select("emotion", "topic", F.col("item.text").alias("category"))
    return Outcome(known, dropped.unionByName(unknown))
