"""How often the turn segmenter and simpler rules are right, by source of held-out pairs (EDOS 3.1)."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

GAPS_MS = (250, 500, 1000, 2000, 3000, 5000)
"""Silences tried for the gap rule; each source reports the best, which favours the rule.

Shorter ones are the pause that any two subtitles have between them: that is the same-block rule.
"""
SEGMENTER, SEGMENTER_AND_MARKS = "segmenter", "segmenter and marks"
MAJORITY, DASH, GAP, SAME_BLOCK = "majority class", "dash rule", "gap rule", "same-block rule"


def split_held_out(pairs: DataFrame, share: float, fold: int = 0) -> tuple[DataFrame, DataFrame]:
    """Training and held-out pairs, apart by film (or scene): the same split for ever, from its name's hash.

    Args:
        pairs: rows with split_group.
        share: of the groups, held out.
        fold: which share: 0 the first by hash, 1 the next, and so on; no two folds have a group in common.
    """
    place = F.conv(F.substring(F.sha2("split_group", 256), 1, 8), 16, 10).cast("double") / float(16**8)
    held_out = (place >= fold * share) & (place < (fold + 1) * share)
    return pairs.filter(~held_out), pairs.filter(held_out)


def at_most(pairs: DataFrame, count: int) -> DataFrame:
    """At most so many pairs of each source, the first in order of their content's hash."""
    content = F.sha2(F.concat_ws("\u0001", "source", "split_group", "left_text", "right_text"), 256)
    order = Window.partitionBy("source").orderBy(content, "split_group", "left_text", "right_text")
    return pairs.withColumn("place", F.row_number().over(order)).filter(F.col("place") <= count).drop("place")


def rule_accuracies(scored: DataFrame, gaps_ms: Sequence[int] = GAPS_MS) -> DataFrame:
    """How often each rule is right, by source.

    Args:
        scored: held-out pairs, the columns of ``turn_pairs.PAIRS``, and the model's ``margin``.
        gaps_ms: silences tried for the gap rule.

    Returns:
        source, rule, pairs, accuracy (null where the source cannot tell, e.g. the block of a transcript's
        sentence). Rules: ``segmenter`` (marks unseen), ``segmenter and marks`` (a mark decides where there is one),
        ``majority class`` (of the source itself), ``dash rule`` (a mark opens a turn, nothing else does),
        ``gap rule`` (a silence longer than the source's best of ``gaps_ms`` does), ``same-block rule`` (a new
        block does).
    """
    truth = F.col("label") == 1
    by_model = F.col("margin") > 0

    def share(right: Column) -> Column:
        return F.avg(right.cast("double"))

    gaps = [share(F.coalesce(F.col("silence_ms") > gap, F.lit(False)) == truth) for gap in gaps_ms]
    rules = {
        SEGMENTER: share(by_model == truth),
        SEGMENTER_AND_MARKS: share(F.coalesce(F.col("mark"), by_model) == truth),
        MAJORITY: F.greatest(share(truth), share(~truth)),
        DASH: F.when(F.count("mark") > 0, share(F.coalesce(F.col("mark"), F.lit(False)) == truth)),
        GAP: F.when(F.count("silence_ms") > 0, F.greatest(*gaps) if len(gaps) > 1 else gaps[0]),
        SAME_BLOCK: F.when(F.count("same_block") > 0, share(F.col("same_block") != truth)),
    }
    names = list(rules)
    wide = scored.groupBy("source").agg(
        F.count("*").alias("pairs"), *(rule.alias(name) for name, rule in rules.items())
    )
    cells = F.explode(
        F.array(*(F.struct(F.lit(name).alias("rule"), F.col(f"`{name}`").alias("accuracy")) for name in names))
    ).alias("cell")
    return wide.select("source", "pairs", cells).select("source", "cell.rule", "pairs", "cell.accuracy")


def accuracy_metrics(evaluation: DataFrame) -> dict[str, float]:
    """The evaluation as metrics for a tracking run: ``accuracy.<source>.<rule>``."""
    return {
        f"accuracy.{row['source']}.{row['rule'].replace(' ', '_')}": float(row["accuracy"])
        for row in evaluation.collect()
        if row["accuracy"] is not None
    }


__all__ = [
    "DASH",
    "GAP",
    "MAJORITY",
    "SAME_BLOCK",
    "SEGMENTER",
    "SEGMENTER_AND_MARKS",
    "accuracy_metrics",
    "at_most",
    "rule_accuracies",
    "split_held_out",
]
