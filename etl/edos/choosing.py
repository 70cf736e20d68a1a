"""Choose emotional dialogues: the top N by weak-label confidence are EDOS (initial) (EDOS 3.1)."""

from collections.abc import Callable, Collection, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import with_computed
from etl.common.dialogue_content import Said, content, exchange, formulas
from etl.edos.settings import ChoiceRules
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
        how: ``max``, the most confident turn; ``min``, the least confident; ``mean`` of all turns; ``first``, the
            opening turn, by which Table 9 counts a dialogue; ``last``, the turn that the crowd would label.

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


RULES: Mapping[str, tuple[str, ...]] = {
    "emotion": ("emotion",),
    "worth": ("emotion", "certainty", "content", "exchange", "variety", "accepted"),
}
"""The parts that each rule multiplies. EDOS 3.1 chooses by the confidence of the weak labels alone (``emotion``).

``worth`` is ours: the probability that the dialogue is emotional and rightly cut, were the two independent, times what
it says (``dialogue_content``).
"""
SAID = ("content", "exchange", "formulas")
"""Columns of what a dialogue says; ``variety`` is 1 - formulas."""
ACCEPTED_OTHER = 0.5
NOT_ACCEPTED = 0.1
"""What a turn counts whose accepted label is no emotion, and one whose label is not accepted, in ``accepted``."""


def score_of(rule: str, weights: Mapping[str, float]) -> Column:
    """Return the score that a rule chooses by, an integer in units of 1/10,000: the product of its parts' powers.

    A part that is null counts 0; ``accepted`` is null where nothing tells which labels are, and counts 1.

    Args:
        rule: a name of :data:`RULES`.
        weights: the exponent of each part, else 1.
    """
    score = F.lit(1.0)
    for part in RULES[rule]:
        value = F.lit(1.0) - F.col("formulas") if part == "variety" else F.col(part)
        value = rounded_confidence(F.coalesce(value, F.lit(float(part == "accepted")))) / F.lit(PLACES)
        weight = weights.get(part, 1.0)
        score = score * (value if weight == 1 else F.pow(value, F.lit(weight)))
    return rounded_confidence(score)


def with_said(dialogues: DataFrame, function_words: Collection[str]) -> DataFrame:
    """Add columns content, exchange and formulas, of what the dialogues say (``dialogue_content``), to 4 decimals.

    Args:
        dialogues: turns (texts).
    """
    known = frozenset(function_words)

    def measured(batch: pa.RecordBatch) -> list[pa.Array]:
        said = [[Said.of(text, known) for text in turns] for turns in batch.column("turns").to_pylist()]
        return [pa.array([round(of(turns), 4) for turns in said], pa.float64()) for of in (content, exchange, formulas)]

    return with_computed(dialogues, dict.fromkeys(SAID, "double"), measured)


def accepted_share(weak_labels: DataFrame, thresholds: DataFrame, not_emotions: Sequence[str]) -> DataFrame:
    """Return dialogue_id and accepted: how many of a dialogue's turns have an accepted label (ours), 0 to 1.

    A turn with an accepted emotion counts 1, with another accepted label `ACCEPTED_OTHER`, any other `NOT_ACCEPTED`.

    Args:
        weak_labels: dialogue_id, model, label, confidence.
        thresholds: ``edos.weak_label_thresholds``. Dialogues whose labels have no row in it are left out.
        not_emotions: labels that are no emotions.
    """
    known = F.broadcast(thresholds.select("model", "label", "threshold"))
    is_accepted = F.coalesce(F.col("confidence") >= F.col("threshold"), F.lit(False))
    counts = F.when(~is_accepted, NOT_ACCEPTED).when(F.col("label").isin(*not_emotions), ACCEPTED_OTHER).otherwise(1.0)
    judged = weak_labels.join(known, ["model", "label"])
    return judged.groupBy("dialogue_id").agg(F.round(F.avg(counts), 4).alias("accepted"))


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


def sizes_by_score(scored: DataFrame) -> list[tuple[int, int, int]]:
    """Return each score, from the highest, with how many rows have it and how many turns these have together.

    Args:
        scored: score (at most 10,001 values) and size (turns).
    """
    found = scored.groupBy("score").agg(F.count("*").alias("n"), F.sum("size").alias("turns")).collect()
    return sorted(((row["score"], row["n"], row["turns"]) for row in found), reverse=True)


def places_for(sizes: Sequence[tuple[int, int, int]], share: float) -> int:
    """Return how many dialogues in the order of their scores have at most this share of all turns, at least one.

    Of dialogues with equal scores, whose order is that of their ids, each counts the mean of their turns.

    Args:
        sizes: from :func:`sizes_by_score`.
        share: of the turns of all rows.
    """
    left = share * sum(turns for _, _, turns in sizes)
    places = 0
    for _, n, turns in sizes:
        if turns > left:
            return max(1, places + int(left * n / turns))
        places += n
        left -= turns
    return places


