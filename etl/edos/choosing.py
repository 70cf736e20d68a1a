"""Choose emotional dialogues: the top N by weak-label confidence are EDOS (initial) (EDOS 3.1)."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.pipeline.outcome import Outcome, dropped_columns

PLACES = 10_000
"""Confidences are compared as integers in units of 1/10,000 (4 decimals), whose sums are exact in any order."""


def rounded_confidence(confidence: Column) -> Column:
    """Return a confidence as an integer in units of 1/10,000."""
    return F.round(confidence.cast("double") * PLACES).cast("bigint")


def emotional_confidence(weak_labels: DataFrame, not_emotions: Sequence[str]) -> DataFrame:
    """Return weak labels with confidence 0 where the label says that a turn has no emotion (EDOS 3.1).

    The paper chooses *emotional* dialogues: that a turn is surely neutral or surely a question does not make its
    dialogue emotional.

    Args:
        weak_labels: label, confidence; a null confidence stays null.
        not_emotions: labels that do not count; none: the confidence alone decides, whatever the label.
    """
    if not not_emotions:
        return weak_labels
    counts = F.when(F.col("label").isin(*not_emotions) & F.col("confidence").isNotNull(), F.lit(0.0))
    return weak_labels.withColumn("confidence", counts.otherwise(F.col("confidence")))


def dialogue_confidence(weak_labels: DataFrame, how: str) -> DataFrame:
    """Return each dialogue's confidence, computed from its turns. The paper does not state the rule.

    Args:
        weak_labels: dialogue_id, turn, confidence. Null confidences are ignored.
        how: ``max``, the most confident turn; ``mean`` of all turns; ``first``, the opening turn, by which Table 9
            counts a dialogue; ``last``, the turn that the crowd would label.

    Returns:
        dialogue_id, confidence (double, 4 decimals), one row for each dialogue with a confidence.
    """
    step = F.col("step")
    ways = {
        "max": F.max(step),
        "mean": F.round(F.sum(step) / F.count(step)).cast("bigint"),
        "min": F.min(step),
        "first": F.min_by(step, F.col("turn")),
        "last": F.max_by(step, F.col("turn")),
    }
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


def score_of(rule: str) -> Column:
    """Return the score that a rule chooses by, an integer in units of 1/10,000, from columns emotion and certainty.

    EDOS 3.1 chooses by the confidence of the weak labels alone (``emotion``). ``emotion_and_certainty`` is ours: the
    product of that confidence and of the probability that all borders are right, which is the probability that the
    dialogue is emotional and rightly cut, were the two independent. A dialogue without a certainty counts as
    uncertain (0).
    """
    emotion = rounded_confidence(F.col("emotion"))
    if rule == "emotion":
        return emotion
    certainty = rounded_confidence(F.coalesce(F.col("certainty"), F.lit(0.0)))
    return F.round(emotion * certainty / F.lit(PLACES)).cast("bigint")


def scored_dialogues(
    dialogues: DataFrame, weak_labels: DataFrame, how: str = "mean", not_emotions: Sequence[str] = ()
) -> DataFrame:
    """Return dialogue_id, movie_id, turns (texts), emotion (null without a weak label) and certainty.

    Args:
        dialogues: ``subtitles.clean_dialogues``; without a column certainty it is null.
        weak_labels: ``edos.weak_labels``.
        how: see ``dialogue_confidence``.
        not_emotions: see ``emotional_confidence``.
    """
    certainty = F.col("certainty") if "certainty" in dialogues.columns else F.lit(None)
    given = dialogues.select(
        "dialogue_id",
        "movie_id",
        F.col("turns")["text"].alias("turns"),
        certainty.cast("double").alias("certainty"),
    )
    emotion = dialogue_confidence(emotional_confidence(weak_labels, not_emotions), how)
    return given.join(emotion.withColumnRenamed("confidence", "emotion"), "dialogue_id", "left")


def choose_emotional(
    dialogues: DataFrame,
    weak_labels: DataFrame,
    top_n: int,
    how: str = "mean",
    rule: str = "emotion",
    not_emotions: Sequence[str] = (),
) -> Outcome:
    """Select the top N dialogues by a rule (EDOS 3.1: by weak confidence), ties by dialogue_id.

    Args:
        dialogues: ``subtitles.clean_dialogues``.
        weak_labels: ``edos.weak_labels``.
        top_n: number of dialogues to keep (the paper: 1,000,000).
        how: see ``dialogue_confidence``.
        rule: see ``score_of``.
        not_emotions: see ``emotional_confidence``.

    Returns:
        Outcome of ``edos.initial``. The unit is the dialogue.
    """
    scored = scored_dialogues(dialogues, weak_labels, how, not_emotions)
    known = F.col("emotion").isNotNull()
    score = (score_of(rule) / F.lit(PLACES)).alias("confidence")
    order = ranked(scored.filter(known).select("dialogue_id", score))
    chosen = order.filter(F.col("rank") <= top_n)
    rows = scored.join(chosen, "dialogue_id")
    named = "confidence" if rule == "emotion" else f"{rule.replace('_', ' ')}"
    detail = F.concat(
        F.lit(f"{named} "), F.format_number("confidence", 4), F.lit(", rank "), F.col("rank").cast("string")
    )
    below = order.filter(F.col("rank") > top_n).select(
        *dropped_columns("dialogue", "dialogue_id", "below_top_n", 1, detail)
    )
    unlabelled = scored.filter(~known).select(
        *dropped_columns("dialogue", "dialogue_id", "no_weak_label", 1, F.lit("no turn has a weak label"))
    )
    return Outcome(
        rows.select(
            "dialogue_id",
            "movie_id",
            "rank",
            F.col("confidence").cast("float"),
            "turns",
            F.col("emotion").cast("float"),
            F.col("certainty").cast("float"),
        ),
        below.unionByName(unlabelled),
    )
