"""Train, validation and test of the released labels (EDOS 3.3)."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.near_duplicates import NearDuplicates
from etl.common.splits import RELEASED_NEAR, content_share, near_duplicate_groups


def split_released(
    crowd_labels: DataFrame,
    *,
    test_share: float = 0.2,
    validation_share: float = 0.1,
    near: NearDuplicates | None = None,
    last_turn_words: int = 3,
) -> DataFrame:
    """Adds split to released labels: the test share of each class first, no group straddles (EDOS 3.3).

    Each near-duplicate group counts for the label that is most frequent in it (ties: the first by name).
    Within a class the groups stand in the order of their content hash; those whose middle lies within the
    first ``test_share`` of the class's rows are test, within the next ``validation_share`` validation.

    Args:
        crowd_labels: the columns of ``edos.crowd_labels``; rows without label get split null.
        test_share, validation_share: shares of each class.
        near: how near-duplicates are found (default: Jaccard 0.6 on shingles of 3 words).
        last_turn_words: rows with the same last turn of so many words are one group.

    Returns:
        crowd_labels with split.
    """
    near = near or RELEASED_NEAR
    item = F.concat_ws("/", "dialogue_id", F.col("turn").cast("string"))
    labelled = crowd_labels.filter(F.col("label").isNotNull()).select(
        item.alias("id"), "dialogue_id", "turn", "turns", "label"
    )
    grouped = near_duplicate_groups(labelled, near, last_turn_words)
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
            F.when(F.col("middle") < test_share, "test")
            .when(F.col("middle") < test_share + validation_share, "validation")
            .otherwise("train")
            .alias("split"),
        )
    )
    splits = grouped.select("dialogue_id", "turn", "group").join(placed, "group").drop("group")
    return crowd_labels.join(splits, ["dialogue_id", "turn"], "left")
