"""Score models on the synthetic data's test sets, and test whether contexts help (Emo Pillars Tables 1 and 5)."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

TESTED_ON = ("original", "contextual original", "contextual rewritten")
"""The paper's test_Orig, test_COrig and test_CReWr."""
COUNTERPARTS = {
    "emo_pillars_contextual": "emo_pillars_contextless",
    "emo_pillars_contextual_rewritten": "emo_pillars_contextless_rewritten",
}
"""Each context-aware model and the context-less model of the same utterances, with which it is compared."""
SCORES = """
learner string, tested_on string, class string, precision double, recall double, f1 double, support bigint,
predicted bigint, passages bigint
"""
SIGNIFICANCE = """
learner string, tested_on string, against string, pairs bigint, gain double, t_test double, mann_whitney double,
paired_t_test double, wilcoxon double
"""


def reached(names: Sequence[str]) -> Column:
    """Return (label, probability) of the labels whose probability reaches their threshold, or the one for all labels.

    Reads probabilities, threshold and label_thresholds, the columns of `udfs.predict.answer_passages`.

    Args:
        names: the labels of the model, in the order of their ids.
    """
    labels = F.array(*[F.lit(label) for label in names])
    shared = F.array_repeat("threshold", len(names))
    pairs = F.arrays_zip(
        labels.alias("label"),
        F.col("probabilities").alias("probability"),
        F.coalesce("label_thresholds", shared).alias("least"),
    )
    return F.filter(pairs, lambda one: one["probability"] >= one["least"].cast("float"))


def given_labels(names: Sequence[str]) -> Column:
    """Return the labels of `reached`."""
    return F.transform(reached(names), lambda one: one["label"])


def with_f1(answers: DataFrame) -> DataFrame:
    """Add the F1 of each passage's true and given labels; 1 if there are neither."""
    both = F.size(F.array_intersect("labels", "given"))
    size = F.size("labels") + F.size("given")
    return answers.withColumn("f1", F.when(size == 0, 1.0).otherwise(2 * both / size))


def class_scores(answers: DataFrame) -> DataFrame:
    """Return precision, recall and F1 by class, and their macro and micro averages, of each model on each test set.

    Args:
        answers: learner, tested_on, passage_id, labels, given.

    Returns:
        Columns of ``SCORES``. Macro averages include the classes that occur in the true labels.
    """
    keys = ("learner", "tested_on")
    sums = ("hits", "predicted", "support")
    shares = ("precision", "recall", "f1")
    classes = answers.select(*keys, F.explode(F.array_union("labels", "given")).alias("class"), "labels", "given")
    inside = {name: F.array_contains(name, F.col("class")).cast("bigint") for name in ("labels", "given")}
    counted = classes.groupBy(*keys, "class").agg(
        F.sum(inside["labels"] * inside["given"]).alias("hits"),
        F.sum(inside["given"]).alias("predicted"),
        F.sum(inside["labels"]).alias("support"),
    )
    each = _shares(counted)
    totals = [F.sum(name).alias(name) for name in sums]
    means = [F.avg(name).alias(name) for name in shares]
    macro = each.where(F.col("support") > 0).groupBy(*keys).agg(*means, *totals).withColumn("class", F.lit("macro"))
    micro = _shares(counted.groupBy(*keys).agg(*totals).withColumn("class", F.lit("micro")))
    passages = answers.groupBy(*keys).agg(F.count("*").alias("passages"))
    rows = each.unionByName(macro).unionByName(micro).join(passages, list(keys))
    rounded = [F.round(name, 4).alias(name) for name in shares]
    return rows.select(*keys, "class", *rounded, "support", "predicted", "passages")


def _shares(counted: DataFrame) -> DataFrame:
    hits = F.col("hits").cast("double")
    return (
        counted.withColumn("precision", hits / F.greatest("predicted", F.lit(1)))
        .withColumn("recall", hits / F.greatest("support", F.lit(1)))
        .withColumn("f1", 2 * hits / F.greatest(F.col("predicted") + F.col("support"), F.lit(1)))
    )


def significance(answers: DataFrame) -> DataFrame:
    """Test whether context-aware models and their counterparts differ on the same passages.

    Samples are the F1 of passages that both models answered (ours, as the paper does not name its samples).

    Args:
        answers: learner, tested_on, passage_id, f1.

    Returns:
        Columns of ``SIGNIFICANCE``.
    """
    counterparts = list(COUNTERPARTS.items())

    def compare(frame: pd.DataFrame) -> pd.DataFrame:
        f1 = frame.pivot(index="passage_id", columns="learner", values="f1").sort_index()
        rows = []
        for learner, against in counterparts:
            if {learner, against} <= set(f1.columns):
                both = f1[[learner, against]].dropna()
                if len(both) > 1:
                    found = differences(both[learner].to_numpy(), both[against].to_numpy())
                    rows.append((learner, frame["tested_on"].iloc[0], against, *found))
        return pd.DataFrame(rows, columns=[column.split()[0] for column in SIGNIFICANCE.split(",")])

    columns = answers.select("learner", "tested_on", "passage_id", "f1")
    return columns.groupBy("tested_on").applyInPandas(compare, SIGNIFICANCE)


def differences(ours: NDArray[Any], theirs: NDArray[Any]) -> tuple[int, float, float, float, float, float]:
    """Compare two models' scores of the same passages.

    Args:
        ours: one model's scores.
        theirs: the other's, in the same order.

    Returns:
        The number of pairs, the gain (difference of the means), and two-sided p-values: Welch's t-test and Mann-Whitney
        U, as in the paper, which take the samples as independent; and the paired t-test and Wilcoxon's signed ranks.
        The paired p-values are 1 if all pairs are equal.
    """
    from scipy.stats import mannwhitneyu, ttest_ind, ttest_rel, wilcoxon

    gains = ours - theirs
    independent = (float(ttest_ind(ours, theirs, equal_var=False).pvalue), float(mannwhitneyu(ours, theirs).pvalue))
    if not gains.any():
        return len(ours), 0.0, *independent, 1.0, 1.0
    t_test = 0.0 if gains.std() == 0 else float(ttest_rel(ours, theirs).pvalue)
    return len(ours), round(float(gains.mean()), 4), *independent, t_test, float(wilcoxon(ours, theirs).pvalue)
