"""What every source of labelled turns shares: ids, the pool, precedence, and how a row is left out."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import fault
from etl.common.hashes import history_hash
from etl.common.near_duplicates import text_key
from etl.common.splits import content_share
from etl.tables.outcome import Outcome

ORIGINS = ("crowd", "similar", "self", "similar_self")
"""In the order in which the steps of EDOS 3.3 find them, people first: of two rows the earlier origin's stays."""

FAULT = "fault"
"""A struct (reason, detail) of a row that is left out; null for one that stays."""


NO_FAULT = "CAST(NULL AS struct<reason: string, detail: string>)"
COLUMNS = ("dialogue_id", "turn", "turns", "label", "origin", "score", "matched_id", "source")
"""What a labelled row is, whichever step found it; source is pool or released."""


def unit_id(prefix: str = "") -> Column:
    """A labelled turn's id in ledgers and matches: ``<dialogue_id>/<turn>``."""
    return F.concat_ws("/", F.col(f"{prefix}dialogue_id"), F.col(f"{prefix}turn").cast("string"))


def pool_of(clean_dialogues: DataFrame, enabled: bool, share: float) -> DataFrame:
    """The unlabelled dialogues that EDOS 3.3 expands into: whole clean dialogues, whose last turn takes the label.

    Args:
        clean_dialogues: ``subtitles.clean_dialogues``.
        enabled: false gives none.
        share: of the dialogues, by the hash of their id; a smaller share is part of a larger one.

    Returns:
        dialogue_id, movie_id, turn (the last one's index), turns array<string>, history_hash.
    """
    taken = clean_dialogues.where(F.lit(enabled) & (F.size("turns") > 0))
    if share < 1:
        taken = taken.where(content_share(F.col("dialogue_id"), salt="pool") < share)
    texts = taken.select("dialogue_id", "movie_id", F.col("turns")["text"].alias("turns"))
    return texts.select(
        "dialogue_id", "movie_id", (F.size("turns") - 1).alias("turn"), "turns",
        history_hash(F.col("turns")).alias("history_hash"),
    )  # fmt: skip


def split_kept_dropped(candidates: DataFrame, unit: str = "turn") -> Outcome:
    """Candidates without a fault as rows, the others as the ledger's, each with its evidence.

    Args:
        candidates: dialogue_id, turn, fault, and the table's columns.
        unit: what the ledger calls one of them.
    """
    return Outcome(
        candidates.where(F.col(FAULT).isNull()),
        candidates.where(F.col(FAULT).isNotNull()).select(
            F.lit(unit).alias("unit"), unit_id().alias("id"), F.col(FAULT)["reason"].alias("reason"),
            F.col(FAULT)["detail"].alias("detail"), F.lit(1).cast("bigint").alias("units"),
        ),
    )  # fmt: skip


def first_of_same_text(rows: DataFrame) -> DataFrame:
    """Gives a fault to rows that say, turn by turn, what a row of an earlier origin or of a better score says.

    The crowd's own rows are left as they are. Two rows with one (dialogue_id, turn) are the same, too.

    Args:
        rows: dialogue_id, turn, turns, label, origin, score, fault, and more; rows with a fault stand in no one's way.
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
