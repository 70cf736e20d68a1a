"""The value of a column for each of some texts."""

from pyspark.sql import Column, SparkSession


def cleaning_values(spark: SparkSession, texts: list[str], value: Column) -> dict[str, object]:
    frame = spark.createDataFrame([(text,) for text in texts], "text string")
    return {row["text"]: row["value"] for row in frame.select("text", value.alias("value")).collect()}
