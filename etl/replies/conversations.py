"""Read the conversations of the generators' three data sets in one spelling, with labels if available (EDOS 5)."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import itemgetter

import pandas as pd
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
    dialogues: DataFrame,
    edos: DataFrame,
    transcripts: Mapping[str, pd.DataFrame],
    rows: Iterable[Mapping[str, str]],
    labels: Sequence[str],
) -> DataFrame:
    """Return subtitles, transcripts and EmpatheticDialogues as ``CONVERSATIONS``; see the functions below."""
    spark = dialogues.sparkSession
    others = (transcript_conversations(spark, transcripts), empathetic_conversations(spark, rows, labels))
    return reduce(DataFrame.unionByName, others, subtitle_conversations(dialogues, edos))


def subtitle_conversations(dialogues: DataFrame, edos: DataFrame) -> DataFrame:
    """Return EDOS and the other dialogues of subtitles ("we excluded the EDOS dialogues", EDOS 5) as ``CONVERSATIONS``.

    Args:
        dialogues: ``subtitles.clean_dialogues``, or ``subtitles.dialogues``; a dialogue has one id in both.
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
        spark: the session.
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


def transcript_conversations(spark: SparkSession, corpora: Mapping[str, pd.DataFrame]) -> DataFrame:
    """Return transcripts as ``CONVERSATIONS`` for training alone; neighbouring utterances of a speaker are one turn.

    Args:
        spark: the session.
        corpora: by name the utterances of `transcripts.transcript_utterances`.
    """
    given = []
    for name, utterances in corpora.items():
        for scene, rows in utterances.groupby("scene", sort=True):
            spoken = zip(rows["speaker"], rows["utterance"], strict=True)
            turns = [" ".join(text for _, text in part) for _, part in groupby(spoken, key=itemgetter(0))]
            given.append((OS, f"{name}/{scene}", None, [(detokenised_text(text), None) for text in turns]))
    return spark.createDataFrame(given, CONVERSATIONS)


def _turn(text: Column, label: Column) -> Column:
    return F.struct(detokenised(text).alias("text"), label.alias("label"))
