"""Labelled rows of several origins."""

from pyspark.sql import DataFrame, SparkSession

from etl.edos.tables import TRAINING_DIALOGUES

LINES = {"sad": "i lost my dog .", "joyful": "so happy !", "questioning": "why did he do that ?"}


def labelled(spark: SparkSession, origins: dict[str, int]) -> DataFrame:
    """Rows of each origin, so many of each label; the crowd's have all three splits."""
    rows = []
    for origin, count in origins.items():
        for number in range(count):
            split = ("train", "validation", "test")[number % 3] if origin == "crowd" else "train"
            rows += [
                (f"{origin}-{number}", place, [f"{origin} {number}", line], label, origin, None, None, split)
                for place, (label, line) in enumerate(LINES.items())
            ]
    return spark.createDataFrame(rows, TRAINING_DIALOGUES.schema)
