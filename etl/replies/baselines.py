"""Replies that no generator wrote: floors and the ceiling that Table 7's generators are read against (ours)."""

from collections.abc import Callable
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.replies.requests import first_by_hash, held_out_replies

FLOORS = ("constant", "random", "echo", "retrieval")
"""The training replies' most frequent one; one of them at random; the last turn again; the reply that followed the
most similar training history by TF-IDF."""
CEILING = "human"
"""The reply in the data, whose similarity to itself is 1 by definition."""
NO_REPLY = "no training replies of this source"


def baseline_replies(examples: DataFrame, most: int | None, pool_rows: int) -> DataFrame:
    """Return a reply of each baseline to each chosen test history, as rows of ``replies.baselines``.

    Args:
        examples: ``replies.examples``.
        most: test replies of each source, as for the generators; None for all.
        pool_rows: training replies of each source that ``random`` and retrieval choose from.
    """
    from udfs.retrieval import nearest_answers

    asked = held_out_replies(examples, most).select("example_id", "source", "context", F.col("reply").alias("expected"))
    train = examples.where("split = 'train'")
    pool = first_by_hash(train, pool_rows).select("source", "context", "reply", "place").cache()
    parts = {
        "constant": asked.join(_most_frequent(train), "source", "left"),
        "random": _random(asked, pool),
        "echo": asked.withColumn("reply", F.try_element_at("context", F.lit(-1))),
        "retrieval": _retrieved(asked, pool, nearest_answers),
        CEILING: asked.withColumn("reply", F.col("expected")),
    }
    named = [rows.withColumn("generator", F.lit(name)) for name, rows in parts.items()]
    error = F.when(F.col("reply").isNull(), F.lit(NO_REPLY))
    return reduce(lambda one, other: one.unionByName(other), named).select(
        F.concat_ws("/", "generator", "example_id").alias("reply_id"),
        "example_id",
        "source",
        "generator",
        "context",
        "expected",
        "reply",
        error.alias("error"),
    )


def _most_frequent(train: DataFrame) -> DataFrame:
    """Return the most frequent reply of each source, the first by text of equally frequent ones."""
    counted = train.groupBy("source", "reply").agg(F.count("*").alias("times"))
    order = Window.partitionBy("source").orderBy(F.desc("times"), "reply")
    return counted.withColumn("rank", F.row_number().over(order)).where("rank = 1").select("source", "reply")


def _random(asked: DataFrame, pool: DataFrame) -> DataFrame:
    """Add the training reply at a place that a hash of the example chooses."""
    sizes = pool.groupBy("source").agg(F.count("*").alias("size"))
    drawn = F.pmod(F.xxhash64(F.lit("random reply"), "example_id"), F.col("size")) + 1
    placed = asked.join(sizes, "source", "left").withColumn("place", drawn.cast("int"))
    return placed.join(pool.select("source", "place", "reply"), ["source", "place"], "left").drop("place", "size")


def _retrieved(asked: DataFrame, pool: DataFrame, nearest: Callable[..., DataFrame]) -> DataFrame:
    """Add the reply to the most similar training history of the source."""
    parts = []
    for source in sorted(row.source for row in asked.select("source").distinct().collect()):
        rows = pool.where(F.col("source") == source).orderBy("place").select(_text(), "reply").collect()
        queries = asked.where(F.col("source") == source).withColumn("query", _text())
        if rows:
            queries = nearest(queries, [row[0] for row in rows], [row[1] for row in rows])
        else:
            queries = queries.withColumn("reply", F.lit(None).cast("string"))
        parts.append(queries.drop("query"))
    nothing = asked.limit(0).withColumn("reply", F.lit(None).cast("string"))
    return reduce(lambda one, other: one.unionByName(other), parts, nothing)


def _text() -> Column:
    return F.concat_ws("\n", "context")
