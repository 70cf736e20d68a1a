"""The text of a turn, made again from its sentences as cleaning made it."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType, StructType

from etl.subtitles.cleaning_words import CleaningWords
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.text_rules import spoken_text, without_label
from etl.subtitles.turn_marks import without_dash
from etl.subtitles.turn_rules import without_credit_sentences, without_songs

_compute: Any = pc


def turn_texts(rows: DataFrame, rules: CleaningSettings, words: CleaningWords) -> DataFrame:
    """Return rows in which ``spoken`` has each turn's text in place of its sentences.

    The sentences without the dashes that mark turns are joined, and names, descriptions, songs and credits are removed.
    A song whose other note stands in another turn is not known here.

    Args:
        rows: language, turns with ``speaker``, and ``spoken``: a list of sentences for each turn.
        rules: cleaning rules of the data set; only those that change texts are used.
    """

    def said(text: Column, turn: Column) -> Column:
        unsung = without_songs(text) if rules.drop_songs else text
        uncredited = without_credit_sentences(unsung, words) if rules.drop_credits else unsung
        spoken = spoken_text(uncredited, rules, words, F.col("language"))
        return without_label(spoken, turn["speaker"]) if rules.strip_names else spoken

    texts = F.zip_with("turns", "spoken", lambda turn, spoken: said(spoken, turn))
    return _joined_sentences(rows).withColumn("spoken", texts)


def _joined_sentences(rows: DataFrame) -> DataFrame:
    """Join ``spoken``, a list of sentences for each turn, to one text for each turn."""

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
    """Return one text for each list: its non-empty sentences without initial dashes, joined by blanks."""
    sentences = without_dash(_compute.fill_null(turns.flatten(), ""))
    some = np.asarray(_compute.not_equal(sentences, ""), dtype=bool)
    kept = np.concatenate([[0], np.cumsum(some)])[_bounds(turns)]
    lists = pa.ListArray.from_arrays(pa.array(kept, pa.int32()), sentences.filter(pa.array(some)))
    return _compute.binary_join(lists, " ")


def _bounds(lists: pa.ListArray) -> np.ndarray:
    """Return the offset of each list in the flattened values, and the total; null lists are empty."""
    lengths = np.asarray(_compute.fill_null(_compute.list_value_length(lists), 0), dtype=np.int64)
    return np.concatenate([[0], np.cumsum(lengths)])
