"""The finished dialogues that the authors of EDOS published, as ours (EDOS, footnote 1)."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.common.turn_rows import LABELLED_TURN, own_film, read_dialogues
from etl.pipeline.outcome import Outcome

SETTING = "edos.published_dialogues"
MODEL = "published"
"""Stands for the identity of the authors' classifier."""


def published_edos(spark: SparkSession, paths: Sequence[str], labels: Sequence[str]) -> Outcome:
    """Read the published EDOS as an outcome of ``edos.dialogues``. The unit is the turn.

    Args:
        paths: files with columns dialogue_id, text, label (or emotion) and confidence, one row for each turn.
    """
    read = read_dialogues(spark, paths, LABELLED_TURN, SETTING, labels)
    return Outcome(finished_rows(read.rows), read.dropped, rows_in=read.rows_in)


def finished_rows(read: DataFrame) -> DataFrame:
    """Return the rows of ``edos.dialogues`` of published dialogues: dialogue_id, texts, labels, confidences."""
    turn = "(text, at) -> named_struct('text', text, 'label', labels[at], 'confidence', confidences[at])"
    turns = F.expr(f"transform(texts, {turn})")
    unknown = F.lit(None).cast("array<boolean>").alias("accepted")
    return read.select(
        "dialogue_id", own_film().alias("movie_id"), F.lit(MODEL).alias("model"), turns.alias("turns"), unknown
    )
