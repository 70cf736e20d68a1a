"""The turn segmenter, a linear SVM over two adjacent sentences, and its training (EDOS 3.1)."""

import hashlib
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.common.columns import with_computed
from etl.subtitles.turn_features import FeatureSpace, LemmaTable, PairContext, feature_value, margins, pair_features
from etl.subtitles.turn_pairs import LABELS
from etl.subtitles.turn_scoring import pairs_of

_FORMAT = 3
SEED = 13
"""Seed of the order in which the optimizer takes the pairs."""
REGULARIZATION = 0.007
"""By cross-validation over training episodes."""
MAX_ITERATIONS = 60
_WEIGHT = np.dtype([("bucket", "<i4"), ("weight", "<f8")])
SOURCE_WEIGHTS: Mapping[str, float] = {
    "meld": 1.0,
    "emorynlp": 1.0,
    "dailydialog": 0.3,
    "dashes": 0.4,
    "labels": 0.6,
    "carried": 1.0,
}
"""Training weights by source, else 1: dashes are many and only within blocks, and DailyDialog is not from films."""


@dataclass(frozen=True)
class TurnSegmenter:
    """A learned linear SVM.

    Attributes:
        weights: float64 of shape (buckets,).
        intercept: added to every margin.
        space: the feature space.
    """

    weights: np.ndarray
    intercept: float
    space: FeatureSpace

    @property
    def _header(self) -> bytes:
        about = {"buckets": self.space.buckets, "lengths": self.space.lengths, "intercept": self.intercept}
        return json.dumps({**about, "format": _FORMAT}, sort_keys=True).encode() + b"\n"

    @cached_property
    def identity(self) -> str:
        """``turn-segmenter:`` and a digest of the parameters and the non-zero weights."""
        used = np.flatnonzero(self.weights)
        table = np.empty(len(used), dtype=_WEIGHT)
        table["bucket"] = used
        table["weight"] = self.weights[used]
        return "turn-segmenter:" + hashlib.sha256(self._header + table.tobytes()).hexdigest()[:16]

    def save(self, folder: Path) -> None:
        """Write ``segmenter.json`` and ``weights.safetensors`` (int32 bucket, float64 weight; without zeros)."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        (folder / "segmenter.json").write_bytes(self._header)
        used = np.flatnonzero(self.weights)
        bucket: np.ndarray = used.astype(np.int32)
        weight: np.ndarray = self.weights[used].astype(np.float64)
        save_file({"bucket": bucket, "weight": weight}, folder / "weights.safetensors")

    @classmethod
    def load(cls, folder: Path) -> "TurnSegmenter":
        """Read the model that :meth:`save` wrote.

        Raises:
            InputError: A file is missing or has another format.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            about = json.loads((folder / "segmenter.json").read_bytes())
            table = load_file(folder / "weights.safetensors")
            buckets = int(about["buckets"])
            intercept = float(about["intercept"])
            known = about["format"] == _FORMAT and 2 <= buckets <= 2**30 and buckets.bit_count() == 1
            bucket = table["bucket"]
            weight = table["weight"]
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
    """Return the workers' look-up table from rows of word and lemma (see ``udfs.lemmas``)."""
    changed = lemmas.where("word != lemma").select("word", "lemma").collect()
    return LemmaTable.of({row["word"]: row["lemma"] for row in changed})


@dataclass(frozen=True)
class SvmScorer:
    """The SVM with its lemma table, as a ``turn_scoring.PairScorer``."""

    segmenter: TurnSegmenter
    table: LemmaTable

    def __call__(self, texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext) -> np.ndarray:
        features = pair_features(texts, left, right, context, self.table, self.segmenter.space)
        return margins(features, self.segmenter.weights, self.segmenter.intercept, self.segmenter.space)


