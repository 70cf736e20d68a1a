"""Measure texts as conversations: utterances, their lengths, and lines without a speaker (AugESC 4.3).

Every text is measured once, whether written by a model or by people. ``etl.augesc.requirements`` applies the rules.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from etl.augesc.conversation_texts import NAMES, parse, without_thoughts
from etl.augesc.sessions import without_greetings
from etl.augesc.settings import Reading
from etl.common.labelled_files import NamedFiles, json_lines
from etl.pipeline.outcome import Outcome, dropped_columns
from udfs.words import word_tokens

TEXTS = (
    "text_id string, method string, source string, origin_id string, sample int, model string, text string, "
    "tokens int, request_id string, prompt_hash string"
)
METHODS = ("augmenter", "untuned", "role_models")
"""A text's source (AugESC 4.3, 6.1): a model tuned on sessions, an untuned model, two models that take turns."""
GENERATED = METHODS[0]
PEOPLE = "people"
SOURCES = ("ed", "reddit")
MEASURED = (
    "faulty_lines int, first_faulty string, words int, turns array<struct<role: string, text: string, tokens: int>>, "
    "strategies array<string>"
)


def session_texts(sessions: DataFrame, task: str) -> DataFrame:
    """Return ``augesc.sessions`` as texts of a model's form: with the instruction, without greetings.

    Returns:
        The columns of ``TEXTS``. The source is esconv, or failed_esconv for contrast sessions.
    """
    return sessions.select(
        F.col("session_id").alias("text_id"),
        F.lit(PEOPLE).alias("method"),
        F.when(F.col("contrast"), "failed_esconv").otherwise("esconv").alias("source"),
        F.col("session_id").alias("origin_id"),
        F.lit(0).alias("sample"),
        F.lit(None).cast("string").alias("model"),
        as_text(without_greetings(F.col("turns")), task).alias("text"),
        F.lit(None).cast("int").alias("tokens"),
        F.lit(None).cast("string").alias("request_id"),
        F.lit(None).cast("string").alias("prompt_hash"),
    )


def as_text(turns: Column, task: str) -> Column:
    """Return utterances as a text of a model's form, with the instruction."""
    names = F.create_map(*(F.lit(one) for pair in NAMES.items() for one in pair))
    lines = F.transform(turns, lambda turn: F.concat(names[turn["role"]], F.lit(": "), turn["text"]))
    return F.concat_ws("\n", F.lit(task), F.array_join(lines, "\n"))


def texts_from_files(spark: SparkSession, files: NamedFiles | Sequence[str]) -> Outcome:
    """Read texts that were generated elsewhere, prompts included, from JSON Lines of ``TEXTS``.

    Lines are ``not_readable`` without valid JSON, a text, or a known source and method. They are ``repeated_id`` if an
    earlier line (in order of content) has their text_id.

    Returns:
        Outcome of ``TEXTS``, with the default method augmenter. The unit is the text.
    """
    if not files:
        return Outcome(spark.createDataFrame([], TEXTS), rows_in=0)
    lines = json_lines(spark, files, TEXTS)
    rows = lines.withColumns(
        {
            "method": F.coalesce("method", F.lit(GENERATED)),
            "sample": F.coalesce("sample", F.lit(0)),
            "text_id": F.coalesce("text_id", F.concat(F.lit("t"), F.substring(F.sha2("value", 256), 1, 16))),
        }
    )
    readable = (
        F.col("broken").isNull()
        & (F.trim("text") != "")
        & F.col("source").isin(*SOURCES)
        & F.col("method").isin(*METHODS)
    )
    order = F.row_number().over(Window.partitionBy("text_id", "readable").orderBy("value"))
    judged = rows.withColumn("readable", F.coalesce(readable, F.lit(False))).withColumn("nth", order)
    reason = F.when(~F.col("readable"), "not_readable").when(F.col("nth") > 1, "repeated_id")
    judged = judged.withColumn("reason", reason)
    dropped = (
        judged.where(F.col("reason").isNotNull())
        .groupBy("text_id", "reason")
        .agg(F.min(F.left("value", F.lit(200))).alias("detail"), F.count("*").alias("units"))
    )
    names = [part.split()[0] for part in TEXTS.split(", ")]
    columns = dropped_columns("text", "text_id", F.col("reason"), F.col("units"), F.col("detail"))
    rows = judged.where(F.col("reason").isNull()).select(*names)
    return Outcome(rows, dropped.select(*columns), rows_in=lines.count())


def all_texts(people: DataFrame, others: Sequence[Outcome]) -> Outcome:
    """Return the texts of people and of models together, with the dropped ones.

    Args:
        people: rows of ``session_texts``.
        others: results of ``texts_from_files`` and ``etl.augesc.generation.generated_texts``.
    """
    rows = reduce(DataFrame.unionByName, (one.rows for one in others), people)
    dropped = [one.dropped for one in others if one.dropped is not None]
    rows_in = people.count() + sum(one.rows_in or 0 for one in others)
    return Outcome(rows, reduce(DataFrame.unionByName, dropped) if dropped else None, rows_in=rows_in)


def measured_texts(texts: DataFrame, task: str, reading: Reading = "lenient") -> DataFrame:
    """Parse texts and measure them in NLTK tokens, as rows of ``augesc.measured_texts``.

    Args:
        texts: distinct rows of ``TEXTS``. The generator counted tokens, prompt included (AugESC 4.3, Session Length).
            Null tokens are replaced by NLTK's count.
        task: result of ``instruction``.
        reading: ``augesc.reading``.
    """

    def measures(batches: Iterator[pd.Series]) -> Iterator[pd.DataFrame]:
        names = ["faulty_lines", "first_faulty", "words", "turns", "strategies"]
        for batch in batches:
            yield pd.DataFrame([measure(text, task, reading) for text in batch], columns=names)

    measured = F.pandas_udf(measures, MEASURED)(F.col("text"))  # type: ignore[call-overload]
    rows = texts.withColumn("measured", measured).select(*texts.columns, "measured.*")
    counted_by = F.when(F.col("tokens").isNull(), "nltk").otherwise("model")
    return rows.withColumns({"tokens": F.coalesce("tokens", "words"), "counted_by": counted_by}).drop("words", "text")


def measure(
    text: str, task: str, reading: Reading = "lenient"
) -> tuple[int, str | None, int, list[dict[str, Any]], list[str | None]]:
    """Return a text's number of faulty lines, the first of them, its NLTK tokens, its turns with theirs, strategies.

    There is a strategy for each turn; None for a turn without one.
    """
    if reading == "lenient":
        text = without_thoughts(text)
    parsed = parse(text, task, reading)
    turns = [{"role": turn.role, "text": turn.text, "tokens": len(word_tokens(turn.text))} for turn in parsed.turns]
    first = parsed.faulty[0][:200] if parsed.faulty else None
    strategies = [turn.strategy for turn in parsed.turns]
    return len(parsed.faulty), first, len(word_tokens(text)), turns, strategies
