"""Choosing emotional dialogues: the top N by weak-label confidence are EDOS (initial) (EDOS 3.1)."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.tables.outcome import Outcome

PLACES = 10_000
"""Confidences are compared in steps of 1/10,000 (4 decimals): sums of them are exact in any order."""


def rounded_confidence(confidence: Column) -> Column:
    """A confidence in whole steps of 1/10,000."""
    return F.round(confidence.cast("double") * PLACES).cast("bigint")


def dialogue_confidence(weak_labels: DataFrame, how: str) -> DataFrame:
    """Each dialogue's confidence from its turns'. The paper does not say how; a setting.

    Args:
        weak_labels: dialogue_id, turn, confidence (null: the model gave no answer; not counted).
        how: ``max`` one clearly emotional turn is enough; ``mean`` all turns; ``first`` the opening turn, by
            which Table 9 counts a dialogue; ``last`` the turn that the crowd would label.

    Returns:
        dialogue_id, confidence (double, 4 decimals): one row for each dialogue with an answer.

    Raises:
        InputError: an unknown ``how``.
    """
    step = F.col("step")
    ways = {
        "max": F.max(step),
        "mean": F.round(F.sum(step) / F.count(step)).cast("bigint"),
        "first": F.min_by(step, F.col("turn")),
        "last": F.max_by(step, F.col("turn")),
    }
    if how not in ways:
        raise InputError(f"dialogue_confidence {how!r}: choose one of {', '.join(ways)}")
    answered = weak_labels.select("dialogue_id", "turn", rounded_confidence(F.col("confidence")).alias("step"))
    return answered.filter(step.isNotNull()).groupBy("dialogue_id").agg((ways[how] / F.lit(PLACES)).alias("confidence"))


def ranked(scored: DataFrame) -> DataFrame:
    """Adds rank from 1 by confidence, highest first, ties by dialogue_id, without one sort of everything.

    Confidences have 4 decimals: the few distinct ones are counted, and rows are ordered only among their equals.

    Args:
        scored: dialogue_id, confidence (4 decimals), and more.
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


def choose_emotional(dialogues: DataFrame, weak_labels: DataFrame, top_n: int, how: str = "max") -> Outcome:
    """The top N dialogues by weak confidence (EDOS 3.1); ties by dialogue_id.

    Args:
        dialogues: dialogue_id, movie_id, turns (with text): ``subtitles.clean_dialogues``.
        weak_labels: the columns of ``edos.weak_labels``.
        top_n: how many dialogues stay (the paper: 1,000,000).
        how: see ``dialogue_confidence``.

    Returns:
        Outcome of ``edos.initial``. The unit is the dialogue: in = rows + dropped, each with its confidence.
    """
    scored = dialogues.select("dialogue_id", "movie_id", F.col("turns")["text"].alias("turns")).join(
        dialogue_confidence(weak_labels, how), "dialogue_id", "left"
    )
    known = F.col("confidence").isNotNull()
    order = ranked(scored.filter(known).select("dialogue_id", "confidence"))
    chosen = order.filter(F.col("rank") <= top_n)
    rows = scored.drop("confidence").join(chosen, "dialogue_id")
    below = order.filter(F.col("rank") > top_n).select(
        "dialogue_id",
        F.lit("below_top_n").alias("reason"),
        F.concat(
            F.lit("confidence "), F.format_number("confidence", 4),
            F.lit(", rank "), F.col("rank").cast("string"),
        ).alias("detail"),
    )  # fmt: skip
    unlabelled = scored.filter(~known).select(
        "dialogue_id",
        F.lit("no_weak_label").alias("reason"),
        F.lit("no turn has a weak label").alias("detail"),
    )
    dropped = below.unionByName(unlabelled).select(
        F.lit("dialogue").alias("unit"),
        F.col("dialogue_id").alias("id"),
        "reason",
        "detail",
        F.lit(1).cast("bigint").alias("units"),
    )
    return Outcome(
        rows=rows.select("dialogue_id", "movie_id", "rank", F.col("confidence").cast("float"), "turns"),
        dropped=dropped,
    )
