"""The turn segmenter: a linear SVM over two adjacent sentences (EDOS 3.1), trained, judged and applied."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.ml.classification import LinearSVC
from pyspark.ml.linalg import SparseVector, Vectors, VectorUDT
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from conf.errors import InputError
from etl.subtitles.turn_features import (
    FeatureSpace,
    LemmaTable,
    PairContext,
    feature_value,
    hashed_genres,
    margins,
    pair_features,
)
from etl.subtitles.turn_marks import spoken
from etl.subtitles.turn_pairs import LABELS, density
from etl.subtitles.turn_sentences import Sentences

_compute: Any = pc
_FORMAT = 3
_CHUNK = 4096
"""Pairs hashed at once: some 900,000 features, which stay near the processor."""
_WEIGHT = np.dtype([("bucket", "<i4"), ("weight", "<f8")])
SOURCE_WEIGHTS: Mapping[str, float] = {
    "meld": 1.0,
    "emorynlp": 1.0,
    "dailydialog": 0.3,
    "dashes": 0.4,
    "labels": 0.6,
    "carried": 1.0,
}
"""What a pair of each source weighs in training: dashes are many and all within a block, DailyDialog is no film."""


@dataclass(frozen=True)
class TurnSegmenter:
    """A learned linear SVM.

    Attributes:
        weights: one float64 for each bucket of the feature space.
        intercept: added to every margin.
        space: which features.
    """

    weights: np.ndarray
    intercept: float
    space: FeatureSpace

    def _as_bytes(self) -> tuple[bytes, bytes]:
        used = np.flatnonzero(self.weights)
        table = np.empty(len(used), dtype=_WEIGHT)
        table["bucket"], table["weight"] = used, self.weights[used]
        about = {
            "format": _FORMAT,
            "buckets": self.space.buckets,
            "lengths": self.space.lengths,
            "intercept": self.intercept,
        }
        return json.dumps(about, sort_keys=True).encode() + b"\n", table.tobytes()

    @cached_property
    def identity(self) -> str:
        """``turn-segmenter:`` and the digest of what :meth:`save` writes."""
        return "turn-segmenter:" + hashlib.sha256(b"".join(self._as_bytes())).hexdigest()[:16]

    def save(self, folder: Path) -> None:
        """Write ``segmenter.json`` and ``weights.safetensors`` (int32 bucket, float64 weight; zeros left out)."""
        folder.mkdir(parents=True, exist_ok=True)
        used = np.flatnonzero(self.weights)
        (folder / "segmenter.json").write_bytes(self._as_bytes()[0])
        weight = self.weights[used].astype(np.float64)
        tensors: dict[str, np.ndarray] = {"bucket": used.astype(np.int32), "weight": weight}
        save_file(tensors, folder / "weights.safetensors")

    @classmethod
    def load(cls, folder: Path) -> "TurnSegmenter":
        """Read what :meth:`save` wrote.

        Raises:
            InputError: a file is missing, or not what this version writes.
        """
        try:
            about = json.loads((folder / "segmenter.json").read_bytes())
            table = load_file(folder / "weights.safetensors")
            buckets, intercept = int(about["buckets"]), float(about["intercept"])
            known = about["format"] == _FORMAT and 2 <= buckets <= 2**30 and buckets.bit_count() == 1
            bucket, weight = table["bucket"], table["weight"]
            known = known and bucket.dtype == np.int32 and bucket.ndim == 1 and bucket.shape == weight.shape
            known = known and bool(np.isfinite(weight).all()) and bool(np.isfinite(intercept))
            known = known and bool(((bucket >= 0) & (bucket < buckets)).all())
            space = FeatureSpace(buckets, bool(about["lengths"]))
        except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
            raise InputError(f"turn segmenter {folder}: cannot be read ({error}); train it again") from error
        if not known:
            raise InputError(f"turn segmenter {folder}: not of this version's format; train it again")
        weights = np.zeros(buckets)
        weights[bucket] = weight
        return cls(weights, intercept, space)


def lemma_table(lemmas: DataFrame) -> LemmaTable:
    """The look-up table of workers from rows of word and lemma (see ``udfs.lemmas``)."""
    changed = lemmas.where("word != lemma").select("word", "lemma").collect()
    return LemmaTable.of({row["word"]: row["lemma"] for row in changed})


def _pair_batch(batch: pa.RecordBatch, table: LemmaTable, space: FeatureSpace) -> Any:
    """The features of a batch of pair rows."""
    left, right = batch.column("left_text"), batch.column("right_text")
    count = batch.num_rows
    block = _compute.fill_null(_compute.cast(batch.column("same_block"), pa.int8()), -1)
    context = PairContext(
        np.asarray(block, dtype=np.int8),
        hashed_genres(batch.column("genres")),
        np.asarray(_compute.fill_null(batch.column("density"), np.nan), dtype=np.float64),
    )
    texts = pa.concat_arrays([left, right])
    return pair_features(texts, np.arange(count), np.arange(count) + count, context, table, space)


def _with_column(pairs: DataFrame, name: str, ddl: str, compute: Callable[[pa.RecordBatch], pa.Array]) -> DataFrame:
    """The pairs with one more column, computed a batch at a time."""

    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([*batch.columns, compute(batch)], [*batch.schema.names, name])

    columns = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in pairs.schema)
    return pairs.mapInArrow(add, f"{columns}, {name} {ddl}")


def with_buckets(pairs: DataFrame, table: LemmaTable, space: FeatureSpace) -> DataFrame:
    """The pairs with ``buckets``: the sorted buckets of their features, one entry a feature."""

    def buckets(batch: pa.RecordBatch) -> pa.Array:
        features = _pair_batch(batch, table, space)
        row = np.repeat(np.arange(len(features)), features.counts)
        indices = space.bucket(features)
        order = np.lexsort((indices, row))
        return pa.ListArray.from_arrays(pa.array(features.offsets, pa.int32()), pa.array(indices[order], pa.int32()))

    return _with_column(pairs, "buckets", "array<int>", buckets)


def with_margins(pairs: DataFrame, segmenter: TurnSegmenter, table: LemmaTable) -> DataFrame:
    """The pairs with ``margin``: above 0 the segmenter sees a new turn."""

    def score(batch: pa.RecordBatch) -> pa.Array:
        features = _pair_batch(batch, table, segmenter.space)
        return pa.array(margins(features, segmenter.weights, segmenter.intercept, segmenter.space))

    return _with_column(pairs, "margin", "double", score)


def train_turn_segmenter(
    pairs: DataFrame,
    lemmas: DataFrame,
    *,
    space: FeatureSpace,
    regularization: float,
    max_iterations: int,
    partitions: int = 1,
    source_weights: Mapping[str, float] = SOURCE_WEIGHTS,
) -> TurnSegmenter:
    """Learn a linear SVM (hinge loss, L2) that tells whether the right sentence opens a new turn (EDOS 3.1).

    Args:
        pairs: the columns of ``turn_pairs.PAIRS``.
        lemmas: word, lemma.
        space: which features, into how many buckets.
        regularization: weight of the L2 penalty beside the mean loss; rows have one length, features are not
            standardised.
        max_iterations: of OWL-QN.
        partitions: one gives the same sums, and so the same weights, on any number of cores.
        source_weights: by source; a source that is not named weighs 1.

    Raises:
        InputError: the pairs are not of two classes.
    """
    classes = {row["label"] for row in pairs.select("label").distinct().collect()}
    if classes != {0, 1}:
        raise InputError(f"turn segmenter: training pairs of both classes are needed, found {sorted(classes)}")
    buckets = space.buckets

    def vector(features: list[int]) -> SparseVector:
        indices, counts = np.unique(np.asarray(features, dtype=np.int32), return_counts=True)
        return Vectors.sparse(buckets, indices, counts * feature_value(len(features)))

    weight = F.lit(1.0)
    for source, value in sorted(source_weights.items()):
        weight = F.when(F.col("source") == source, float(value)).otherwise(weight)
    key = ["source", "split_group", "left_text", "right_text"]
    rows = (
        with_buckets(_blind_to_what_made_the_truth(pairs), lemma_table(lemmas), space)
        .withColumn("features", F.udf(vector, VectorUDT())("buckets"))
        .select(*key, F.col("label").cast("double").alias("label"), weight.alias("weight"), "features")
        .filter(F.col("weight") > 0)
    )
    rows = (rows.repartition(1) if partitions == 1 else rows.repartition(partitions, *key)).sortWithinPartitions(*key)
    machine = LinearSVC(
        featuresCol="features",
        labelCol="label",
        weightCol="weight",
        regParam=regularization,
        maxIter=max_iterations,
        standardization=False,
        fitIntercept=True,
        tol=1e-5,
    )
    model = machine.fit(rows)
    return TurnSegmenter(model.coefficients.toArray(), float(model.intercept), space)


def _blind_to_what_made_the_truth(pairs: DataFrame) -> DataFrame:
    """Between blocks, labels tell of changes and never of continuations: a new block would give them away."""
    told_by_block = (F.col("source") == LABELS) & ~F.col("same_block")
    return pairs.withColumn("same_block", F.when(F.coalesce(~told_by_block, F.lit(True)), F.col("same_block")))


def score_turns(
    files: DataFrame, segmenter: TurnSegmenter, lemmas: DataFrame, *, model: str | None = None
) -> DataFrame:
    """Score every two adjacent sentences of each file.

    Args:
        files: source_path, subtitle_id, genres, subtitle_duration_ms, sentences.
        segmenter: the learned SVM.
        lemmas: word, lemma.
        model: what to call the segmenter in the table; its own identity by default.

    Returns:
        ``subtitles.turn_scores``: scores[i] is the margin that sentence i + 1 opens a new turn, rounded to 4
        decimals. Sentences without words are looked through; they continue the turn that the next spoken one
        is in, and the margin stands before the first of them. Where there is nothing to compare: 0.
    """
    table, name = lemma_table(lemmas), model or segmenter.identity

    def score(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            scores = file_scores(batch, segmenter, table)
            yield pa.RecordBatch.from_arrays(
                [
                    batch.column("source_path"),
                    batch.column("subtitle_id"),
                    pa.array([name] * batch.num_rows, pa.string()),
                    scores,
                ],
                ["source_path", "subtitle_id", "model", "scores"],
            )

    columns = ("source_path", "subtitle_id", "genres", "subtitle_duration_ms", "sentences")
    ddl = "source_path string, subtitle_id string, model string, scores array<float>"
    return files.select(*columns).mapInArrow(score, ddl)


def file_scores(batch: pa.RecordBatch, segmenter: TurnSegmenter, table: LemmaTable) -> pa.Array:
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
        features = pair_features(texts, near - 1, near, context.part(some), table, segmenter.space)
        found = margins(features, segmenter.weights, segmenter.intercept, segmenter.space)
        flat[said.opens_at[right[some]]] = np.round(found, 4)
    offsets = np.concatenate([[0], np.cumsum(np.maximum(sizes - 1, 0))])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(flat[~sentences.first]))


__all__ = [
    "SOURCE_WEIGHTS",
    "TurnSegmenter",
    "file_scores",
    "lemma_table",
    "score_turns",
    "train_turn_segmenter",
    "with_buckets",
    "with_margins",
]
