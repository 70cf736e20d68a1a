"""Texts that are near-duplicates."""

from pyspark.sql import DataFrame, SparkSession

LONG = [
    "The ferry to the island leaves at seven from the old pier .",
    "Then we should pack the tent and the lamp before the rain comes .",
    "I will carry the lamp if you take the bread .",
]


CHANGED = [LONG[0].replace("seven", "eight"), *LONG[1:]]


CHANGED_AGAIN = [CHANGED[0], LONG[1].replace("rain", "wind"), LONG[2].replace("bread", "soup")]


def duplicate_frame(spark: SparkSession, texts: dict[str, tuple[str, list[str]]]) -> DataFrame:
    rows = [(name, film, turns) for name, (film, turns) in texts.items()]
    return spark.createDataFrame(rows, "dialogue_id string, movie_id string, texts array<string>")
