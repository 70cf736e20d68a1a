"""Build requests to a language model, keyed by content, with one row of ``llm.generations`` each.

A step's rows are joined with the answers by ``request_id``, which depends only on their columns. Stored answers can
therefore be parsed again by other rules.
"""

import hashlib

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.llm_settings import DecodingSettings
from udfs.llm_requests import REQUEST


def parameters_hash(decoding: DecodingSettings) -> str:
    """Return a hash of all decoding parameters."""
    return hashlib.sha256(decoding.text().encode()).hexdigest()[:16]


def prompt_hash(prompt: Column, answer_start: Column) -> Column:
    """Return a hash of the model's input. Hashing both texts' hashes avoids collisions at the border."""
    return F.sha2(F.concat(F.sha2(prompt, 256), F.sha2(answer_start, 256)), 256)


def with_requests(
    units: DataFrame,
    prompt: Column,
    decoding: DecodingSettings,
    answer_start: Column | None = None,
    samples: Column | int = 1,
) -> DataFrame:
    """Add a step's requests to its units, with one row per sample.

    Args:
        units: rows of the step, one per prompt.
        prompt: the prompt.
        decoding: decoding parameters of the step.
        answer_start: predefined start of the answer, which the model continues.
        samples: number of answers per prompt, numbered from 0. Units without samples are dropped.

    Returns:
        The units' columns with prompt, answer_start, sample, parameters, parameters_hash, prompt_hash, request_id.
    """
    most = samples if isinstance(samples, Column) else F.lit(samples)
    start = F.lit("") if answer_start is None else answer_start
    asked = units.select("*", prompt.alias("prompt"), start.alias("answer_start")).select(
        "*",
        prompt_hash(F.col("prompt"), F.col("answer_start")).alias("prompt_hash"),
        F.lit(decoding.text()).alias("parameters"),
        F.lit(parameters_hash(decoding)).alias("parameters_hash"),
        F.explode(F.when(most > 0, F.sequence(F.lit(0), most - 1))).alias("sample"),
    )
    key = F.concat_ws("/", "prompt_hash", "parameters_hash", F.col("sample").cast("string"))
    return asked.withColumn("request_id", F.sha2(key, 256))


def distinct_requests(asked: DataFrame) -> DataFrame:
    """Return the distinct requests, as several units can share one."""
    return asked.select(*REQUEST).dropDuplicates(["request_id"])


def with_answers(asked: DataFrame, generations: DataFrame, model: str) -> DataFrame:
    """Join requests with their answers.

    Args:
        asked: rows of ``with_requests``.
        generations: the step's table of answers.
        model: identity of the generator. Rows of other models are ignored.

    Returns:
        The requests with answer (with its predefined start), cut_off (whether generation stopped at the token limit),
        and error if there is no answer.
    """
    answers = generations.where(F.col("model") == model).select("request_id", "text", "finish_reason", "error")
    return asked.join(answers, "request_id", "left").select(
        *asked.columns,
        whole_answer().alias("answer"),
        (F.coalesce("finish_reason", F.lit("")) == "length").alias("cut_off"),
        F.when(F.col("text").isNull(), F.coalesce("error", F.lit("never asked"))).alias("error"),
    )


def whole_answer() -> Column:
    """Return the answer with its predefined start, which stored texts may repeat; null without a text."""
    repeated = (F.col("answer_start") != "") & F.startswith(F.lower(F.ltrim("text")), F.lower("answer_start"))
    return F.when(repeated, F.col("text")).otherwise(F.concat("answer_start", "text"))
