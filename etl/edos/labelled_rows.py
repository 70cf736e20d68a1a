"""Shared rules of all sources of labelled turns: ids, the pool, precedence, and dropped rows."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import fault
from etl.common.hashes import history_hash
from etl.common.near_duplicates import text_key
from etl.common.splits import content_share
from etl.pipeline.outcome import Outcome, dropped_columns

ORIGINS = ("crowd", "similar", "self", "similar_self")
"""In order of precedence, which is the order of the steps of EDOS 3.3. Of two equal rows the earlier origin is kept."""

FAULT = "fault"
"""A struct (reason, detail) of a dropped row; null for a kept row."""
NO_FAULT = "CAST(NULL AS struct<reason: string, detail: string>)"
COLUMNS = ("dialogue_id", "turn", "turns", "label", "origin", "score", "matched_id", "source")
"""The columns of a labelled row of any origin. The source is pool or released."""


def unit_id(prefix: str = "") -> Column:
    """Return a turn's id in ledgers and matches: ``<dialogue_id>/<turn>``."""
    return F.concat_ws("/", F.col(f"{prefix}dialogue_id"), F.col(f"{prefix}turn").cast("string"))


def pool_of(clean_dialogues: DataFrame, enabled: bool, share: float) -> DataFrame:
    """Return the unlabelled dialogues that EDOS 3.3 labels. The label belongs to a dialogue's last turn.

    Args:
        clean_dialogues: ``subtitles.clean_dialogues``.
        enabled: if false, the result is empty.
        share: share of the dialogues, by the hash of their id. A smaller share is a subset of a larger one.

    Returns:
        dialogue_id, movie_id, turn (the last one's index), turns array<string>, history_hash.
    """
    taken = clean_dialogues.where(F.lit(enabled) & (F.size("turns") > 0))
    if share < 1:
        taken = taken.where(content_share(F.col("dialogue_id"), salt="pool") < share)
    texts = taken.select("dialogue_id", "movie_id", F.col("turns")["text"].alias("turns"))
    return texts.select(
        "dialogue_id",
        "movie_id",
        (F.size("turns") - 1).alias("turn"),
        "turns",
        history_hash(F.col("turns")).alias("history_hash"),
    )


def split_kept_dropped(candidates: DataFrame, unit: str = "turn") -> Outcome:
    """Split candidates into rows without a fault and ledger rows of those with one.

    Args:
        candidates: dialogue_id, turn, fault, and the table's columns.
        unit: the ledger's name of a candidate.
    """
    found = F.col(FAULT)
    columns = dropped_columns(unit, unit_id(), found["reason"], 1, found["detail"])
    return Outcome(candidates.where(found.isNull()), candidates.where(found.isNotNull()).select(*columns))


def first_of_same_text(rows: DataFrame) -> DataFrame:
    """Add a fault to rows with the same turns, or the same (dialogue_id, turn), as a row of higher precedence.

    Precedence is by origin, then by score. Rows of the crowd get no fault.

    Args:
        rows: dialogue_id, turn, turns, label, origin, score, fault, and more. Rows with a fault have no precedence.
    """
    place = F.expr(f"array_position(array({', '.join(map(repr, ORIGINS))}), origin)")
    order = [F.col(FAULT).isNotNull(), place, F.col("score").desc_nulls_last(), F.col("dialogue_id"), F.col("turn")]
    for key in ([text_key(F.col("turns"))], [F.col("dialogue_id"), F.col("turn")]):
        window = Window.partitionBy(*key).orderBy(*order)
        first = F.first(F.struct("dialogue_id", "turn", "label", "origin")).over(window)
        rows = rows.withColumn("place", F.row_number().over(window)).withColumn("first", first)
        again = F.col(FAULT).isNull() & (F.col("place") > 1) & (F.col("origin") != "crowd")
        evidence = fault(
            "labelled_already", unit_id("first."), " is ", F.col("first.label"), " by ", F.col("first.origin")
        )
        rows = rows.withColumn(FAULT, F.when(again, evidence).otherwise(F.col(FAULT))).drop("place", "first")
    return rows


def without_known_texts(candidates: DataFrame, known: DataFrame) -> DataFrame:
    """Return the candidates, with a fault on those whose text is labelled already."""
    both = candidates.withColumn("is_new", F.lit(True)).unionByName(known.withColumn("is_new", F.lit(False)))
    return first_of_same_text(both).where("is_new").drop("is_new")
