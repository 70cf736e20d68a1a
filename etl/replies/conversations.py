"""Read the conversations of the generators' three data sets in one spelling, with labels if available (EDOS 5)."""

from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.common.spelling import detokenised, detokenised_text

COLUMNS = ("Dialog_ID", "Type", "Text", "Label")
CONVERSATIONS = """
    source string, dialogue_id string, whole string, turns array<struct<text: string, label: string>>
    """
"""``whole`` is the film or conversation, which is in one split."""
OS, EDOS, EMPATHETIC = "os", "edos", "empathetic"


def subtitle_conversations(clean: DataFrame, edos: DataFrame) -> DataFrame:
    """Return EDOS and the other cleaned dialogues ("we excluded the EDOS dialogues", EDOS 5) as ``CONVERSATIONS``.

    Args:
        clean: ``subtitles.clean_dialogues``.
        edos: ``edos.dialogues``.
    """
    film = F.concat(F.lit("film "), "movie_id").alias("whole")
    text = F.transform("turns", lambda turn: _turn(turn["text"], F.lit(None).cast("string")))
    labelled = F.transform("turns", lambda turn: _turn(turn["text"], turn["label"]))
    others = clean.join(edos.select("dialogue_id"), "dialogue_id", "left_anti")
    unlabelled = others.select(F.lit(OS).alias("source"), "dialogue_id", film, text.alias("turns"))
    return unlabelled.unionByName(
        edos.select(F.lit(EDOS).alias("source"), "dialogue_id", film, labelled.alias("turns"))
    )


def empathetic_conversations(
    spark: SparkSession, rows: Iterable[Mapping[str, str]], labels: Sequence[str]
) -> DataFrame:
    """Return EmpatheticDialogues as ``CONVERSATIONS``, without the situations.

    Args:
        spark: the session.
        rows: the released CSV's Dialog_ID, Type, Text, Label; a conversation's rows in order.
        labels: the taxonomy. Other labels become null.
    """
    known, talks = set(labels), dict[str, list[tuple[str, str | None]]]()
    for row in rows:
        if row["Type"].strip().lower() == "utterance":
            label = row["Label"].strip().lower()
            turn = (detokenised_text(row["Text"]), label if label in known else None)
            talks.setdefault(row["Dialog_ID"].strip(), []).append(turn)
    given = [(EMPATHETIC, name, f"conversation {name}", turns) for name, turns in talks.items()]
    return spark.createDataFrame(given, CONVERSATIONS)


def _turn(text: Column, label: Column) -> Column:
    return F.struct(detokenised(text).alias("text"), label.alias("label"))
