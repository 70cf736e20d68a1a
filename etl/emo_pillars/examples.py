"""Make the two data sets from parsed answers: distinct utterances, labels above the threshold, splits by plot."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.columns import left_out
from etl.common.near_duplicates import NearDuplicates, duplicates
from etl.common.splits import content_share
from etl.tables.outcome import Outcome

SHARES = (0.1, 0.1)
"""Shares of plots in validation and test (Emo Pillars 4: 80-10-10)."""
CONTEXTUAL_SHARES = (0.05, 0.05)
"""Shares of plots in validation and test of the contextual examples (Emo Pillars 4: 90-5-5)."""


def distinct_utterances(utterances: DataFrame, jaccard: float) -> Outcome:
    """Drop near-duplicates of earlier utterances of any plot and emotion (ours).

    Shingles of three words are compared. Shorter utterances are compared by their whole text.

    Args:
        utterances: ``emo_pillars.utterances``.
        jaccard: least similarity at which the utterance with the larger id is dropped.
    """
    keyed = utterances.select(
        F.col("utterance_id").alias("dialogue_id"), F.lit("").alias("movie_id"), F.array("utterance").alias("texts")
    )
    near = NearDuplicates(jaccard=jaccard)
    found = duplicates(keyed, exact=True, near=near, persist=lambda frame: frame.persist())
    found = found.withColumnRenamed("dialogue_id", "utterance_id").persist()
    ledger = left_out("utterance", "utterance_id", F.col("reason"), 1, F.concat_ws(": ", "detail", "utterance"))
    dropped = found.join(utterances.select("utterance_id", "utterance"), "utterance_id").select(*ledger)
    rows = utterances.join(found.select("utterance_id"), "utterance_id", "left_anti")
    return Outcome(rows.select("utterance_id", "plot_id", "actor_id", "actor", "utterance", "label"), dropped)


def examples(soft_labels: DataFrame, utterances: DataFrame, least: float, context_share: float) -> Outcome:
    """Return the context-less data set: utterances with at least one label, split by plot (Emo Pillars 4).

    If two named emotions are mapped to one label, the higher level is used.

    Args:
        soft_labels: ``emo_pillars.soft_labels``.
        utterances: ``emo_pillars.distinct_utterances``.
        least: least level of a label ("at least 0.3" in section 4, "above" in 3.3).
        context_share: share of examples that get a context, by content hash.
    """
    levels = soft_labels.groupBy("utterance_id", "label").agg(F.max("level").alias("level"))
    kept = F.when(F.col("level") >= least, F.struct((-F.col("level")).alias("order"), "label", "level"))
    labelled = levels.groupBy("utterance_id").agg(F.sort_array(F.collect_list(kept)).alias("kept"))
    found = utterances.join(labelled, "utterance_id")
    labels = F.transform("kept", lambda one: F.struct(one["label"].alias("label"), one["level"].alias("level")))
    rows = found.where(F.size("kept") > 0).select(
        "utterance_id", "plot_id", "actor_id", "actor", "utterance", F.col("label").alias("primary_label"),
        labels.alias("labels"),
        (content_share(F.col("utterance_id"), salt="context") < context_share).alias("needs_context"),
        split_of("plot_id", *SHARES).alias("split"),
    )  # fmt: skip
    ledger = left_out("utterance", "utterance_id", "no_label_expressed", 1, F.col("utterance"))
    return Outcome(rows, found.where(F.size("kept") == 0).select(*ledger))


def contextual_examples(rewrites: DataFrame, clean_contexts: DataFrame, chosen: DataFrame) -> DataFrame:
    """Return the context-full data set: context, original and rewritten utterance, 90-5-5 by plot (Emo Pillars 4)."""
    found = rewrites.join(clean_contexts.select("utterance_id", "context"), "utterance_id")
    found = found.join(chosen.drop("split", "needs_context"), "utterance_id")
    return found.withColumn("split", split_of("plot_id", *CONTEXTUAL_SHARES))


def split_of(plot_id: str, validation: float, test: float) -> Column:
    """Return the split of a plot by its id (ours, as the paper does not state the key of its splits).

    Smaller shares are subsets of larger ones: a plot of the contextual test set is also in the context-less one.
    """
    share = content_share(F.col(plot_id), salt="plot")
    outer_test, outer_validation = SHARES[1], SHARES[0]
    return (
        F.when(share < min(test, outer_test), "test")
        .when((share >= outer_test) & (share < outer_test + min(validation, outer_validation)), "validation")
        .otherwise("train")
    )
