"""Frames of labelled, released and unlabelled dialogues."""

from pyspark.sql import DataFrame, SparkSession

from etl.pipeline.outcome import Outcome

SEEDS = "dialogue_id string, turn int, turns array<string>, label string, split string"


RELEASED = (
    "origin string, dialogue_id string, turn int, turns array<string>, label string, score double, "
    "matched_id string, matched_turns array<string>"
)


LABELLED = (
    "dialogue_id string, turn int, turns array<string>, label string, origin string, score double, "
    "matched_id string, source string"
)


def clean_frame(spark: SparkSession, dialogues: dict[str, tuple[str, list[str]]]) -> DataFrame:
    rows = [(name, film, [(text,) for text in turns]) for name, (film, turns) in dialogues.items()]
    return spark.createDataFrame(rows, "dialogue_id string, movie_id string, turns array<struct<text: string>>")


def told(outcome: Outcome) -> dict[str, tuple[str, str]]:
    assert outcome.dropped is not None
    return {row.id: (row.reason, row.detail) for row in outcome.dropped.collect() if row.units}


def balanced(outcome: Outcome) -> bool:
    assert outcome.dropped is not None
    units = outcome.dropped.agg({"units": "sum"}).collect()[0][0] or 0
    return bool(outcome.rows_in == outcome.rows.count() + units)
