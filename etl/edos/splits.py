"""Split the released labels into train, validation and test (EDOS 3.3)."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.splits import RELEASED_NEAR, content_share, near_duplicate_groups
from etl.edos.labelled_rows import unit_id


def split_released(crowd_labels: DataFrame, *, test_share: float = 0.2, validation_share: float = 0.1) -> DataFrame:
    """Add split to released labels, by class and by near-duplicate group (EDOS 3.3).

    A near-duplicate group belongs to its most frequent label (ties: the first by name). The groups of a class are
    ordered by their content hash. Groups whose middle is within the first ``test_share`` of the class's rows are test,
    those within the next ``validation_share`` are validation.

    Args:
        crowd_labels: ``edos.crowd_labels``. Rows without a label get a null split.
        test_share, validation_share: shares of each class.
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
            F.when(F.col("middle") < test_share, "test")
            .when(F.col("middle") < test_share + validation_share, "validation")
            .otherwise("train")
            .alias("split"),
        )
    )
    splits = grouped.select("dialogue_id", "turn", "group").join(placed, "group").drop("group")
    return crowd_labels.join(splits, ["dialogue_id", "turn"], "left")
