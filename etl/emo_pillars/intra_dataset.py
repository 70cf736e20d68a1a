"""Models of the synthetic data on its own test sets: scores, and whether contexts help (Emo Pillars Tables 1 and 5)."""

from collections.abc import Mapping

import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.taxonomy import goemotions_labels

TESTED_ON = ("original", "contextual original", "contextual rewritten")
"""The paper's test_Orig, test_COrig and test_CReWr."""
COUNTERPARTS = {
    "emo_pillars_contextual": "emo_pillars_contextless",
    "emo_pillars_contextual_rewritten": "emo_pillars_contextless_rewritten",
}
"""A context-aware model and the context-less one of the same utterances, whose corresponding scores it is to raise."""
SCORES = """
learner string, tested_on string, class string, precision double, recall double, f1 double, support bigint,
predicted bigint, passages bigint
"""
SIGNIFICANCE = "learner string, tested_on string, against string, gain double, t_test double, mann_whitney double"


def given_labels(probabilities: str = "probabilities", threshold: str = "threshold") -> Column:
    """The labels from the threshold on."""
    labels = F.array(*[F.lit(label) for label in goemotions_labels()])
    pairs = F.arrays_zip(labels.alias("label"), F.col(probabilities).alias("probability"))
    kept = F.filter(pairs, lambda one: one["probability"] >= F.col(threshold).cast("float"))
    return F.transform(kept, lambda one: one["label"])


def with_f1(answers: DataFrame) -> DataFrame:
    """Adds a passage's own F1, of its true and its given labels; 1 where there are neither."""
    both = F.size(F.array_intersect("labels", "given"))
    size = F.size("labels") + F.size("given")
    return answers.withColumn("f1", F.when(size == 0, 1.0).otherwise(2 * both / size))


def class_scores(answers: DataFrame) -> DataFrame:
    """Each class's precision, recall and F1, and their macro and micro averages, of each model on each test set.

    Args:
        answers: learner, tested_on, passage_id, labels, given.

    Returns:
        Columns of ``SCORES``; macro averages are over the classes that occur in truth.
    """
    own = ("learner", "tested_on")
    said = answers.select(*own, F.explode(F.array_union("labels", "given")).alias("class"), "labels", "given")
    inside = {name: F.array_contains(name, F.col("class")).cast("bigint") for name in ("labels", "given")}
    counted = said.groupBy(*own, "class").agg(
        F.sum(inside["labels"] * inside["given"]).alias("hits"), F.sum(inside["given"]).alias("predicted"),
        F.sum(inside["labels"]).alias("support"),
    )  # fmt: skip
    each = _shares(counted)
    there = each.where(F.col("support") > 0).groupBy(*own)
    macro = there.agg(
        *[F.avg(name).alias(name) for name in ("precision", "recall", "f1")],
        *[F.sum(name).alias(name) for name in ("hits", "predicted", "support")],
    ).withColumn("class", F.lit("macro"))
    totals = counted.groupBy(*own).agg(*[F.sum(name).alias(name) for name in ("hits", "predicted", "support")])
    micro = _shares(totals.withColumn("class", F.lit("micro")))
    passages = answers.groupBy(*own).agg(F.count("*").alias("passages"))
    rows = each.unionByName(macro).unionByName(micro).join(passages, list(own))
    rounded = [F.round(name, 4).alias(name) for name in ("precision", "recall", "f1")]
    return rows.select(*own, "class", *rounded, "support", "predicted", "passages")


def _shares(counted: DataFrame) -> DataFrame:
    hits = F.col("hits").cast("double")
    return (
        counted.withColumn("precision", hits / F.greatest("predicted", F.lit(1)))
        .withColumn("recall", hits / F.greatest("support", F.lit(1)))
        .withColumn("f1", 2 * hits / F.greatest(F.col("predicted") + F.col("support"), F.lit(1)))
    )


def significance(answers: DataFrame, counterparts: Mapping[str, str] = COUNTERPARTS) -> DataFrame:
    """Whether a context-aware model's passages score otherwise than its counterpart's: t-test and Mann-Whitney U.

    Samples are the passages' own F1 (the paper does not name its); both tests are two-sided and of independent
    samples, the t-test Welch's.

    Args:
        answers: learner, tested_on, passage_id, f1.

    Returns:
        Columns of ``SIGNIFICANCE``; gain is the difference of the means.
    """
    pairs = list(counterparts.items())

    def compare(frame: pd.DataFrame) -> pd.DataFrame:
        from scipy.stats import mannwhitneyu, ttest_ind

        rows = []
        for learner, against in pairs:
            ours, theirs = (frame.loc[frame["learner"] == one, "f1"] for one in (learner, against))
            if min(len(ours), len(theirs)) > 1:
                t_test = float(ttest_ind(ours, theirs, equal_var=False).pvalue)
                u_test = float(mannwhitneyu(ours, theirs).pvalue)
                found = (round(float(ours.mean() - theirs.mean()), 4), t_test, u_test)
                rows.append((learner, frame["tested_on"].iloc[0], against, *found))
        return pd.DataFrame(rows, columns=["learner", "tested_on", "against", "gain", "t_test", "mann_whitney"])

    return answers.select("learner", "tested_on", "f1").groupBy("tested_on").applyInPandas(compare, SIGNIFICANCE)
