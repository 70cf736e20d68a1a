"""From parsed answers to the two data sets: distinct utterances, labels above the threshold, splits by plot."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.near_duplicates import NearDuplicates, duplicates
from etl.common.splits import content_share
from etl.tables.outcome import Outcome

SHARES = (0.1, 0.1)
"""Of plots in validation and test (Emo Pillars 4: 80-10-10)."""
CONTEXTUAL_SHARES = (0.05, 0.05)
"""Of plots in validation and test of the contextual examples (Emo Pillars 4: 90-5-5)."""


def distinct_utterances(utterances: DataFrame, jaccard: float) -> Outcome:
    """Utterances without those that are nearly an earlier one, of whatever plot and emotion (ours).

    Runs of three words are compared; shorter utterances count by their whole text.

    Args:
        utterances: ``emo_pillars.utterances``.
        jaccard: from this similarity on, the one with the larger id goes.
    """
    keyed = utterances.select(
        F.col("utterance_id").alias("dialogue_id"), F.lit("").alias("movie_id"), F.array("utterance").alias("texts")
    )
    near = NearDuplicates(jaccard=jaccard)
    found = duplicates(keyed, exact=True, near=near, persist=lambda frame: frame.persist())
    found = found.withColumnRenamed("dialogue_id", "utterance_id").persist()
    dropped = found.join(utterances.select("utterance_id", "utterance"), "utterance_id").select(
        F.lit("utterance").alias("unit"), F.col("utterance_id").alias("id"), "reason",
        F.concat_ws(": ", "detail", "utterance").alias("detail"), F.lit(1).cast("bigint").alias("units"),
    )  # fmt: skip
    rows = utterances.join(found.select("utterance_id"), "utterance_id", "left_anti")
    return Outcome(rows.select("utterance_id", "plot_id", "actor_id", "actor", "utterance", "label"), dropped)


def examples(soft_labels: DataFrame, utterances: DataFrame, least: float, context_share: float) -> Outcome:
    """The context-less data set: labels from ``least`` on, at least one; splits by plot (Emo Pillars 4).

    Of two named emotions that count as one label, the stronger decides.

    Args:
        soft_labels: ``emo_pillars.soft_labels``.
        utterances: ``emo_pillars.distinct_utterances``.
        least: level from which on a label is kept ("at least 0.3" in section 4, "above" in 3.3).
        context_share: of the examples that get a context, by content hash.
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
    dropped = found.where(F.size("kept") == 0).select(
        F.lit("utterance").alias("unit"), F.col("utterance_id").alias("id"),
        F.lit("no_label_expressed").alias("reason"), F.col("utterance").alias("detail"),
        F.lit(1).cast("bigint").alias("units"),
    )  # fmt: skip
    return Outcome(rows, dropped)


def contextual_examples(rewrites: DataFrame, clean_contexts: DataFrame, chosen: DataFrame) -> DataFrame:
    """The context-full data set: context, original and rewritten utterance, 90-5-5 by plot (Emo Pillars 4)."""
    found = rewrites.join(clean_contexts.select("utterance_id", "context"), "utterance_id")
    found = found.join(chosen.drop("split", "needs_context"), "utterance_id")
    return found.withColumn("split", split_of("plot_id", *CONTEXTUAL_SHARES))


def split_of(plot_id: str, validation: float, test: float) -> Column:
    """The split of a plot, from its id alone (ours: the paper does not say by what it splits).

    Smaller shares lie within larger ones: a plot of the contextual test set is in the context-less one, too.
    """
    share = content_share(F.col(plot_id), salt="plot")
    outer_test, outer_validation = SHARES[1], SHARES[0]
    return (
        F.when(share < min(test, outer_test), "test")
        .when((share >= outer_test) & (share < outer_test + min(validation, outer_validation)), "validation")
        .otherwise("train")
    )
