"""The conversations that are kept: those of the tuned model that violate nothing (AugESC 4.3)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.augesc.measures import METHODS
from etl.tables.outcome import Outcome

GENERATED = METHODS[0]


def kept_conversations(measured: DataFrame, violations: DataFrame) -> Outcome:
    """The tuned model's valid texts as conversations; the others with the first requirement they violate.

    Args:
        measured: ``augesc.measured_texts``.
        violations: ``augesc.violations``.

    Returns:
        Outcome of ``augesc.conversations``; the unit is the generated text. Texts of people and of baselines are no
        part of it.
    """
    judged = measured.where(F.col("method") == GENERATED).join(violations.select("text_id", "violated"), "text_id")
    kept = judged.where(F.size("violated") == 0).select(
        F.col("text_id").alias("conversation_id"), "source", F.col("origin_id").alias("query_id"), "sample", "model",
        "tokens", "turns",
    )  # fmt: skip
    dropped = judged.where(F.size("violated") > 0).select(
        F.lit("text").alias("unit"), F.col("text_id").alias("id"), F.col("violated")[0].alias("reason"),
        F.concat_ws(", ", F.array_join("violated", ", "), "first_faulty").alias("detail"),
        F.lit(1).cast("bigint").alias("units"),
    )  # fmt: skip
    return Outcome(kept, dropped)