def scored_by(
    rules: ChoiceRules,
    dialogues: DataFrame,
    weak_labels: DataFrame,
    function_words: Collection[str],
    thresholds: DataFrame | None = None,
) -> DataFrame:
    """Return :func:`scored_dialogues` with what a dialogue says and accepted, null where the rule does not ask for it.

    Args:
        thresholds: ``edos.weak_label_thresholds``; None: accepted is null.
    """
    scored = scored_dialogues(dialogues, weak_labels, rules.dialogue_confidence, rules.not_emotions)
    if rules.choice != "worth":
        return scored.select("*", *(F.lit(None).cast("double").alias(name) for name in (*SAID, "accepted")))
    said = with_said(scored, function_words)
    if thresholds is None:
        return said.withColumn("accepted", F.lit(None).cast("double"))
    return said.join(accepted_share(weak_labels, thresholds, rules.not_emotions), "dialogue_id", "left")


def _in_order(scored: DataFrame, rules: ChoiceRules) -> tuple[DataFrame, int]:
    """Return dialogue_id, confidence and rank of the dialogues, and how many of them are chosen."""
    score = score_of(rules.choice, rules.worth.model_dump() if rules.choice == "worth" else {})
    places = scored.select("dialogue_id", F.size("turns").alias("size"), score.alias("score"))
    top_n = rules.top_n
    if rules.top_share is not None:
        top_n = min(top_n, places_for(sizes_by_score(places), rules.top_share))
    return ranked(places.select("dialogue_id", (F.col("score") / F.lit(PLACES)).alias("confidence"))), top_n


CURVE = (0.01, 0.02, 0.05, 0.1, 0.15, 0.3, 0.6, 1.0)
"""Shares of the clean dialogues' turns that the curve is drawn by."""


def choice_curve(
    scored: DataFrame, rules: ChoiceRules, persist: Callable[[DataFrame], DataFrame], shares: Sequence[float] = CURVE
) -> list[dict[str, float]]:
    """Return what a choice of each size has: what `edos.top_share` gives and costs.

    Args:
        scored: from :func:`scored_by`.
        rules: the order.
        persist: called on a frame that is read for each share.
        shares: of the turns of all dialogues with a weak label.

    Returns:
        share, dialogues, films, turns (a dialogue), tokens (a turn), faults (1 minus the mean certainty, null if
        unknown), short (share of the dialogues of two turns with fewer than 24 tokens), emotion and accepted (means).
    """
    known = scored.filter(F.col("emotion").isNotNull())
    order, _ = _in_order(known, rules)
    texts = F.aggregate("turns", F.lit(0), lambda n, text: n + F.size(F.split(text, " ")))
    columns = ("dialogue_id", "movie_id", "certainty", "emotion", "accepted")
    sizes = known.select(*columns, F.size("turns").alias("size"), texts.alias("tokens"))
    frame = persist(sizes.join(order, "dialogue_id"))
    counts = sizes_by_score(frame.select("size", rounded_confidence(F.col("confidence")).alias("score")))
    found = []
    for share in shares:
        (row,) = (
            frame.filter(F.col("rank") <= places_for(counts, share))
            .agg(
                F.count("*").alias("dialogues"),
                F.countDistinct("movie_id").alias("films"),
                F.avg("size").alias("turns"),
                (F.sum("tokens") / F.sum("size")).alias("tokens"),
                (1 - F.avg("certainty")).alias("faults"),
                F.avg(((F.col("size") == 2) & (F.col("tokens") < 24)).cast("double")).alias("short"),
                F.avg("emotion").alias("emotion"),
                F.avg("accepted").alias("accepted"),
            )
            .collect()
        )
        found.append({"share": share, **row.asDict()})
    return found


def choose_emotional(
    dialogues: DataFrame,
    weak_labels: DataFrame,
    rules: ChoiceRules,
    function_words: Collection[str] = (),
    persist: Callable[[DataFrame], DataFrame] = lambda frame: frame,
    thresholds: DataFrame | None = None,
) -> Outcome:
    """Select the top N dialogues by a rule (EDOS 3.1: by weak confidence), ties by dialogue_id.

    Args:
        dialogues: ``subtitles.clean_dialogues``.
        weak_labels: ``edos.weak_labels``.
        persist: called on a frame that is read several times.
        thresholds: ``edos.weak_label_thresholds``, where the rule asks for it.

    Returns:
        Outcome of ``edos.initial``. The unit is the dialogue.
    """
    scored = scored_by(rules, dialogues, weak_labels, function_words, thresholds)
    scored = persist(scored) if rules.choice == "worth" else scored
    known = F.col("emotion").isNotNull()
    order, top_n = _in_order(scored.filter(known), rules)
    chosen = order.filter(F.col("rank") <= top_n)
    rows = scored.join(chosen, "dialogue_id")
    named = "confidence" if rules.choice == "emotion" else rules.choice.replace("_", " ")
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
            *(F.col(name).cast("float") for name in (*SAID, "accepted")),
        ),
        below.unionByName(unlabelled),
    )
