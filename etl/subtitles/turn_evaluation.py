"""Accuracy of the turn segmenter and of simpler rules, by source of held-out pairs (EDOS 3.1)."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

GAPS_MS = (250, 500, 1000, 2000, 3000, 5000)
"""Silences tried for the gap rule. Each source reports the best one, which favours the rule.

Shorter silences occur between any two subtitles, so they amount to the same-block rule.
"""
SEGMENTER = "segmenter"
SEGMENTER_AND_MARKS = "segmenter and marks"
MAJORITY = "majority class"
DASH = "dash rule"
GAP = "gap rule"
SAME_BLOCK = "same-block rule"


def split_held_out(pairs: DataFrame, share: float, fold: int = 0) -> tuple[DataFrame, DataFrame]:
    """Split pairs into training and held-out ones by the hash of split_group, the film or scene.

    Args:
        pairs: rows with split_group.
        share: share of the groups to hold out.
        fold: number of the held-out share in hash order; folds have no group in common.
    """
    place = F.conv(F.substring(F.sha2("split_group", 256), 1, 8), 16, 10).cast("double") / float(16**8)
    held_out = (place >= fold * share) & (place < (fold + 1) * share)
    return pairs.filter(~held_out), pairs.filter(held_out)


def at_most(pairs: DataFrame, count: int, only: Sequence[str] = ()) -> DataFrame:
    """Return at most ``count`` pairs of each source, the first by the hash of their content.

    Args:
        only: the sources that are bounded; () bounds all.
    """
    content = F.sha2(F.concat_ws("\u0001", "source", "split_group", "left_text", "right_text"), 256)
    order = Window.partitionBy("source").orderBy(content, "split_group", "left_text", "right_text")
    free = ~F.col("source").isin(*only) if only else F.lit(False)
    return pairs.withColumn("rank", F.row_number().over(order)).filter(free | (F.col("rank") <= count)).drop("rank")


def rule_accuracies(scored: DataFrame) -> DataFrame:
    """Return (source, rule, pairs, accuracy); accuracy is null where the source lacks what the rule reads.

    The rules: ``segmenter`` (without marks), ``segmenter and marks`` (a mark decides if there is one),
    ``majority class`` (of the source), ``dash rule`` (only a mark opens a turn), ``gap rule`` (a silence longer than
    the source's best of ``GAPS_MS`` opens a turn), ``same-block rule`` (a new block opens a turn).

    Args:
        scored: held-out pairs with the columns of ``turn_pairs.PAIRS`` and the model's ``margin``.
    """
    truth = F.col("label") == 1
    by_model = F.col("margin") > 0

    def share(right: Column) -> Column:
        return F.avg(right.cast("double"))

    gaps = [share(F.coalesce(F.col("silence_ms") > gap, F.lit(False)) == truth) for gap in GAPS_MS]
    rules = {
        SEGMENTER: share(by_model == truth),
        SEGMENTER_AND_MARKS: share(F.coalesce(F.col("mark"), by_model) == truth),
        MAJORITY: F.greatest(share(truth), share(~truth)),
        DASH: F.when(F.count("mark") > 0, share(F.coalesce(F.col("mark"), F.lit(False)) == truth)),
        GAP: F.when(F.count("silence_ms") > 0, F.greatest(*gaps)),
        SAME_BLOCK: F.when(F.count("same_block") > 0, share(F.col("same_block") != truth)),
    }
    wide = scored.groupBy("source").agg(
        F.count("*").alias("pairs"), *(rule.alias(name) for name, rule in rules.items())
    )
    long = wide.unpivot(["source", "pairs"], [f"`{name}`" for name in rules], "rule", "accuracy")
    return long.select("source", "rule", "pairs", "accuracy")


def shares_of_changes(scored: DataFrame) -> DataFrame:
    """Return (source, pairs, true, predicted): the share of pairs that are changes of speaker, and that are told to be.

    A segmenter that finds fewer changes than there are makes turns of two speakers, at the same accuracy.

    Args:
        scored: held-out pairs with ``label`` and the model's ``margin``.
    """
    return scored.groupBy("source").agg(
        F.count("*").alias("pairs"),
        F.avg((F.col("label") == 1).cast("double")).alias("true"),
        F.avg((F.col("margin") > 0).cast("double")).alias("predicted"),
    )


def accuracy_metrics(evaluation: DataFrame) -> dict[str, float]:
    """Return the evaluation as metrics named ``accuracy.<source>.<rule>``."""
    return {
        f"accuracy.{row['source']}.{row['rule'].replace(' ', '_')}": float(row["accuracy"])
        for row in evaluation.collect()
        if row["accuracy"] is not None
    }
