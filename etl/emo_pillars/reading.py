"""Parse answers into rows, and record the parts that cannot be parsed in the ledger (Emo Pillars 3)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.emo_pillars.answers import Parsed
from etl.emo_pillars.labels import known_names
from etl.emo_pillars.prompts import PLAIN, template
from etl.emo_pillars.step_answers import MOST_CHARACTERS, Rules, parse_step
from etl.emo_pillars.topic_names import parse_categories, parse_topic_name
from etl.llm.requests import fault_of
from etl.pipeline.outcome import Outcome, dropped_columns

_FAULTS = ", faults: array<string>"
_ACTOR = f"name: string, description: string, actor: string{_FAULTS}"
_MAPPED = f"label: string, was_mapped: boolean{_FAULTS}"
_UTTERANCE = f"raw_label: string, utterance: string, reasoning: string, {_MAPPED}"
_LABEL = f"raw_label: string, level: double, reasoning: string, {_MAPPED}"
_PROSE = f"text: string, cut: boolean, unchanged: boolean{_FAULTS}"
_NAMED = "number: int, text: string"

Parser = Callable[[str, bool, Mapping[str, Any]], Parsed]


def read_actors(answers: DataFrame, quality: Any) -> Outcome:
    """Return ``emo_pillars.actors``. A plot whose answer names nobody is dropped (Emo Pillars 3.1).

    Args:
        answers: rows of ``with_answers``.
        quality: the section ``emo_pillars.quality``, as in the functions below.
    """
    read, dropped = _read(answers, "plot", "plot_id", _ACTOR, _parser("actors", quality))
    rows = _items(read).select(
        _child("plot_id").alias("actor_id"), "plot_id", "place", "item.actor", "item.name", "item.description"
    )
    return Outcome(rows, dropped)


def read_utterances(answers: DataFrame, quality: Any, form: str = PLAIN) -> Outcome:
    """Return ``emo_pillars.utterances``. An actor without utterances is dropped (Emo Pillars 3.2).

    Args:
        answers, quality: as in ``read_actors``.
        form: of the prompts' template, as in the functions below.
    """
    read, dropped = _read(answers, "actor", "actor_id", _UTTERANCE, _parser("utterances", quality, form=form))
    rows = _items(read).select(
        _child("actor_id").alias("utterance_id"),
        "plot_id",
        "actor_id",
        "actor",
        "place",
        "item.utterance",
        "item.raw_label",
        "item.label",
        "item.was_mapped",
        "item.reasoning",
        "item.faults",
    )
    return Outcome(rows, dropped)


def read_soft_labels(answers: DataFrame, top: int, quality: Any, form: str = PLAIN) -> Outcome:
    """Return ``emo_pillars.soft_labels`` of all levels. The threshold is applied later (Emo Pillars 3.3)."""
    read, dropped = _read(answers, "utterance", "utterance_id", _LABEL, _parser("soft_labels", quality, top, form))
    item = ("item.raw_label", "item.level", "item.label", "item.was_mapped", "item.reasoning", "item.faults")
    return Outcome(_items(read).select("utterance_id", "place", *item), dropped)


def read_contexts(answers: DataFrame, quality: Any) -> Outcome:
    """Return ``emo_pillars.contexts`` (Emo Pillars 3.4)."""
    given = {"labels": F.col("labels")["label"]}
    read, dropped = _read(answers, "context", "utterance_id", _PROSE, _parser("contexts", quality), given)
    rows = _items(read).select("utterance_id", F.col("item.text").alias("context"), "item.cut", "item.faults")
    return Outcome(rows, dropped)


def read_clean_contexts(answers: DataFrame, quality: Any) -> Outcome:
    """Return ``emo_pillars.clean_contexts``, with the original context if it is unchanged (Emo Pillars 3.4)."""
    given = {"labels": F.col("labels")["label"], "context": F.col("context")}
    read, dropped = _read(answers, "context", "utterance_id", _PROSE, _parser("clean_contexts", quality), given)
    cleaned = F.when(F.col("item.unchanged"), F.col("context")).otherwise(F.col("item.text"))
    rows = _items(read).select("utterance_id", cleaned.alias("context"), "item.cut", "item.unchanged", "item.faults")
    return Outcome(rows, dropped)


def read_rewrites(answers: DataFrame, quality: Any, form: str = PLAIN) -> Outcome:
    """Return ``emo_pillars.rewrites`` (Emo Pillars 3.5)."""
    given = {"labels": F.col("labels")["label"], "utterance": F.col("utterance"), "actor": F.col("actor")}
    read, dropped = _read(answers, "rewrite", "utterance_id", _PROSE, _parser("rewrites", quality, form=form), given)
    rows = _items(read).select("utterance_id", F.col("item.text").alias("rewritten"), "item.cut", "item.faults")
    return Outcome(rows, dropped)


def read_topic_names(answers: DataFrame) -> Outcome:
    """Return ``emo_pillars.topic_names`` (Emo Pillars H)."""
    words = template("topic_names")
    read, dropped = _read(
        answers,
        "topic",
        "topic_id",
        _NAMED,
        lambda text, cut, given: parse_topic_name(text[:MOST_CHARACTERS], words, cut),
    )
    return Outcome(_items(read).select("emotion", "topic", F.col("item.text").alias("name")), dropped)


def read_topic_categories(answers: DataFrame) -> Outcome:
    """Return ``emo_pillars.topic_categories``. Unknown topic numbers are recorded in the ledger (Emo Pillars H)."""
    words = template("topic_categories")
    read, dropped = _read(
        answers,
        "emotion",
        "emotion",
        _NAMED,
        lambda text, cut, given: parse_categories(text[:MOST_CHARACTERS], words, cut),
    )
    found = _items(read).withColumn("topic", F.get("topics", F.col("item.number") - 1))
    line_id = F.concat_ws("#", "emotion", F.col("item.number"))
    unknown = found.where(F.col("topic").isNull()).select(
        *dropped_columns("line", line_id, "no_such_topic", 0, F.col("item.text"))
    )
    rows = found.where(F.col("topic").isNotNull()).select("emotion", "topic", F.col("item.text").alias("category"))
    return Outcome(rows, dropped.unionByName(unknown))


def _parser(step: str, quality: Any, top: int = 5, form: str = PLAIN) -> Parser:
    return partial(parse_step, step, Rules(template(step, form), known_names(), quality, top))


def _read(
    answers: DataFrame, unit: str, key: str, item: str, parse: Parser, given: Mapping[str, Column] | None = None
) -> tuple[DataFrame, DataFrame]:
    """Return the parsed answers, and ledger rows of units without items and of rejected parts.

    Args:
        answers: rows of ``with_answers``.
        unit: name of the unit.
        key: its column.
        item: fields of an item, as DDL.
        parse: a function of an answer, whether it is cut off, and what its prompt contained.
        given: what the prompt contained, as columns.
    """
    schema = f"struct<items: array<struct<{item}>>, rejected: array<struct<reason: string, text: string>>>"
    # Spark calls a nondeterministic function once, not once per column that reads its result.
    names = tuple(given or ())
    parser = F.udf(
        lambda text, cut, *values: parse(text or "", bool(cut), dict(zip(names, values, strict=True))), schema
    ).asNondeterministic()
    read = answers.withColumn("parsed", parser("answer", "cut_off", *(given or {}).values())).persist()
    failed = F.col("error").isNotNull()
    nothing = F.size("parsed.items") == 0
    reason = F.when(failed, fault_of(F.col("error"), "model_failed")).otherwise("nothing_read")
    whole = read.where(failed | nothing).select(*dropped_columns(unit, key, reason, 1, F.coalesce("error", "answer")))
    parts = read.where(~failed).select(key, F.posexplode("parsed.rejected").alias("place", "part"))
    line_id = F.concat(key, F.lit("#"), (F.col("place") + 1).cast("string"))
    lines = parts.select(*dropped_columns("line", line_id, F.col("part.reason"), 0, F.col("part.text")))
    return read.where(~failed), whole.unionByName(lines)


def _items(read: DataFrame) -> DataFrame:
    """Return one row per item, with its place from 1."""
    exploded = read.select("*", F.posexplode("parsed.items").alias("from_0", "item"))
    return exploded.withColumn("place", F.col("from_0") + 1)


def _child(parent: str) -> Column:
    return F.concat(parent, F.lit("-"), F.col("place").cast("string"))
