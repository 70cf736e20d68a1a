"""Build the prompts of the generating models, and turn their answers into texts (AugESC 4.2, 4.3)."""

import json
from collections.abc import Sequence

import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from conf.llm_settings import STEP_FORM, DecodingSettings
from etl.augesc.conversation_texts import NAMES, prompt
from etl.augesc.measures import as_text
from etl.augesc.settings import Augmenting, Baselines, RolePlaying, SamplesPerQuery, Untuned
from etl.common.splits import content_share
from etl.llm.requests import fault_of, with_answers, with_requests
from etl.pipeline.outcome import Outcome, dropped_columns

BASELINE_SOURCE = "ed"


def first_queries(queries: DataFrame, number: int | None) -> DataFrame:
    """Return the first queries of each source by a hash of their ids. A smaller number gives a subset of a larger."""
    if number is None:
        return queries
    order = Window.partitionBy("source").orderBy(content_share(F.col("query_id"), salt="query"), "query_id")
    return queries.withColumn("place", F.row_number().over(order)).where(F.col("place") <= number).drop("place")


def baseline_queries(queries: DataFrame, generation: Baselines) -> DataFrame:
    """Return the queries of the compared methods, from EmpatheticDialogues only (AugESC 4.3, 6.1)."""
    of_source = first_queries(queries, generation.queries).where(F.col("source") == BASELINE_SOURCE)
    return first_queries(of_source, generation.baseline_queries)


def augmenter_requests(queries: DataFrame, generation: Augmenting, per_query: SamplesPerQuery, task: str) -> DataFrame:
    """Return the augmenter's requests: several texts per query, depending on its source (AugESC 4.2).

    Args:
        queries: ``augesc.queries``.
        generation: which queries, and how answers are decoded.
        per_query: texts for each query of a source.
        task: result of ``instruction``.
    """
    samples = F.when(F.col("source") == "ed", per_query.ed).otherwise(per_query.reddit)
    units = _units(first_queries(queries, generation.queries))
    decoding = with_schema(generation.decoding)
    return with_requests(units, prompts(F.col("query"), task), decoding, samples=samples, template=task)


def untuned_requests(queries: DataFrame, generation: Untuned, task: str) -> DataFrame:
    """Return the untuned model's requests: one text per query, from the same prompt (AugESC 4.3)."""
    units = _units(baseline_queries(queries, generation))
    decoding = with_schema(generation.untuned_decoding)
    return with_requests(units, prompts(F.col("query"), task), decoding, template=task)


def with_schema(decoding: DecodingSettings) -> DecodingSettings:
    """Return a decoding whose form ``step`` is the JSON schema of a conversation (ours)."""
    if decoding.response_format != STEP_FORM:
        return decoding
    turn = {"speaker": {"enum": [*NAMES.values()]}, "text": {"type": "string"}}
    item = {"type": "object", "properties": turn, "required": [*turn], "additionalProperties": False}
    talk = {"conversation": {"type": "array", "items": item}}
    schema = {"type": "object", "properties": talk, "required": [*talk], "additionalProperties": False}
    return decoding.model_copy(update={"response_format": json.dumps(schema, sort_keys=True)})


def role_play_requests(queries: DataFrame, generation: RolePlaying, models: Sequence[str]) -> DataFrame:
    """Return the queries from which two role models start a talk (AugESC 6.1).

    Args:
        queries: ``augesc.queries``.
        generation: which queries, and how the models' turns are decoded.
        models: identities of the seeker's and the supporter's model.

    Returns:
        play_id (a hash of everything that the talk depends on), query_id, source, query.
    """
    parts = [*models, generation.role_decoding.text(), str(generation.role_utterances)]
    units = _units(baseline_queries(queries, generation))
    key = F.concat_ws("\u0001", "query_id", F.sha2("query", 256), *map(F.lit, parts))
    return units.withColumn("play_id", F.concat(F.lit("p"), F.substring(F.sha2(key, 256), 1, 16)))


def played_texts(plays: DataFrame, task: str) -> DataFrame:
    """Return ``augesc.role_plays`` with the columns of ``TEXTS``. Tokens are null, as no single model wrote a text."""
    return plays.select(
        F.col("play_id").alias("text_id"),
        F.lit("role_models").alias("method"),
        "source",
        F.col("query_id").alias("origin_id"),
        F.lit(0).alias("sample"),
        F.concat_ws(" and ", "seeker_model", "supporter_model").alias("model"),
        as_text(F.col("turns"), task).alias("text"),
        F.lit(None).cast("int").alias("tokens"),
        F.lit(None).cast("string").alias("request_id"),
        F.lit(None).cast("string").alias("prompt_hash"),
    )


def _units(queries: DataFrame) -> DataFrame:
    return queries.select("query_id", "source", F.col("text").alias("query"))


def prompts(query: Column, task: str) -> Column:
    """Apply ``etl.augesc.conversation_texts.prompt`` to a column of queries."""

    def prompted(queries: pd.Series) -> pd.Series:
        return queries.map(lambda one: prompt(one, task))

    return F.pandas_udf(prompted, "string")(query)  # type: ignore[call-overload,no-any-return]


def generated_texts(asked: DataFrame, generations: DataFrame, model: str, method: str) -> Outcome:
    """Return a method's texts, each a prompt with its answer. Requests without an answer are ``not_generated``,
    or have the fault of their text; see ``udfs.answer_texts``.

    Args:
        asked: rows of ``augmenter_requests`` or ``untuned_requests``.
        model: identity of the model. Rows of other models are ignored.
        method: one of ``etl.augesc.measures.METHODS``.

    Returns:
        Outcome of ``TEXTS``, with tokens counted by the model's tokenizer. The unit is the text.
    """
    counts = generations.where(F.col("model") == model).select(
        "request_id", (F.col("prompt_tokens") + F.col("answer_tokens")).alias("tokens")
    )
    answered = with_answers(asked, generations, model).join(counts, "request_id", "left")
    identity = F.concat_ws("/", F.lit(method), "query_id", "request_id", "model")
    texts = answered.where(F.col("answer").isNotNull()).select(
        F.concat(F.lit("g"), F.substring(F.sha2(identity, 256), 1, 16)).alias("text_id"),
        F.lit(method).alias("method"),
        "source",
        F.col("query_id").alias("origin_id"),
        "sample",
        "model",
        F.concat("prompt", "answer").alias("text"),
        "tokens",
        "request_id",
        "prompt_hash",
    )
    columns = dropped_columns(
        "text", F.concat_ws("/", "query_id", "sample"), fault_of(F.col("error"), "not_generated"), 1, F.col("error")
    )
    dropped = answered.where(F.col("answer").isNull()).select(*columns)
    return Outcome(texts, dropped, rows_in=asked.count())
