"""What a text is like as a conversation: its utterances, their lengths, the lines that nobody speaks (AugESC 4.3).

Measured once for every text, of a model's or of people's; what follows from it, ``etl.augesc.requirements`` decides.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from etl.augesc.sessions import without_greetings
from etl.augesc.texts import NAMES, instruction, parse
from etl.tables.outcome import Outcome
from udfs.words import word_tokens

TEXTS = (
    "text_id string, method string, source string, origin_id string, sample int, model string, text string, tokens int"
)
METHODS = ("augmenter", "untuned", "role_models")
"""What wrote a text (AugESC 4.3, 6.1): a model tuned on sessions, an untuned one, two models that take turns."""
PEOPLE = "people"
SOURCES = ("ed", "reddit")
MEASURED = (
    "faulty_lines int, first_faulty string, words int, turns array<struct<role: string, text: string, tokens: int>>"
)


def session_texts(sessions: DataFrame) -> DataFrame:
    """Sessions of people as a model would have written them: with the instruction, without greetings.

    Args:
        sessions: ``augesc.sessions``.

    Returns:
        The columns of ``TEXTS``; source is esconv, or failed_esconv for the contrast.
    """
    return sessions.select(
        F.col("session_id").alias("text_id"), F.lit(PEOPLE).alias("method"),
        F.when(F.col("contrast"), "failed_esconv").otherwise("esconv").alias("source"),
        F.col("session_id").alias("origin_id"), F.lit(0).alias("sample"), F.lit(None).cast("string").alias("model"),
        as_text(without_greetings(F.col("turns"))).alias("text"),
        F.lit(None).cast("int").alias("tokens"),
    )  # fmt: skip


def as_text(turns: Column) -> Column:
    """Utterances as a model would have written them, with the instruction."""
    names = F.create_map(*(F.lit(one) for pair in NAMES.items() for one in pair))
    lines = F.transform(turns, lambda turn: F.concat(names[turn["role"]], F.lit(": "), turn["text"]))
    return F.concat_ws("\n", F.lit(instruction()), F.array_join(lines, "\n"))


def texts_from_files(spark: SparkSession, files: Sequence[str]) -> Outcome:
    """Texts that were generated elsewhere: JSON Lines of ``TEXTS``, text with its prompt.

    Left out as ``not_readable`` are lines that are no JSON, or have no text, or name no source or method that is known;
    as ``repeated_id`` those with a text_id that a line before them has (by text).

    Returns:
        Outcome of ``TEXTS``, method augmenter where none is said; the unit is the text.
    """
    if not files:
        return Outcome(spark.createDataFrame([], TEXTS), rows_in=0)
    lines = spark.read.text(list(files)).where(F.trim("value") != "")
    parsed = F.from_json("value", f"{TEXTS}, broken string", {"columnNameOfCorruptRecord": "broken"})
    rows = lines.select("value", parsed.alias("line")).select("value", "line.*")
    rows = rows.withColumns(
        {
            "method": F.coalesce("method", F.lit(METHODS[0])), "sample": F.coalesce("sample", F.lit(0)),
            "text_id": F.coalesce("text_id", F.concat(F.lit("t"), F.substring(F.sha2("value", 256), 1, 16))),
        }
    )  # fmt: skip
    readable = (
        F.col("broken").isNull() & (F.trim("text") != "") & F.col("source").isin(*SOURCES)
        & F.col("method").isin(*METHODS)
    )  # fmt: skip
    order = F.row_number().over(Window.partitionBy("text_id", "readable").orderBy("value"))
    judged = rows.withColumn("readable", F.coalesce(readable, F.lit(False))).withColumn("nth", order)
    reason = F.when(~F.col("readable"), "not_readable").when(F.col("nth") > 1, "repeated_id")
    judged = judged.withColumn("reason", reason)
    dropped = judged.where(F.col("reason").isNotNull()).groupBy("text_id", "reason").agg(
        F.min(F.left("value", F.lit(200))).alias("detail"), F.count("*").alias("units")
    )  # fmt: skip
    names = [part.split()[0] for part in TEXTS.split(", ")]
    return Outcome(
        judged.where(F.col("reason").isNull()).select(*names),
        dropped.select(F.lit("text").alias("unit"), F.col("text_id").alias("id"), "reason", "detail", "units"),
        rows_in=lines.count(),
    )


def all_texts(people: DataFrame, others: Sequence[Outcome]) -> Outcome:
    """Texts of all origins together: people's, and those that models wrote, with what these lost.

    Args:
        people: of ``session_texts``.
        others: of ``texts_from_files`` and ``etl.augesc.generation.generated_texts``.
    """
    rows = reduce(DataFrame.unionByName, (one.rows for one in others), people)
    dropped = [one.dropped for one in others if one.dropped is not None]
    rows_in = people.count() + sum(one.rows_in or 0 for one in others)
    return Outcome(rows, reduce(DataFrame.unionByName, dropped) if dropped else None, rows_in=rows_in)


def measured_texts(texts: DataFrame) -> DataFrame:
    """Adds what ``etl.augesc.texts.parse`` reads, lengths of utterances in NLTK tokens, and the length of all.

    Args:
        texts: of ``TEXTS``, each text_id once. tokens are the generator's own, prompt included (AugESC 4.3, Session
            Length); where they are null, NLTK's stand in.

    Returns:
        Rows of ``augesc.measured_texts``.
    """
    task = instruction()

    def measures(batches: Iterator[pd.Series]) -> Iterator[pd.DataFrame]:
        names = ["faulty_lines", "first_faulty", "words", "turns"]
        for batch in batches:
            yield pd.DataFrame([measure(text, task) for text in batch], columns=names)

    measured = F.pandas_udf(measures, MEASURED)(F.col("text"))  # type: ignore[call-overload]
    rows = texts.withColumn("measured", measured).select(*texts.columns, "measured.*")
    return rows.withColumns(
        {
            "tokens": F.coalesce("tokens", "words"),
            "counted_by": F.when(F.col("tokens").isNull(), "nltk").otherwise("model"),
        }
    ).drop("words", "text")


def measure(text: str, task: str | None = None) -> tuple[int, str | None, int, list[dict[str, Any]]]:
    """One text: how many lines nobody speaks, the first of them, its NLTK tokens, the turns with theirs."""
    parsed = parse(text, task=task)
    turns = [{"role": turn.role, "text": turn.text, "tokens": len(word_tokens(turn.text))} for turn in parsed.turns]
    first = parsed.faulty[0][:200] if parsed.faulty else None
    return len(parsed.faulty), first, len(word_tokens(text)), turns
