"""Scoring pairs of adjacent sentences: of pair rows and of whole files, whatever the model (EDOS 3.1, turns)."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from etl.subtitles.turn_features import PairContext, hashed_genres
from etl.subtitles.turn_marks import spoken
from etl.subtitles.turn_pairs import density
from etl.subtitles.turn_sentences import Sentences

_compute: Any = pc
_CHUNK = 4096
"""Pairs scored at once: some 900,000 features of the SVM, which stay near the processor."""


class PairScorer(Protocol):
    """A model that workers call; it is pickled with the task, so what is big is loaded when it is called."""

    def __call__(self, texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext) -> np.ndarray:
        """Margins: above 0 the right sentence opens a new turn.

        Args:
            texts: sentences without marks.
            left, right: the two sentences of each pair, as places in texts.
            context: what else is known of the pairs.
        """


def pairs_of(batch: pa.RecordBatch) -> tuple[pa.Array, np.ndarray, np.ndarray, PairContext]:
    """A batch of pair rows as what a scorer takes."""
    count = batch.num_rows
    block = _compute.fill_null(_compute.cast(batch.column("same_block"), pa.int8()), -1)
    context = PairContext(
        np.asarray(block, dtype=np.int8),
        hashed_genres(batch.column("genres")),
        np.asarray(_compute.fill_null(batch.column("density"), np.nan), dtype=np.float64),
    )
    texts = pa.concat_arrays([batch.column("left_text"), batch.column("right_text")])
    return texts, np.arange(count), np.arange(count) + count, context


def with_column(pairs: DataFrame, name: str, ddl: str, compute: Callable[[pa.RecordBatch], pa.Array]) -> DataFrame:
    """The pairs with one more column, computed a batch at a time."""

    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([*batch.columns, compute(batch)], [*batch.schema.names, name])

    columns = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in pairs.schema)
    return pairs.mapInArrow(add, f"{columns}, {name} {ddl}")


def with_margins(pairs: DataFrame, scorer: PairScorer) -> DataFrame:
    """The pairs (columns of ``turn_pairs.PAIRS``) with ``margin``: above 0 the scorer sees a new turn."""
    return with_column(pairs, "margin", "double", lambda batch: pa.array(scorer(*pairs_of(batch)), pa.float64()))


def score_turns(files: DataFrame, scorer: PairScorer, model: str) -> DataFrame:
    """Score every two adjacent sentences of each file.

    Args:
        files: source_path, subtitle_id, genres, subtitle_duration_ms, sentences.
        scorer: the model.
        model: its identity, for the table.

    Returns:
        ``subtitles.turn_scores``: scores[i] is the margin that sentence i + 1 opens a new turn, rounded to 4
        decimals. Sentences without words are looked through; they continue the turn that the next spoken one
        is in, and the margin stands before the first of them. Where there is nothing to compare: 0.
    """

    def score(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            scores = file_scores(batch, scorer)
            yield pa.RecordBatch.from_arrays(
                [
                    batch.column("source_path"),
                    batch.column("subtitle_id"),
                    pa.array([model] * batch.num_rows, pa.string()),
                    scores,
                ],
                ["source_path", "subtitle_id", "model", "scores"],
            )

    columns = ("source_path", "subtitle_id", "genres", "subtitle_duration_ms", "sentences")
    ddl = "source_path string, subtitle_id string, model string, scores array<float>"
    return files.select(*columns).mapInArrow(score, ddl)


def file_scores(batch: pa.RecordBatch, scorer: PairScorer) -> pa.Array:
    """The scores of a batch of files, as Arrow lists of float32."""
    sentences = Sentences.of(batch.column("sentences"))
    said = spoken(sentences)
    sizes = np.diff(sentences.offsets)
    right = np.flatnonzero(said.pairable)
    file = said.file[right]
    durations = np.asarray(_compute.fill_null(batch.column("subtitle_duration_ms"), 0), dtype=np.int64)
    context = PairContext(
        said.same_block[right].astype(np.int8),
        hashed_genres(batch.column("genres")).rows(file),
        density(sizes, durations)[file],
    )
    flat = np.zeros(len(sentences), dtype=np.float32)
    for start in range(0, len(right), _CHUNK):
        some = slice(start, start + _CHUNK)
        low, high = int(right[some][0]) - 1, int(right[some][-1]) + 1
        near, texts = right[some] - low, said.texts.slice(low, high - low)
        found = scorer(texts, near - 1, near, context.part(some))
        flat[said.opens_at[right[some]]] = np.round(found, 4)
    offsets = np.concatenate([[0], np.cumsum(np.maximum(sizes - 1, 0))])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(flat[~sentences.first]))