def with_buckets(pairs: DataFrame, table: LemmaTable, space: FeatureSpace) -> DataFrame:
    """Add column ``buckets`` with the sorted buckets of each pair's features, one entry per feature."""

    def buckets(batch: pa.RecordBatch) -> list[pa.Array]:
        features = pair_features(*pairs_of(batch), table, space)
        row = np.repeat(np.arange(len(features)), features.counts)
        indices = space.bucket(features)
        order = np.lexsort((indices, row))
        return [pa.ListArray.from_arrays(pa.array(features.offsets, pa.int32()), pa.array(indices[order], pa.int32()))]

    return with_computed(pairs, {"buckets": "array<int>"}, buckets)


def train_turn_segmenter(
    pairs: DataFrame,
    table: LemmaTable,
    *,
    space: FeatureSpace,
    max_iterations: int = MAX_ITERATIONS,
) -> TurnSegmenter:
    """Train a linear SVM (hinge loss, L2) that predicts whether the right sentence opens a new turn (EDOS 3.1).

    All tasks compute features. One task fits them in the order of their texts, so that the weights do not depend on
    the number of cores.

    Args:
        pairs: the columns of ``turn_pairs.PAIRS``.
        table: the lemmas.
        space: the feature space.
        max_iterations: maximum passes of coordinate descent over the pairs.

    Raises:
        InputError: The pairs do not have both classes.
    """
    classes = {row["label"] for row in pairs.select("label").distinct().collect()}
    if classes != {0, 1}:
        raise InputError(f"turn segmenter: training pairs of both classes are needed, found {sorted(classes)}")
    weight = F.lit(1.0)
    for source, value in sorted(SOURCE_WEIGHTS.items()):
        weight = F.when(F.col("source") == source, float(value)).otherwise(weight)
    key = ("source", "split_group", "left_text", "right_text")
    rows = (
        with_buckets(mask_label_leakage(pairs), table, space)
        .select(*key, F.col("label").cast("double").alias("label"), weight.alias("weight"), "buckets")
        .filter(F.col("weight") > 0)
        .repartition(1)
        .sortWithinPartitions(*key)
        .select("label", "weight", "buckets")
    )

    def fitted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = pa.Table.from_batches(batches)
        weights, intercept = fit_svm(found, space.buckets, max_iterations)
        yield pa.RecordBatch.from_pydict({"weights": [weights.tobytes()], "intercept": [intercept]})

    (model,) = rows.mapInArrow(fitted, "weights binary, intercept double").collect()
    return TurnSegmenter(np.frombuffer(model["weights"]).copy(), model["intercept"], space)


def fit_svm(rows: pa.Table, buckets: int, max_iterations: int = MAX_ITERATIONS) -> tuple[np.ndarray, float]:
    """Minimise the weighted mean hinge loss plus half of ``REGULARIZATION`` times the squared norm of the weights.

    Args:
        rows: label (0 or 1), weight, buckets list<int32> with one entry per feature.

    Returns:
        float64 weights of shape (buckets,), and the intercept.
    """
    from scipy.sparse import csr_matrix
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    lists = rows.column("buckets").combine_chunks()
    offsets = np.asarray(lists.offsets)
    counts = np.diff(offsets)
    values = np.repeat(feature_value(counts), counts)
    indices = np.array(lists.flatten())  # a copy: scipy sorts in place
    features = csr_matrix((values, indices, offsets - offsets[0]), (len(counts), buckets))
    features.sum_duplicates()
    weight = np.array(rows.column("weight"))
    machine = LinearSVC(
        loss="hinge", C=1 / (REGULARIZATION * weight.sum()), max_iter=max_iterations, tol=1e-3, random_state=SEED
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(features, np.array(rows.column("label")), sample_weight=weight)
    return machine.coef_[0], float(machine.intercept_[0])


def mask_label_leakage(pairs: DataFrame) -> DataFrame:
    """Set same_block to null in pairs of source labels between blocks, where the label is always a new turn."""
    leaks = (F.col("source") == LABELS) & ~F.col("same_block")
    return pairs.withColumn("same_block", F.when(F.coalesce(~leaks, F.lit(True)), F.col("same_block")))
