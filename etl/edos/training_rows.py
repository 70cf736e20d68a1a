"""Split the crowd's labels, and gather the labelled turns that train the dialogue classifier (EDOS 3.3)."""

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.edos.held_out import HeldOutRule, near_held_out
from etl.edos.labelled_rows import COLUMNS, FAULT, NO_FAULT, first_of_same_text, split_kept_dropped, unit_id
from etl.edos.splits import split_released
from etl.pipeline.outcome import Outcome, dropped_columns
from etl.pipeline.spark_api import cached


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
