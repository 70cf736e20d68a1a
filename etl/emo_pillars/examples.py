"""Make the two data sets from parsed answers: distinct utterances, labels above the threshold, splits by plot."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.common.near_duplicates import NearDuplicates, duplicates, exact_copies
from etl.common.splits import content_share
from etl.pipeline.outcome import Outcome, dropped_columns
from etl.pipeline.spark_api import cached

SHARES = (0.1, 0.1)
"""Shares of plots in validation and test, of both data sets (Emo Pillars 4: 80-10-10).

The paper splits the contextual examples 90-5-5. With shares of their own, half of the context-less test plots would be
among the contextual training plots.
"""


def distinct_utterances(utterances: DataFrame, jaccard: float | None) -> Outcome:
    """Drop near-duplicates of earlier utterances of any plot and emotion (ours).

    Shingles of three words are compared. Shorter utterances are compared by their whole text.

    Args:
        utterances: ``emo_pillars.utterances``.
        jaccard: least similarity at which the utterance with the larger id is dropped; None keeps all, as the paper.
    """
    columns = ("utterance_id", "plot_id", "actor_id", "actor", "utterance", "label")
    if jaccard is None:
        return Outcome(utterances.select(*columns))
    keyed = utterances.select(
        F.col("utterance_id").alias("dialogue_id"), F.lit("").alias("movie_id"), F.array("utterance").alias("texts")
    )
    near = NearDuplicates(jaccard=jaccard)
    found = duplicates(keyed, exact_copies(keyed), near, cached)
    found = found.withColumnRenamed("dialogue_id", "utterance_id").persist()
    lost = dropped_columns("utterance", "utterance_id", F.col("reason"), 1, F.concat_ws(": ", "detail", "utterance"))
    dropped = found.join(utterances.select("utterance_id", "utterance"), "utterance_id").select(*lost)
    rows = utterances.join(found.select("utterance_id"), "utterance_id", "left_anti")
    return Outcome(rows.select(*columns), dropped)


def examples(
    soft_labels: DataFrame, utterances: DataFrame, least: float, context_share: float, split_by: str = "plot"
) -> Outcome:
    """Return the context-less data set: utterances with at least one label, split by plot (Emo Pillars 4).

    If two named emotions are mapped to one label, the higher level is used.

    Args:
        soft_labels: ``emo_pillars.soft_labels``.
        utterances: ``emo_pillars.distinct_utterances``.
        least: least level of a label ("at least 0.3" in section 4, "above" in 3.3).
        context_share: share of examples that get a context, by content hash.
        split_by: plot, or utterance where there are too few plots for three splits.
    """
    levels = soft_labels.groupBy("utterance_id", "label").agg(F.max("level").alias("level"))
    kept = F.when(F.col("level") >= least, F.struct((-F.col("level")).alias("order"), "label", "level"))
    labelled = levels.groupBy("utterance_id").agg(F.sort_array(F.collect_list(kept)).alias("kept"))
    found = utterances.join(labelled, "utterance_id")
    labels = F.transform("kept", lambda one: F.struct(one["label"].alias("label"), one["level"].alias("level")))
    rows = found.where(F.size("kept") > 0).select(
        "utterance_id",
        "plot_id",
        "actor_id",
        "actor",
        "utterance",
        F.col("label").alias("primary_label"),
        labels.alias("labels"),
        (content_share(F.col("utterance_id"), salt="context") < context_share).alias("needs_context"),
        split_of(f"{split_by}_id").alias("split"),
    )
    columns = dropped_columns("utterance", "utterance_id", "no_label_expressed", 1, F.col("utterance"))
    return Outcome(rows, found.where(F.size("kept") == 0).select(*columns))


def contextual_examples(rewrites: DataFrame, clean_contexts: DataFrame, chosen: DataFrame) -> DataFrame:
    """Return the context-full data set: context, original and rewritten utterance (Emo Pillars 4).

    A plot is in the same split of both data sets.
    """
    found = rewrites.join(clean_contexts.select("utterance_id", "context"), "utterance_id")
    return found.join(chosen.drop("needs_context"), "utterance_id")


def with_needed_context(chosen: DataFrame) -> DataFrame:
    """Return the examples that were drawn to get a context: id, plot_id, actor, utterance, labels."""
    return chosen.where("needs_context").select("utterance_id", "plot_id", "actor", "utterance", "labels")


def split_of(key: str) -> Column:
    """Return the split of a plot, or of an utterance, by its id (ours: the paper names no key of its splits)."""
    share = content_share(F.col(key), salt="plot")
    (validation, test) = SHARES
    return F.when(share < test, "test").when(share < test + validation, "validation").otherwise("train")


def check_splits(contextless: DataFrame, contextual: DataFrame) -> None:
    """Check that each plot is in one split of both data sets, so that no model is tested on plots that it has seen.

    Args:
        contextless: ``emo_pillars.examples``.
        contextual: ``emo_pillars.contextual_examples``.

    Raises:
        InputError: a plot is in several splits.
    """
    both = contextless.select("plot_id", "split").unionByName(contextual.select("plot_id", "split"))
    splits = both.groupBy("plot_id").agg(F.sort_array(F.collect_set("split")).alias("splits"))
    found = splits.where(F.size("splits") > 1).agg(F.count("*"), F.min(F.struct("plot_id", "splits"))).first()
    if found is not None and found[0]:
        plot, its = found[1]
        raise InputError(
            f"{found[0]:,} plots are in several splits of emo_pillars.examples and emo_pillars.contextual_examples "
            f"({plot}: {', '.join(its)}): run emo_pillars_contextual_examples again"
        )
