"""What models are asked to go on from, and their answers as texts (AugESC 4.2, 4.3)."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.augesc.measures import TEXTS, as_text
from etl.augesc.texts import instruction, prompt
from etl.common.splits import content_share
from etl.llm.requests import with_answers, with_requests
from etl.tables.outcome import Outcome

BASELINE_SOURCE = "ed"


def asked_queries(queries: DataFrame, number: int | None) -> DataFrame:
    """So many queries of each source, the first by a digest of their ids; fewer are a part of more."""
    if number is None:
        return queries
    order = Window.partitionBy("source").orderBy(content_share(F.col("query_id"), salt="query"), "query_id")
    return queries.withColumn("place", F.row_number().over(order)).where(F.col("place") <= number).drop("place")


def baseline_queries(queries: DataFrame, generation: Any) -> DataFrame:
    """The queries of the methods that the augmenter is compared with (AugESC 4.3, 6.1): EmpatheticDialogues' alone."""
    of_source = asked_queries(queries, generation.queries).where(F.col("source") == BASELINE_SOURCE)
    return asked_queries(of_source, generation.baseline_queries)


def augmenter_asked(queries: DataFrame, settings: Any) -> DataFrame:
    """Several texts a query, by its source (AugESC 4.2).

    Args:
        queries: ``augesc.queries``.
        settings: those under ``augesc``: generation and samples_per_query.
    """
    per_query = settings.samples_per_query
    samples = F.when(F.col("source") == "ed", per_query.ed).otherwise(per_query.reddit)
    units = asked_queries(queries, settings.generation.queries).select(
        "query_id", "source", F.col("text").alias("query")
    )
    return with_requests(units, prompts(F.col("query")), settings.generation.decoding, samples=samples)


def untuned_asked(queries: DataFrame, settings: Any) -> DataFrame:
    """One text a query, from the same prompt (AugESC 4.3)."""
    units = _units(baseline_queries(queries, settings.generation))
    return with_requests(units, prompts(F.col("query")), settings.generation.untuned_decoding)


def role_plays_asked(queries: DataFrame, generation: Any, models: Sequence[str]) -> DataFrame:
    """The queries that two role models begin with (AugESC 6.1), under an id of all that their talks depend on.

    Args:
        models: identities of the seeker's and the supporter's.

    Returns:
        play_id, query_id, source, query.
    """
    parts = [*models, generation.role_decoding.text(), str(generation.role_utterances)]
    units = _units(baseline_queries(queries, generation))
    key = F.concat_ws("\u0001", "query_id", F.sha2("query", 256), *map(F.lit, parts))
    return units.withColumn("play_id", F.concat(F.lit("p"), F.substring(F.sha2(key, 256), 1, 16)))


def played_texts(plays: DataFrame) -> DataFrame:
    """Talks of two models as texts of the method role_models; lengths are NLTK's, as there is no one text of a model.

    Args:
        plays: ``augesc.role_plays``.

    Returns:
        The columns of ``TEXTS``.
    """
    return plays.select(
        F.col("play_id").alias("text_id"), F.lit("role_models").alias("method"), "source",
        F.col("query_id").alias("origin_id"), F.lit(0).alias("sample"),
        F.concat_ws(" and ", "seeker_model", "supporter_model").alias("model"), as_text(F.col("turns")).alias("text"),
        F.lit(None).cast("int").alias("tokens"),
    )  # fmt: skip


def _units(queries: DataFrame) -> DataFrame:
    return queries.select("query_id", "source", F.col("text").alias("query"))


def prompts(query: Column) -> Column:
    """``etl.augesc.texts.prompt`` of each query."""
    task = instruction()

    def prompted(queries: pd.Series) -> pd.Series:
        return queries.map(lambda one: prompt(one, task))

    return F.pandas_udf(prompted, "string")(query)  # type: ignore[call-overload,no-any-return]


def generated_texts(asked: DataFrame, generations: DataFrame, model: str, method: str) -> Outcome:
    """A method's answers as texts, prompt and all; a query that has none is dropped as ``not_generated``.

    Args:
        asked: of ``augmenter_asked`` or ``untuned_asked``.
        generations: the answers to it; only this model's count.
        model: its identity.
        method: of ``etl.augesc.measures.METHODS``.

    Returns:
        Outcome of ``TEXTS``, tokens the model's own; the unit is the text.
    """
    told = generations.where(F.col("model") == model).select(
        "request_id", "model", (F.col("prompt_tokens") + F.col("answer_tokens")).alias("tokens")
    )
    said = with_answers(asked, generations, model).join(told, "request_id", "left")
    identity = F.concat_ws("/", F.lit(method), "query_id", "request_id", "model")
    texts = said.where(F.col("answer").isNotNull()).select(
        F.concat(F.lit("g"), F.substring(F.sha2(identity, 256), 1, 16)).alias("text_id"),
        F.lit(method).alias("method"), "source", F.col("query_id").alias("origin_id"), "sample", "model",
        F.concat("prompt", "answer").alias("text"), "tokens",
    )  # fmt: skip
    dropped = said.where(F.col("answer").isNull()).select(
        F.lit("text").alias("unit"), F.concat_ws("/", "query_id", "sample").alias("id"),
        F.lit("not_generated").alias("reason"), F.col("error").alias("detail"), F.lit(1).cast("bigint").alias("units"),
    )  # fmt: skip
    columns = (part.split()[0] for part in TEXTS.split(", "))
    return Outcome(texts.select(*columns), dropped, rows_in=asked.count())
