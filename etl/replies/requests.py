"""What generators are asked on held-out replies, each request under a hash of all that its answer depends on."""

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.common.hashes import history_hash


def held_out_replies(examples: DataFrame, most: int | None) -> DataFrame:
    """The test replies, or so many of each source by content hash: fewer are among more."""
    rows = examples.where("split = 'test'")
    if most is None:
        return rows
    order = Window.partitionBy("source").orderBy(F.xxhash64("example_id"), "example_id")
    return rows.withColumn("place", F.row_number().over(order)).where(F.col("place") <= most).drop("place")


def plain_requests(replies: DataFrame, models: Mapping[str, str], how: str) -> DataFrame:
    """Every reply asked of every generator, without an intent.

    Args:
        replies: rows of ``replies.examples``.
        models: generator to its model's identity.
        how: what else the answer depends on: settings as text.

    Returns:
        request_id, example_id, source, generator, model, intent, context, expected.
    """
    parts = [_asked(replies, generator, model, F.lit(None).cast("string"), how) for generator, model in models.items()]
    return reduce(DataFrame.unionByName, parts)


def steered_requests(
    replies: DataFrame, steered: tuple[str, str], unsteered: tuple[str, str], intents: Sequence[str], how: str
) -> DataFrame:
    """Every reply asked with every intent of the generator that can be told, and without of it and of another.

    Args:
        replies: rows of ``replies.examples``.
        steered, unsteered: generator and its model's identity.
        intents: labels of the taxonomy.
        how: as for :func:`plain_requests`.

    Returns:
        As :func:`plain_requests`.
    """
    each = replies.withColumn("wish", F.explode(F.array(*map(F.lit, intents))))
    return _asked(each, *steered, F.col("wish"), how).unionByName(
        plain_requests(replies, dict([steered, unsteered]), how)
    )


def _asked(replies: DataFrame, generator: str, model: str, intent: Column, how: str) -> DataFrame:
    said = history_hash(F.concat("context", F.array("reply")))
    key = F.sha2(F.concat_ws("\n", F.lit(model), F.lit(how), "example_id", said, F.coalesce(intent, F.lit(""))), 256)
    return replies.select(
        key.alias("request_id"), "example_id", "source", F.lit(generator).alias("generator"),
        F.lit(model).alias("model"), intent.alias("intent"), "context", F.col("reply").alias("expected"),
    )  # fmt: skip
