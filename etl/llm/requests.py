"""What a language model is asked, keyed by content: one row of ``llm.generations`` each.

The rows that a step's prompts stand for are joined with the answers by ``request_id``, which both sides compute
from the same columns: answers can be parsed again, by other rules, without asking anything.
"""

import hashlib

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.llm_settings import DecodingSettings
from udfs.llm_requests import REQUEST


def parameters_hash(decoding: DecodingSettings) -> str:
    """Of everything that decides how an answer is decoded."""
    return hashlib.sha256(decoding.text().encode()).hexdigest()[:16]


def prompt_hash(prompt: Column, answer_start: Column) -> Column:
    """Of all that the model reads. Both texts' own hashes are hashed: no text can imitate the border."""
    return F.sha2(F.concat(F.sha2(prompt, 256), F.sha2(answer_start, 256)), 256)


def with_requests(
    units: DataFrame,
    prompt: Column,
    decoding: DecodingSettings,
    answer_start: Column | None = None,
    samples: Column | int = 1,
) -> DataFrame:
    """Units of a step with what is asked for each: one row a sample.

    Args:
        units: whatever the step goes through, one row each.
        prompt: all that is asked.
        decoding: of the step.
        answer_start: dictated: the model goes on from there.
        samples: how many answers each prompt gets, numbered from 0; units that get none are left out.

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
    """What is to be asked, each once, however many units it stands for."""
    return asked.select(*REQUEST).dropDuplicates(["request_id"])


def with_answers(asked: DataFrame, generations: DataFrame, model: str) -> DataFrame:
    """Requests with their answers: ``answer`` is the dictated start and what the model made of it; ``error`` if none;
    ``cut_off`` where the most tokens ended it.

    Args:
        asked: of ``with_requests``.
        generations: the step's table of answers; only this model's count.
        model: identity of the generator.
    """
    said = generations.where(F.col("model") == model).select("request_id", "text", "finish_reason", "error")
    found = asked.join(said, "request_id", "left")
    return found.select(
        *asked.columns,
        F.when(F.col("text").isNotNull(), F.concat("answer_start", "text")).alias("answer"),
        (F.coalesce("finish_reason", F.lit("")) == "length").alias("cut_off"),
        F.when(F.col("text").isNull(), F.coalesce("error", F.lit("never asked"))).alias("error"),
    )
