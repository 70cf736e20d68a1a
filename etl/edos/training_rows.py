"""Split the crowd's labels, and gather the labelled turns that train the dialogue classifier (EDOS 3.3)."""

from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.splits import RELEASED_NEAR, content_share, near_duplicate_groups
from etl.edos.held_out import HeldOutRule, near_held_out
from etl.edos.labelled_rows import COLUMNS, FAULT, NO_FAULT, first_of_same_text, split_kept_dropped, unit_id
from etl.pipeline.outcome import Outcome, dropped_columns
from etl.pipeline.spark_api import cached

TEST_SHARE = 0.2
"""Of each class, before any expansion (EDOS 3.3)."""


def seeds_of(crowd_labels: DataFrame, validation_share: float) -> Outcome:
    """Return the crowd's labelled turns with their split as an outcome of ``edos.seeds`` (EDOS 3.3).

    Args:
        crowd_labels: ``edos.crowd_labels``. Turns without a majority are dropped.
        validation_share: share of each class.
    """
    split = split_released(crowd_labels, validation_share=validation_share)
    labelled = F.col("label").isNotNull()
    rows = split.where(labelled).select("dialogue_id", "turn", "turns", "label", "split")
    columns = dropped_columns("turn", unit_id(), "no_majority", 1, F.concat_ws(", ", "votes"))
    return Outcome(rows, split.where(~labelled).select(*columns))


def split_released(crowd_labels: DataFrame, *, validation_share: float = 0.1) -> DataFrame:
    """Add split to released labels, by class and by near-duplicate group (EDOS 3.3).

    A near-duplicate group belongs to its most frequent label (ties: the first by name). The groups of a class are
    ordered by their content hash. Groups whose middle is within the first fifth of the class's rows are test, those
    within the next ``validation_share`` are validation.

    Args:
        crowd_labels: ``edos.crowd_labels``. Rows without a label get a null split.
        validation_share: share of each class.
    """
    labelled = crowd_labels.filter(F.col("label").isNotNull()).select(
        unit_id().alias("id"), "dialogue_id", "turn", "turns", "label"
    )
    grouped = near_duplicate_groups(labelled, RELEASED_NEAR)
    by_label = grouped.groupBy("group", "label").agg(F.count("*").alias("n"))
    best = by_label.groupBy("group").agg(
        F.min(F.struct((-F.col("n")).alias("order"), "label"))["label"].alias("class"), F.sum("n").alias("n")
    )
    order = Window.partitionBy("class").orderBy("share", "group")
    begins = F.coalesce(F.sum("n").over(order.rowsBetween(Window.unboundedPreceding, -1)), F.lit(0))
    size = F.sum("n").over(Window.partitionBy("class"))
    placed = (
        best.withColumn("share", content_share(F.col("group"), salt="released"))
        .withColumn("middle", (begins + F.col("n") / 2) / size)
        .select(
            "group",
            F.when(F.col("middle") < TEST_SHARE, "test")
            .when(F.col("middle") < TEST_SHARE + validation_share, "validation")
            .otherwise("train")
            .alias("split"),
        )
    )
    splits = grouped.select("dialogue_id", "turn", "group").join(placed, "group").drop("group")
    return crowd_labels.join(splits, ["dialogue_id", "turn"], "left")


def crowd_rows(seeds: DataFrame) -> DataFrame:
    """Return the seeds with the columns of labelled rows."""
    return seeds.select(
        "dialogue_id",
        "turn",
        "turns",
        "label",
        F.lit("crowd").alias("origin"),
        F.lit(None).cast("double").alias("score"),
        F.lit(None).cast("string").alias("matched_id"),
        F.lit("pool").alias("source"),
    )


def gathered(
    seeds: DataFrame,
    found: list[DataFrame],
    matches: DataFrame,
    clean_dialogues: DataFrame,
    held_out: HeldOutRule,
) -> Outcome:
    """Gather the crowd's labels and the labels that the steps of EDOS 3.3 added to the training split.

    Of rows with the same text, the one of the earlier origin is kept (crowd, similar, self, similar_self), then the
    one with the better score. Rows near a held-out row are dropped, see ``near_held_out``.

    Args:
        seeds: ``edos.seeds``.
        found: the tables of similar, self-labelled and similar self-labelled dialogues.
        matches: ``edos.similar_matches``.
        clean_dialogues: ``subtitles.clean_dialogues``.
        held_out: which rows are too near a held-out row.

    Returns:
        Outcome of ``edos.training_dialogues``. The input is the rows of ``seeds`` and ``found``.
    """
    others = cached(reduce(DataFrame.unionByName, (rows.select(*COLUMNS) for rows in found)))
    near = near_held_out(others, seeds, matches, clean_dialogues, held_out)
    flagged = others.join(near, ["dialogue_id", "turn"], "left").withColumnRenamed("near", FAULT)
    both = crowd_rows(seeds).withColumn(FAULT, F.expr(NO_FAULT)).unionByName(flagged)
    split_of = seeds.select("dialogue_id", "turn", F.lit("crowd").alias("origin"), "split")
    rows = first_of_same_text(both).join(split_of, ["dialogue_id", "turn", "origin"], "left")
    rows = cached(rows.withColumn("split", F.coalesce("split", F.lit("train"))))
    outcome = split_kept_dropped(rows)
    return Outcome(outcome.rows, outcome.dropped, rows_in=seeds.count() + others.count())
