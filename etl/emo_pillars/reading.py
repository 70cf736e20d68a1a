"""Parse answers into rows, and record the parts that cannot be parsed in the ledger (Emo Pillars 3)."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.columns import left_out
from etl.emo_pillars.actors import parse_actors
from etl.emo_pillars.answers import Parsed
from etl.emo_pillars.labels import known_names, labelled_utterances, labels_with_levels
from etl.emo_pillars.prompts import template
from etl.emo_pillars.prose import parse_cleaned, parse_prose, parse_rewrite
from etl.emo_pillars.topic_names import parse_categories, parse_topic_name
from etl.tables.outcome import Outcome

MOST_CHARACTERS = 20_000
"""Most characters of an answer that are parsed; the longest step asks for 500 tokens."""

_ACTOR = "name: string, description: string, actor: string"
_UTTERANCE = "raw_label: string, utterance: string, reasoning: string, label: string, was_mapped: boolean"
_LABEL = "raw_label: string, level: double, reasoning: string, label: string, was_mapped: boolean"
_PROSE = "text: string, cut: boolean, unchanged: boolean"
_NAMED = "number: int, text: string"


def read_actors(answers: DataFrame) -> Outcome:
    """Return ``emo_pillars.actors``. A plot whose answer names nobody is dropped (Emo Pillars 3.1)."""
    words = template("actors")
    read, dropped = _read(answers, "plot", "plot_id", _ACTOR, lambda text, cut: parse_actors(text, words, cut))
    rows = _items(read).select(
        _child("plot_id").alias("actor_id"), "plot_id", "place", "item.actor", "item.name", "item.description"
    )
    return Outcome(rows, dropped)


def read_utterances(answers: DataFrame) -> Outcome:
    """Return ``emo_pillars.utterances``. An actor without utterances is dropped (Emo Pillars 3.2)."""
    words, names = template("utterances"), known_names()
    read, dropped = _read(
        answers, "actor", "actor_id", _UTTERANCE, lambda text, cut: labelled_utterances(text, words, cut, names)
    )
    rows = _items(read).select(
        _child("actor_id").alias("utterance_id"), "plot_id", "actor_id", "actor", "place", "item.utterance",
        "item.raw_label", "item.label", "item.was_mapped", "item.reasoning",
    )  # fmt: skip
    return Outcome(rows, dropped)


def read_soft_labels(answers: DataFrame, top: int) -> Outcome:
    """Return ``emo_pillars.soft_labels`` of all levels. The threshold is applied later (Emo Pillars 3.3)."""
    words, names = template("soft_labels"), known_names()
    read, dropped = _read(
        answers, "utterance", "utterance_id", _LABEL, lambda text, cut: labels_with_levels(text, words, top, names)
    )
    item = ("item.raw_label", "item.level", "item.label", "item.was_mapped", "item.reasoning")
    return Outcome(_items(read).select("utterance_id", "place", *item), dropped)


def read_contexts(answers: DataFrame) -> Outcome:
    """Return ``emo_pillars.contexts`` (Emo Pillars 3.4)."""
    words = template("contexts")
    read, dropped = _read(answers, "context", "utterance_id", _PROSE, lambda text, cut: parse_prose(text, words, cut))
    return Outcome(_items(read).select("utterance_id", F.col("item.text").alias("context"), "item.cut"), dropped)


def read_clean_contexts(answers: DataFrame) -> Outcome:
    """Return ``emo_pillars.clean_contexts``, with the original context if it is unchanged (Emo Pillars 3.4)."""
    words = template("clean_contexts")
    read, dropped = _read(answers, "context", "utterance_id", _PROSE, lambda text, cut: parse_cleaned(text, words, cut))
    cleaned = F.when(F.col("item.unchanged"), F.col("context")).otherwise(F.col("item.text"))
    rows = _items(read).select("utterance_id", cleaned.alias("context"), "item.cut", "item.unchanged")
    return Outcome(rows, dropped)


def read_rewrites(answers: DataFrame) -> Outcome:
    """Return ``emo_pillars.rewrites`` (Emo Pillars 3.5)."""
    words, names = template("rewrites"), known_names()
    read, dropped = _read(
        answers, "rewrite", "utterance_id", _PROSE, lambda text, cut: parse_rewrite(text, words, cut, names)
    )
    return Outcome(_items(read).select("utterance_id", F.col("item.text").alias("rewritten"), "item.cut"), dropped)


def read_topic_names(answers: DataFrame) -> Outcome:
    """Return ``emo_pillars.topic_names`` (Emo Pillars H)."""
    words = template("topic_names")
    read, dropped = _read(answers, "topic", "topic_id", _NAMED, lambda text, cut: parse_topic_name(text, words, cut))
    return Outcome(_items(read).select("emotion", "topic", F.col("item.text").alias("name")), dropped)


def read_topic_categories(answers: DataFrame) -> Outcome:
    """Return ``emo_pillars.topic_categories``. Unknown topic numbers are recorded in the ledger (Emo Pillars H)."""
    words = template("topic_categories")
    read, dropped = _read(answers, "emotion", "emotion", _NAMED, lambda text, cut: parse_categories(text, words, cut))
    found = _items(read).withColumn("topic", F.get("topics", F.col("item.number") - 1))
    line_id = F.concat_ws("#", "emotion", F.col("item.number"))
    unknown = found.where(F.col("topic").isNull()).select(
        *left_out("line", line_id, "no_such_topic", 0, F.col("item.text"))
    )
    rows = found.where(F.col("topic").isNotNull()).select("emotion", "topic", F.col("item.text").alias("category"))
    return Outcome(rows, dropped.unionByName(unknown))


def _read(
    answers: DataFrame, unit: str, key: str, item: str, parse: Callable[[str, bool], Parsed]
) -> tuple[DataFrame, DataFrame]:
    """Return the parsed answers, and ledger rows of units without items and of rejected parts."""
    schema = f"struct<items: array<struct<{item}>>, rejected: array<struct<reason: string, text: string>>>"
    # Spark calls a nondeterministic function once, not once per column that reads its result.
    parser = F.udf(lambda text, cut: parse(*shortened(text or "", bool(cut))), schema).asNondeterministic()
    read = answers.withColumn("parsed", parser("answer", "cut_off")).persist()
    failed, nothing = F.col("error").isNotNull(), F.size("parsed.items") == 0
    reason = F.when(failed, "model_failed").otherwise("nothing_read")
    whole = read.where(failed | nothing).select(*left_out(unit, key, reason, 1, F.coalesce("error", "answer")))
    parts = read.where(~failed).select(key, F.posexplode("parsed.rejected").alias("place", "part"))
    line_id = F.concat(key, F.lit("#"), (F.col("place") + 1).cast("string"))
    lines = parts.select(*left_out("line", line_id, F.col("part.reason"), 0, F.col("part.text")))
    return read.where(~failed), whole.unionByName(lines)


def shortened(text: str, cut_off: bool) -> tuple[str, bool]:
    """Return the part of an answer that is parsed, and whether it is cut off."""
    return text[:MOST_CHARACTERS], cut_off or len(text) > MOST_CHARACTERS


def _items(read: DataFrame) -> DataFrame:
    """Return one row per item, with its place from 1."""
    exploded = read.select("*", F.posexplode("parsed.items").alias("from_0", "item"))
    return exploded.withColumn("place", F.col("from_0") + 1)


def _child(parent: str) -> Column:
    return F.concat(parent, F.lit("-"), F.col("place").cast("string"))
