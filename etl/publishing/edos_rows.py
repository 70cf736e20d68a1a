"""The finished dialogues as others get them: with their texts, or with references to OPUS in their place.

Ours, not the paper's: OPUS gives the subtitles to everyone, but who makes a data set of them may not be free to pass
the texts on. A reference is the subtitle file and the numbers of a turn's sentences in it; with a copy of the same
OPUS release the texts come back (:func:`restored`).
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType, StructType

from etl.common.splits import split_by_film
from etl.subtitles.cleaning_rules import CleaningRules, spoken_text
from etl.subtitles.turn_marks import without_dash
from etl.tables.outcome import Outcome

SOURCE = ("release", "language", "subtitle_id")
"""What names a subtitle file whatever its place: OPUS's release, the language, the file's own number."""

CHECK_LENGTH = 12
_compute: Any = pc


def text_check(text: Column) -> Column:
    """The start of a text's sha256: enough to see that a text put back is the one that was labelled."""
    return F.substring(F.sha2(text, 256), 1, CHECK_LENGTH)


def published_rows(
    dialogues: DataFrame, clean: DataFrame, *, references: bool, test_share: float, validation_share: float
) -> DataFrame:
    """One row a dialogue for publication, with its split by film.

    Args:
        dialogues: ``edos.dialogues``.
        clean: ``subtitles.clean_dialogues``, whose turns are the same ones in the same order.
        references: sentence numbers in place of texts.
        test_share, validation_share: of films.

    Returns:
        dialogue_id, movie_id, split, and turns: array of struct(text, label, confidence), confidences with 4 decimals.
        With references: also release, language, subtitle_id, source_path, and in each turn sentence_first and
        sentence_last (from 0, both inclusive) and text_check in place of text.
    """
    split = split_by_film(dialogues, test_share=test_share, validation_share=validation_share)
    if not references:
        return split.select("dialogue_id", "movie_id", "split", _labelled("turns", "text").alias("turns"))
    sources = clean.select("dialogue_id", *SOURCE, "source_path", F.col("turns").alias("said"))
    referred = split.join(sources, "dialogue_id").withColumn(
        "turns",
        F.zip_with(
            "turns",
            "said",
            lambda turn, said: F.struct(
                said["sentence_first"].alias("sentence_first"),
                said["sentence_last"].alias("sentence_last"),
                text_check(turn["text"]).alias("text_check"),
                turn["label"].alias("label"),
                turn["confidence"].alias("confidence"),
            ),
        ),
    )
    named = ("sentence_first", "sentence_last", "text_check")
    return referred.select(
        "dialogue_id", "movie_id", *SOURCE, "source_path", "split", _labelled("turns", *named).alias("turns")
    )


def _labelled(turns: str, *names: str) -> Column:
    """Turns with the named fields, label and rounded confidence."""
    return F.transform(
        turns,
        lambda turn: F.struct(
            *(turn[name].alias(name) for name in names),
            turn["label"].alias("label"),
            F.round(turn["confidence"].cast("double"), 4).cast("float").alias("confidence"),
        ),
    )


def restored(referred: DataFrame, files: DataFrame, rules: CleaningRules) -> Outcome:
    """Texts in place of references, from a reader's own copy of OPUS.

    A turn's text is made as it was made first: its sentences without the dashes that mark turns, joined, then without
    names and descriptions. What comes out must be what was labelled, by ``text_check``.

    Args:
        referred: rows that :func:`published_rows` made with references.
        files: ``subtitles.files`` of the reader, read with the same ``subtitles.truecase``.
        rules: of the cleaning that the data set was made with; names and brackets are what counts.

    Returns:
        Outcome of dialogue_id, movie_id, split, turns with text, label and confidence. A dialogue whose file is not
        there, or whose text is another there, is dropped. The unit is the dialogue.
    """
    texts = files.select(*SOURCE, F.col("sentences")["text"].alias("sentences"))
    found = referred.drop("source_path").join(texts, list(SOURCE), "left")
    spoken = F.transform(
        "turns",
        lambda turn: F.when(
            (turn["sentence_first"] >= 0) & (turn["sentence_last"] >= turn["sentence_first"]),
            F.slice("sentences", turn["sentence_first"] + 1, turn["sentence_last"] - turn["sentence_first"] + 1),
        ),
    )
    known = F.col("sentences").isNotNull()
    joined = _joined_sentences(
        found.where(known).select("dialogue_id", "movie_id", "split", "turns", spoken.alias("spoken"))
    )
    said = joined.withColumn(
        "turns",
        F.zip_with(
            "turns",
            "spoken",
            lambda turn, spoken: F.struct(
                spoken_text(spoken, rules).alias("text"),
                turn["label"].alias("label"),
                turn["confidence"].alias("confidence"),
                turn["text_check"].alias("text_check"),
            ),
        ),
    )
    same = F.forall("turns", lambda turn: text_check(turn["text"]) == turn["text_check"])
    rows = said.where(same).select("dialogue_id", "movie_id", "split", _labelled("turns", "text").alias("turns"))
    other = said.where(~same).select(
        "dialogue_id", F.lit("other_text").alias("reason"), F.lit("the file there says something else").alias("detail")
    )
    missing = found.where(~known).select(
        "dialogue_id", F.lit("no_such_file").alias("reason"), F.concat_ws("/", *SOURCE).alias("detail")
    )
    dropped = other.unionByName(missing).select(
        F.lit("dialogue").alias("unit"), F.col("dialogue_id").alias("id"), "reason", "detail",
        F.lit(1).cast("bigint").alias("units"),
    )  # fmt: skip
    return Outcome(rows, dropped)


def _joined_sentences(rows: DataFrame) -> DataFrame:
    """``spoken``, a list of sentences for each turn, becomes one text for each turn."""

    def join(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            turns = batch.column("spoken")
            texts = pa.ListArray.from_arrays(pa.array(_bounds(turns), pa.int32()), joined_sentences(turns.flatten()))
            columns = [texts if name == "spoken" else batch.column(name) for name in batch.schema.names]
            yield pa.RecordBatch.from_arrays(columns, batch.schema.names)

    others = [field for field in rows.schema if field.name != "spoken"]
    schema = StructType(others).add("spoken", ArrayType(StringType()))
    return rows.select(*schema.names).mapInArrow(join, schema)


def joined_sentences(turns: pa.ListArray) -> pa.Array:
    """One text for each list of sentences: those with words, without the dashes that open them, one blank between."""
    sentences = without_dash(_compute.fill_null(turns.flatten(), ""))
    some = np.asarray(_compute.not_equal(sentences, ""), dtype=bool)
    kept = np.concatenate([[0], np.cumsum(some)])[_bounds(turns)]
    lists = pa.ListArray.from_arrays(pa.array(kept, pa.int32()), sentences.filter(pa.array(some)))
    return _compute.binary_join(lists, " ")


def _bounds(lists: pa.ListArray) -> np.ndarray:
    """Where each list begins in the flattened values, and the end of all; null lists are empty."""
    lengths = np.asarray(_compute.fill_null(_compute.list_value_length(lists), 0), dtype=np.int64)
    return np.concatenate([[0], np.cumsum(lengths)])
