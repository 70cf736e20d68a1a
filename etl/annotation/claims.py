"""Check what answers claim: the signature of the link they came by, their seat, and whether they are copies."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.annotation.signing import PLATFORM
from etl.pipeline.outcome import dropped_columns

LEAST_EQUAL = 10
"""Least number of answers to a HIT from which identical ones are reported (ours)."""
LEAST_EQUAL_TIMES = 3
"""Least number of timed items where the times are equal as well (ours)."""


def with_signed(given: DataFrame) -> DataFrame:
    """Add signed: whether an answer's signature is that of its HIT and seat; null without one.

    Args:
        given: answers with seat and sign, and their HIT's signatures (map of seat to signature; null if unsigned).
    """
    expected = F.try_element_at("signatures", F.coalesce("seat", F.lit("")))
    right = F.coalesce(F.col("sign") == expected, F.lit(False))
    return given.withColumn("signed", F.when(F.col("signatures").isNotNull() & F.col("sign").isNotNull(), right))


def claim_fault(require_signed: bool) -> Column:
    """Return ``bad_signature``, or ``not_signed`` where a signature is required, or null."""
    fault = F.when(~F.col("signed"), "bad_signature")
    return fault.when(F.col("signed").isNull(), "not_signed") if require_signed else fault


def order_in_files() -> list[Column]:
    """Return the order of answers in their files: by file, then by number."""
    return [
        F.regexp_extract("place", "^(.*?)(#[0-9]+)?$", 1),
        F.expr("try_cast(regexp_extract(place, '#([0-9]+)$', 1) AS int)"),
        F.col("place"),
    ]


def latest_first() -> list[Column]:
    """Return the order in which answers to one question replace each other: signed ones, then the latest."""
    return [F.coalesce("signed", F.lit(False)).desc(), F.col("submitted").desc_nulls_last(), *order_in_files()]


def with_seats_taken(judged: DataFrame) -> DataFrame:
    """Give the fault ``seat_taken`` to answers by a link that another worker id has used before.

    The first id is the one whose answer stands first in the files. ``submitted`` comes from the sender:
    ordered by it, a link that is used again could displace the worker to whom it was given. A crowd platform's answers
    have no link of their own.

    Args:
        judged: answers with fault, signed, seat, hit_id, worker_id, submitted, place.
    """
    linked = F.col("fault").isNull() & F.col("signed") & (F.col("seat") != PLATFORM)
    linked = F.coalesce(linked, F.lit(False))
    seat = Window.partitionBy("hit_id", "seat", linked).orderBy(*order_in_files())
    other = F.first("worker_id").over(seat) != F.col("worker_id")
    return judged.withColumn("fault", F.coalesce("fault", F.when(linked & other, F.lit("seat_taken"))))


def copied_answers(judged: DataFrame) -> DataFrame:
    """Return ledger rows, with 0 units, of workers whose answers to a HIT are equal to another worker's.

    The reason is ``same_answers_and_times`` or ``same_answers``, the id is ``<hit_id>/<worker_id>``, and the detail
    names the first worker. The answers count nevertheless: the requester decides.

    Args:
        judged: answers with fault, hit_id, item_id, worker_id, question, value and seconds.
    """
    answer = F.to_json(F.struct("item_id", "question", "value"))
    timed = F.to_json(F.struct("item_id", "question", "value", "seconds"))
    timed_item = F.when(F.col("seconds").isNotNull(), F.col("item_id"))
    works = (
        judged.where(F.col("fault").isNull())
        .groupBy("hit_id", "worker_id")
        .agg(
            F.sha2(F.array_join(F.sort_array(F.collect_list(answer)), "\n"), 256).alias("answers"),
            F.sha2(F.array_join(F.sort_array(F.collect_list(timed)), "\n"), 256).alias("times"),
            F.count("*").alias("number"),
            F.count_distinct(timed_item).alias("timed"),
        )
    )
    alike = {
        "same_times": ("times", F.col("timed") >= LEAST_EQUAL_TIMES),
        "same_answers": ("answers", F.col("number") >= LEAST_EQUAL),
    }
    for name, (digest, enough) in alike.items():
        window = Window.partitionBy("hit_id", digest).orderBy("worker_id")
        first = F.first("worker_id").over(window)
        works = works.withColumn(name, F.when(enough & (first != F.col("worker_id")), first))
    found = works.where(F.coalesce("same_times", "same_answers").isNotNull())
    reason = F.when(F.col("same_times").isNotNull(), "same_answers_and_times").otherwise("same_answers")
    detail = F.concat(F.lit("as worker "), F.coalesce("same_times", "same_answers"))
    return found.select(*dropped_columns("worker", F.concat_ws("/", "hit_id", "worker_id"), reason, 0, detail))
