"""Build requests to a language model, keyed by content, with one row of ``llm.generations`` each.

A step's rows are joined with the answers by ``request_id``, which depends only on their columns. Stored answers can
therefore be parsed again by other rules.
"""

import hashlib

import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.llm_settings import DecodingSettings
from udfs.answer_texts import FAULTS, whole_answer
from udfs.llm_requests import REQUEST, TEMPLATE, TOGETHER

CUT_OFF = ("length", "max_tokens", "max_length", "max_new_tokens", "model_length")
"""Reasons to finish of an answer that reached the maximum of tokens, as servers name it, in lower case."""
TEMPLATE_MARK = r"(<\|?|\[)(?=/?[^\s<>\[\]]{1,40}\|?[>\]])"
"""The opening of a chat template's mark, such as ``<|im_end|>`` or ``[INST]``, for Java and Python alike.

A blank behind it breaks the mark up, so that a text in a prompt stays data.
"""


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
    together: Column | None = None,
    template: str | None = None,
) -> DataFrame:
    """Add a step's requests to its units, with one row per sample.

    Args:
        units: rows of the step, one per prompt.
        answer_start: predefined start of the answer, which the model continues.
        samples: number of answers per prompt, numbered from 0. Units without samples are dropped.
        together: text that prompts have in common if most of them is the same, such as a plot's id. They are sent one
            after the other, so that servers compute their common start once. None: each prompt alone.
        template: the words that the prompts are made of, whose hash is stored with the answers.

    Returns:
        The units' columns with prompt, answer_start, sample, parameters, parameters_hash, prompt_hash, together,
        template_hash, request_id.
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
    asked = asked.withColumn(TOGETHER, F.col("prompt_hash") if together is None else together.cast("string"))
    asked = asked.withColumn(TEMPLATE, F.lit(None if template is None else template_hash(template)).cast("string"))
    key = F.concat_ws("/", "prompt_hash", "parameters_hash", F.col("sample").cast("string"))
    return asked.withColumn("request_id", F.sha2(key, 256))


def template_hash(template: str) -> str:
    """Return a hash of the words of prompts before their slots are filled: the version of the prompt."""
    return hashlib.sha256(template.encode()).hexdigest()[:16]


def distinct_requests(asked: DataFrame) -> DataFrame:
    """Return the distinct requests, as several units can share one; the smallest ``together`` is kept."""
    return asked.groupBy(*REQUEST).agg(F.min(TOGETHER).alias(TOGETHER), F.min(TEMPLATE).alias(TEMPLATE))


def with_answers(asked: DataFrame, generations: DataFrame, model: str) -> DataFrame:
    """Join requests with their answers.

    Args:
        asked: rows of ``with_requests``.
        generations: the step's table of answers.
        model: identity of the generator. Rows of other models are ignored.

    Returns:
        The requests with model, answer (with its predefined start, without the model's thoughts), cut_off (whether
        generation stopped at the token limit), and error if there is no answer; see ``udfs.answer_texts``.
    """
    answers = generations.where(F.col("model") == model).select("request_id", "text", "finish_reason", "error")
    joined = asked.join(answers, "request_id", "left").withColumn("said", answer_struct())
    ended = F.concat(F.lit(" (finish_reason "), F.coalesce("finish_reason", F.lit("unknown")), F.lit(")"))
    without_text = F.coalesce("error", F.lit("never asked"))
    error = F.when(F.col("text").isNull(), without_text).otherwise(F.concat("said.fault", ended))
    return joined.select(
        *asked.columns,
        F.lit(model).alias("model"),
        F.col("said.answer").alias("answer"),
        F.lower(F.coalesce("finish_reason", F.lit(""))).isin(*CUT_OFF).alias("cut_off"),
        error.alias("error"),
    )


def answered_request() -> Column:
    """Return the struct ``request`` of ``with_answers`` rows: where a result comes from, for the tables of results."""
    return F.struct("request_id", "prompt_hash", "model").alias("request")


def answer_struct() -> Column:
    """Return the struct (answer, fault) of the columns answer_start and text: the answer with its start."""

    def read(starts: pd.Series, texts: pd.Series) -> pd.DataFrame:
        pairs = zip(starts, texts, strict=True)
        said = [(None, None) if text is None else whole_answer(start or "", text)[:2] for start, text in pairs]
        return pd.DataFrame(said, columns=["answer", "fault"])

    return F.pandas_udf(read, "answer string, fault string")("answer_start", "text")  # type: ignore[call-overload,no-any-return]


def fault_of(error: Column, otherwise: str) -> Column:
    """Return the reason of a request without an answer: the fault of its text, or ``otherwise``."""
    first = F.substring_index(error, " ", 1)
    return F.when(first.isin(*FAULTS), first).otherwise(otherwise)
