"""The three sets that generators learn from, as talks: turns in order, with labels where there are any (EDOS 5)."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

COLUMNS = ("Dialog_ID", "Type", "Text", "Label")
CONVERSATIONS = """
    source string, dialogue_id string, whole string, turns array<struct<text: string, label: string>>
    """
"""``whole`` is what no split divides: the film, or the conversation."""
OS, EDOS, EMPATHETIC = "os", "edos", "empathetic"
SOURCES = (OS, EDOS, EMPATHETIC)


def subtitle_conversations(clean: DataFrame, edos: DataFrame) -> DataFrame:
    """EDOS, and the cleaned dialogues that are not in it ("we excluded the EDOS dialogues", EDOS 5).

    Args:
        clean: ``subtitles.clean_dialogues``.
        edos: ``edos.dialogues``.

    Returns:
        Rows of ``CONVERSATIONS``.
    """
    film = F.concat(F.lit("film "), "movie_id").alias("whole")
    text = F.transform("turns", lambda turn: _turn(turn["text"], F.lit(None).cast("string")))
    labelled = F.transform("turns", lambda turn: _turn(turn["text"], turn["label"]))
    others = clean.join(edos.select("dialogue_id"), "dialogue_id", "left_anti")
    parts = [
        others.select(F.lit(OS).alias("source"), "dialogue_id", film, text.alias("turns")),
        edos.select(F.lit(EDOS).alias("source"), "dialogue_id", film, labelled.alias("turns")),
    ]
    return reduce(DataFrame.unionByName, parts)


def empathetic_conversations(
    spark: SparkSession, rows: Iterable[Mapping[str, str]], labels: Sequence[str]
) -> DataFrame:
    """The conversations of EmpatheticDialogues; the situation that opens one is no turn.

    Args:
        rows: the released CSV's Dialog_ID, Type, Text, Label; a conversation's rows in order.
        labels: the taxonomy; another label counts as none.

    Returns:
        Rows of ``CONVERSATIONS``.
    """
    known, talks = set(labels), dict[str, list[tuple[str, str | None]]]()
    for row in rows:
        if row["Type"].strip().lower() == "utterance":
            label = row["Label"].strip().lower()
            turn = (" ".join(row["Text"].split()), label if label in known else None)
            talks.setdefault(row["Dialog_ID"].strip(), []).append(turn)
    given = [(EMPATHETIC, name, f"conversation {name}", turns) for name, turns in talks.items()]
    return spark.createDataFrame(given, CONVERSATIONS)


def _turn(text: Column, label: Column) -> Column:
    return F.struct(text.alias("text"), label.alias("label"))
