"""Which labelled turns train the dialogue classifier, and which are held out."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.edos.held_out import near_held_out
from etl.edos.labelled_rows import COLUMNS, FAULT, NO_FAULT, first_of_same_text, split_kept_dropped, unit_id
from etl.edos.splits import split_released
from etl.tables.outcome import Outcome


def seeds_of(crowd_labels: DataFrame, test_share: float, validation_share: float) -> Outcome:
    """The crowd's labelled turns with their split, before anything is expanded from them (EDOS 3.3).

    Args:
        crowd_labels: ``edos.crowd_labels``; turns without a majority go to the ledger.
        test_share, validation_share: of each class.

    Returns:
        Outcome of ``edos.seeds``.
    """
    split = split_released(crowd_labels, test_share=test_share, validation_share=validation_share)
    labelled = F.col("label").isNotNull()
    rows = split.where(labelled).select("dialogue_id", "turn", "turns", "label", "split")
    dropped = split.where(~labelled).select(
        F.lit("turn").alias("unit"),
        unit_id().alias("id"),
        F.lit("no_majority").alias("reason"),
        F.concat_ws(", ", "votes").alias("detail"),
        F.lit(1).cast("bigint").alias("units"),
    )
    return Outcome(rows, dropped)


def crowd_rows(seeds: DataFrame) -> DataFrame:
    """The seeds in the columns of labelled rows."""
    return seeds.select(
        "dialogue_id", "turn", "turns", "label", F.lit("crowd").alias("origin"),
        F.lit(None).cast("double").alias("score"), F.lit(None).cast("string").alias("matched_id"),
        F.lit("pool").alias("source"),
    )  # fmt: skip


def gathered(
    seeds: DataFrame,
    found: list[DataFrame],
    matches: DataFrame,
    clean_dialogues: DataFrame,
    held_out_threshold: float,
) -> Outcome:
    """All labelled turns: the crowd's, and what each step of EDOS 3.3 added to the training split.

    Of rows that say the same, the one of the earlier origin stays (crowd, similar, self, similar_self), then the
    better score. What is near a held-out row, see ``near_held_out``, goes to the ledger with the evidence.

    Args:
        seeds: ``edos.seeds``.
        found: the tables of similar, self-labelled and similar self-labelled dialogues.
        matches: ``edos.similar_matches``.
        clean_dialogues: ``subtitles.clean_dialogues``.
        held_out_threshold: cosine.

    Returns:
        Outcome of ``edos.training_dialogues``; in = seeds + found.
    """
    others = found[0].select(*COLUMNS)
    for more in found[1:]:
        others = others.unionByName(more.select(*COLUMNS))
    others = others.persist()
    near = near_held_out(others, seeds, matches, clean_dialogues, held_out_threshold)
    flagged = others.join(near, ["dialogue_id", "turn"], "left").withColumnRenamed("near", FAULT)
    both = crowd_rows(seeds).withColumn(FAULT, F.expr(NO_FAULT)).unionByName(flagged)
    splits = seeds.select("dialogue_id", "turn", F.lit("crowd").alias("origin"), "split")
    rows = first_of_same_text(both).join(splits, ["dialogue_id", "turn", "origin"], "left")
    rows = rows.withColumn("split", F.coalesce("split", F.lit("train"))).persist()
    outcome = split_kept_dropped(rows)
    return Outcome(outcome.rows, outcome.dropped, rows_in=rows.count())
