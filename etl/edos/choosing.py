"""Choose emotional dialogues: the top N by weak-label confidence are EDOS (initial) (EDOS 3.1)."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.common.columns import left_out
from etl.tables.outcome import Outcome

PLACES = 10_000
"""Confidences are compared as integers in units of 1/10,000 (4 decimals), whose sums are exact in any order."""


def rounded_confidence(confidence: Column) -> Column:
    """Return a confidence as an integer in units of 1/10,000."""
    return F.round(confidence.cast("double") * PLACES).cast("bigint")


def dialogue_confidence(weak_labels: DataFrame, how: str) -> DataFrame:
    """Return each dialogue's confidence, computed from its turns. The paper does not state the rule.

    Args:
        weak_labels: dialogue_id, turn, confidence. Null confidences are ignored.
        how: ``max``, the most confident turn; ``mean`` of all turns; ``min``, the least confident turn, so that all
            turns are; ``first``, the opening turn, by which Table 9 counts a dialogue; ``last``, the turn that the
            crowd would label.

    Returns:
        dialogue_id, confidence (double, 4 decimals), one row for each dialogue with a confidence.

    Raises:
        InputError: ``how`` is unknown.
    """
    step = F.col("step")
    ways = {
        "max": F.max(step),
        "mean": F.round(F.sum(step) / F.count(step)).cast("bigint"),
        "min": F.min(step),
        "first": F.min_by(step, F.col("turn")),
        "last": F.max_by(step, F.col("turn")),
    }
    if how not in ways:
        raise InputError(f"dialogue_confidence {how!r}: choose one of {', '.join(ways)}")
    answered = weak_labels.select("dialogue_id", "turn", rounded_confidence(F.col("confidence")).alias("step"))
    return answered.filter(step.isNotNull()).groupBy("dialogue_id").agg((ways[how] / F.lit(PLACES)).alias("confidence"))


def ranked(scored: DataFrame) -> DataFrame:
    """Add rank: from 1, by descending confidence, ties by dialogue_id.

    A global sort is avoided: the few distinct confidences (4 decimals) are counted, and only rows of equal confidence
    are sorted.
    """
    counts = scored.groupBy("confidence").agg(F.count("*").alias("n"))
    above = Window.orderBy(F.col("confidence").desc()).rowsBetween(Window.unboundedPreceding, -1)
    offsets = counts.select("confidence", F.coalesce(F.sum("n").over(above), F.lit(0)).alias("higher"))
    equals = Window.partitionBy("confidence").orderBy("dialogue_id")
    return (
        scored.withColumn("place", F.row_number().over(equals))
        .join(F.broadcast(offsets), "confidence")
        .withColumn("rank", (F.col("higher") + F.col("place")).cast("int"))
        .drop("higher", "place")
    )


def choose_emotional(dialogues: DataFrame, weak_labels: DataFrame, top_n: int, how: str = "mean") -> Outcome:
    """Select the top N dialogues by weak confidence (EDOS 3.1), ties by dialogue_id.

    Args:
        dialogues: ``subtitles.clean_dialogues``.
        weak_labels: ``edos.weak_labels``.
        top_n: number of dialogues to keep (the paper: 1,000,000).
        how: see ``dialogue_confidence``.

    Returns:
        Outcome of ``edos.initial``. The unit is the dialogue.
    """
    scored = dialogues.select("dialogue_id", "movie_id", F.col("turns")["text"].alias("turns")).join(
        dialogue_confidence(weak_labels, how), "dialogue_id", "left"
    )
    known = F.col("confidence").isNotNull()
    order = ranked(scored.filter(known).select("dialogue_id", "confidence"))
    chosen = order.filter(F.col("rank") <= top_n)
    rows = scored.drop("confidence").join(chosen, "dialogue_id")
    detail = F.concat(
        F.lit("confidence "), F.format_number("confidence", 4), F.lit(", rank "), F.col("rank").cast("string")
    )
    below = order.filter(F.col("rank") > top_n).select(*left_out("dialogue", "dialogue_id", "below_top_n", 1, detail))
    unlabelled = scored.filter(~known).select(
        *left_out("dialogue", "dialogue_id", "no_weak_label", 1, F.lit("no turn has a weak label"))
    )
    return Outcome(
        rows.select("dialogue_id", "movie_id", "rank", F.col("confidence").cast("float"), "turns"),
        below.unionByName(unlabelled),
    )
