"""Which labelled turns train the dialogue classifier, and which are held out."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.edos.splits import split_released
from etl.lakehouse.outcome import Outcome


def training_rows(crowd_labels: DataFrame, test_share: float, validation_share: float) -> Outcome:
    """The crowd's labelled turns with their split; turns without a majority go to the ledger (EDOS 3.3).

    Args:
        crowd_labels: ``edos.crowd_labels``.
        test_share, validation_share: of each class.

    Returns:
        Outcome of ``edos.training_dialogues``, origin crowd.
    """
    split = split_released(crowd_labels, test_share=test_share, validation_share=validation_share)
    labelled = F.col("label").isNotNull()
    rows = split.where(labelled).select(
        "dialogue_id", "turn", "turns", "label",
        F.lit("crowd").alias("origin"),
        F.lit(None).cast("float").alias("score"),
        F.lit(None).cast("string").alias("matched_id"),
        "split",
    )  # fmt: skip
    dropped = split.where(~labelled).select(
        F.lit("turn").alias("unit"),
        F.concat_ws("/", "dialogue_id", F.col("turn").cast("string")).alias("id"),
        F.lit("no_majority").alias("reason"),
        F.concat_ws(", ", "votes").alias("detail"),
        F.lit(1).cast("bigint").alias("units"),
    )
    return Outcome(rows, dropped)
