"""Read the conversations of the generators' three data sets in one spelling, with labels if available (EDOS 5)."""

from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.common.spelling import detokenised, detokenised_text

COLUMNS = ("Dialog_ID", "Type", "Text", "Label")
CONVERSATIONS = """
    source string, dialogue_id string, origin string, turns array<struct<text: string, label: string>>
    """
"""``origin`` is the film or conversation, which is in one split; null where the dialogue is for training alone."""
OS = "os"
EDOS = "edos"
EMPATHETIC = "empathetic"


def all_conversations(
    dialogues: DataFrame, edos: DataFrame, rows: Iterable[Mapping[str, str]], labels: Sequence[str]
) -> DataFrame:
    """Return subtitles and EmpatheticDialogues as ``CONVERSATIONS``; see the functions below."""
    empathetic = empathetic_conversations(dialogues.sparkSession, rows, labels)
    return subtitle_conversations(dialogues, edos).unionByName(empathetic)


def subtitle_conversations(dialogues: DataFrame, edos: DataFrame) -> DataFrame:
    """Return EDOS and the other dialogues of subtitles ("we excluded the EDOS dialogues", EDOS 5) as ``CONVERSATIONS``.

    Args:
        dialogues: ``subtitles.clean_dialogues``.
        edos: ``edos.dialogues``.
    """
    film = F.concat(F.lit("film "), "movie_id").alias("origin")
    text = F.transform("turns", lambda turn: _turn(turn["text"], F.lit(None).cast("string")))
    labelled = F.transform("turns", lambda turn: _turn(turn["text"], turn["label"]))
    others = dialogues.join(edos.select("dialogue_id"), "dialogue_id", "left_anti")
    unlabelled = others.select(F.lit(OS).alias("source"), "dialogue_id", film, text.alias("turns"))
    return unlabelled.unionByName(
        edos.select(F.lit(EDOS).alias("source"), "dialogue_id", film, labelled.alias("turns"))
    )


def empathetic_conversations(
    spark: SparkSession, rows: Iterable[Mapping[str, str]], labels: Sequence[str]
) -> DataFrame:
    """Return EmpatheticDialogues as ``CONVERSATIONS``, without the situations.

    Args:
        rows: the released CSV's Dialog_ID, Type, Text, Label; a conversation's rows in order.
        labels: the taxonomy. Other labels become null.
    """
    known = set(labels)
    talks = dict[str, list[tuple[str, str | None]]]()
    for row in rows:
        if row["Type"].strip().lower() == "utterance":
            label = row["Label"].strip().lower()
            turn = (detokenised_text(row["Text"]), label if label in known else None)
            talks.setdefault(row["Dialog_ID"].strip(), []).append(turn)
    given = [(EMPATHETIC, name, f"conversation {name}", turns) for name, turns in talks.items()]
    return spark.createDataFrame(given, CONVERSATIONS)


def _turn(text: Column, label: Column) -> Column:
    return F.struct(detokenised(text).alias("text"), label.alias("label"))
