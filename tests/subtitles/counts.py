"""Counts of dialogues' units, taken apart from the stages' ledgers."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def count_turns(dialogues: DataFrame) -> int:
    """Return the number of turns in all dialogues."""
    return dialogues.agg(F.coalesce(F.sum(F.size("turns").cast("bigint")), F.lit(0))).head()[0]  # type: ignore[index]


def count_sentences(dialogues: DataFrame) -> int:
    """Return the number of sentences in the turns of all dialogues."""
    sentences = F.aggregate(
        "turns",
        F.lit(0).cast("bigint"),
        lambda total, turn: total + turn["sentence_last"] - turn["sentence_first"] + F.lit(1).cast("bigint"),
    )
    return dialogues.agg(F.coalesce(F.sum(sentences), F.lit(0))).head()[0]  # type: ignore[index]
