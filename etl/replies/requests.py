"""Build requests on held-out replies, each with a hash of everything that its answer depends on."""

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.common.hashes import history_hash


def held_out_replies(examples: DataFrame, most: int | None) -> DataFrame:
    """Return the test replies, or the first of each source by hash. A smaller number gives a subset of a larger."""
    rows = examples.where("split = 'test'")
    return rows if most is None else first_by_hash(rows, most).drop("place")


def first_by_hash(rows: DataFrame, most: int, *by: str) -> DataFrame:
    """Return the first rows of each source, or of each group ``by``, by the hash of their id, with their ``place``."""
    order = Window.partitionBy(*(by or ("source",))).orderBy(F.xxhash64("example_id"), "example_id")
    return rows.withColumn("place", F.row_number().over(order)).where(F.col("place") <= most)


def plain_requests(replies: DataFrame, models: Mapping[str, str], how: str) -> DataFrame:
    """Return a request without an intent for each reply and generator.

    Args:
        replies: rows of ``replies.examples``.
        models: identity of each generator's model.
        how: the settings on which the answer depends, as text.

    Returns:
        request_id, example_id, source, generator, model, intent, context, expected.
    """
    parts = [_asked(replies, generator, model, F.lit(None).cast("string"), how) for generator, model in models.items()]
    return reduce(lambda one, other: one.unionByName(other), parts)


def steered_requests(
    replies: DataFrame, steered: tuple[str, str], unsteered: tuple[str, str], intents: Sequence[str], how: str
) -> DataFrame:
    """Return requests of each reply to the steered generator with each intent, and to both without an intent.

    Args:
        replies: rows of ``replies.examples``.
        steered, unsteered: generator and its model's identity.
        how: see :func:`plain_requests`.

    Returns:
        The columns of :func:`plain_requests`.
    """
    each = replies.withColumn("wish", F.explode(F.array(*map(F.lit, intents))))
    plain = plain_requests(replies, dict([steered, unsteered]), how)
    return _asked(each, *steered, F.col("wish"), how).unionByName(plain)


def _asked(replies: DataFrame, generator: str, model: str, intent: Column, how: str) -> DataFrame:
    turns = history_hash(F.concat("context", F.array("reply")))
    key = F.sha2(F.concat_ws("\n", F.lit(model), F.lit(how), "example_id", turns, F.coalesce(intent, F.lit(""))), 256)
    return replies.select(
        key.alias("request_id"),
        "example_id",
        "source",
        F.lit(generator).alias("generator"),
        F.lit(model).alias("model"),
        intent.alias("intent"),
        "context",
        F.col("reply").alias("expected"),
    )
