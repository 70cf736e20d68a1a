"""The turn segmenter that reads words, marks and times: logistic regressions by kind of border (ours).

The paper's linear SVM (EDOS 3.1, ``turn_segmenter``) reads the words of both sentences. This one also reads the pause
between them, how fast they are spoken and how these go together with the marks at their edges. Borders within a cue and
borders between cues have a model each, since the speaker changes at different rates there. A film in another language
than the model's is scored without its words.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.subtitles.border_features import border_features, sentence_words
from etl.subtitles.settings import TurnCertainty
from etl.subtitles.turn_features import PairContext
from etl.subtitles.turn_ragged import Ragged
from etl.subtitles.turn_scoring import pairs_of

SEGMENTER_FILE = "borders.json"
_FORMAT = 1
WITHIN = "within"
BETWEEN = "between"
KINDS = (WITHIN, BETWEEN)
"""Kinds of borders: both sentences in one cue, or not (or not known)."""
WORDS_BITS = 18
PLAIN_BITS = 14
"""Binary logarithms of the number of hash buckets, with words among the features and without."""
PENALTY = 50.0
"""L2 penalty of the summed loss, by cross-validation over the episodes of one series."""
MAX_ITERATIONS = 80
FOLDS = 5
"""Trial trainings, each without a fold of the pairs, tell how far log-odds are from the truth."""
PACKAGED_SERIES = "castle"
"""The series that the packaged segmenter was trained on."""
MIN_CALIBRATED = 100
SLOPES = (0.5, 2.0)
SOURCE_WEIGHTS: Mapping[str, float] = {"dailydialog": 0.3}
"""Training weights by source, else 1: DailyDialog is written, and each of its lines is a turn."""
UNIT = TurnCertainty().model[1]
"""Log-odds of one unit of score: scores have the scale of the SVM's, so that one certainty serves all segmenters."""


@dataclass(frozen=True)
class LinearModel:
    """Weights of hashed features, whose sum is the log-odds of a new turn.

    Attributes:
        weights: float32 of shape (2^bits,).
        intercept: added to every sum.
    """

    weights: np.ndarray
    intercept: float

    def log_odds(self, features: Ragged) -> np.ndarray:
        """Return the log-odds of each row of features."""
        found = np.full(len(features), self.intercept)
        some = features.counts > 0
        if some.any():
            values = self.weights[buckets(features, len(self.weights))].astype(np.float64)
            found[some] += np.add.reduceat(values, features.offsets[:-1][some])
        return found

    def scaled(self, slope: float) -> "LinearModel":
        """Return the model whose log-odds are ``slope`` times these."""
        return LinearModel(self.weights * np.float32(slope), self.intercept * slope)


def buckets(features: Ragged, count: int) -> np.ndarray:
    """Return the bucket of each feature among a power of two of them, the top bits of its hash."""
    return (features.values >> np.uint64(65 - count.bit_length())).astype(np.int64)


@dataclass(frozen=True)
class KindModel:
    """The models of one kind of border.

    Attributes:
        language: of the words that ``words`` has learned.
        words: for films in that language.
        plain: without words, for all others.
    """

    language: str
    words: LinearModel
    plain: LinearModel


@dataclass(frozen=True)
class BorderSegmenter:
    """The models of both kinds of borders, as a ``turn_scoring.PairScorer``."""

    within: KindModel
    between: KindModel

    def __call__(self, texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext) -> np.ndarray:
        shared = context.same_block == 1
        words = sentence_words(texts)
        found = np.zeros(len(left))
        for model, ours in ((self.within, shared), (self.between, ~shared)):
            known = (context.language == model.language) | (context.language == None)  # noqa: E711
            for linear, chosen, lexical in ((model.words, ours & known, True), (model.plain, ours & ~known, False)):
                at = np.flatnonzero(chosen)
                if len(at):
                    features = border_features(words, left[at], right[at], context.rows(at), lexical)
                    found[at] = linear.log_odds(features)
        return found / UNIT

    def save(self, folder: Path) -> None:
        """Write ``borders.json`` and ``weights.safetensors`` (int8 of each model, with a scale each)."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        about: dict[str, object] = {"format": _FORMAT}
        tensors = {}
        for kind, model in zip(KINDS, (self.within, self.between), strict=True):
            models = {"words": model.words, "plain": model.plain}
            scales = {}
            for name, linear in models.items():
                scale = float(np.abs(linear.weights).max(initial=0.0)) / 127 or 1.0
                tensors[f"{kind}.{name}"] = np.round(linear.weights / scale).astype(np.int8)
                scales[name] = {"scale": scale, "intercept": linear.intercept}
            about[kind] = {"language": model.language, **scales}
        (folder / SEGMENTER_FILE).write_text(json.dumps(about, indent=1, sort_keys=True) + "\n", "utf-8")
        save_file(tensors, folder / "weights.safetensors")

    @classmethod
    def load(cls, folder: Path) -> "BorderSegmenter":
        """Read the model that :meth:`save` wrote.

        Raises:
            InputError: A file is missing or has another format.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            about = json.loads((folder / SEGMENTER_FILE).read_bytes())
            tensors = load_file(folder / "weights.safetensors")
            if about["format"] != _FORMAT:
                raise ValueError(f"format {about['format']}")
            return cls(*(_kind_model(about[kind], tensors, kind) for kind in KINDS))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
            raise InputError(f"turn segmenter {folder}: cannot be read ({error}); train it again") from error

    @classmethod
    def packaged(cls) -> "BorderSegmenter":
        """Return the segmenter that comes with the package (``etl/subtitles/segmenter/README.md``)."""
        return _packaged()


@cache
def _packaged() -> BorderSegmenter:
    with as_file(files("etl.subtitles").joinpath("segmenter")) as folder:
        return BorderSegmenter.load(folder)


def _kind_model(about: Mapping[str, object], tensors: Mapping[str, np.ndarray], kind: str) -> KindModel:
    linear = []
    for name, bits in (("words", WORDS_BITS), ("plain", PLAIN_BITS)):
        tensor, said = tensors[f"{kind}.{name}"], about[name]
        assert isinstance(said, Mapping)
        scale, intercept = float(said["scale"]), float(said["intercept"])
        if tensor.dtype != np.int8 or tensor.shape != (2**bits,) or not np.isfinite([scale, intercept]).all():
            raise ValueError(f"{kind}.{name} is not of this version's format")
        linear.append(LinearModel(tensor.astype(np.float32) * np.float32(scale), intercept))
    return KindModel(str(about["language"]), *linear)


def train_border_segmenter(pairs: DataFrame, language: str, start: BorderSegmenter) -> BorderSegmenter:
    """Return a segmenter that has learned from pairs, beginning with the weights of another (EDOS 3.1).

    One task for each kind of border takes its pairs in the order of their texts, so that the weights do not depend on
    the number of cores. A kind with pairs of one answer alone keeps the weights of ``start``.

    Args:
        pairs: the columns of ``turn_pairs.PAIRS``; those without a label are left out.
        language: of the pairs' words; words of ``start`` that are of another language are forgotten.
        start: whose weights the training begins with.
    """
    found = []
    for kind, model in zip(KINDS, (start.within, start.between), strict=True):
        shared = F.coalesce(F.col("same_block"), F.lit(False))
        ours = pairs.where(shared if kind == WITHIN else ~shared)
        found.append(_trained(ours, language, model))
    return BorderSegmenter(*found)


PAIR_KEY = ("source", "split_group", "left_text", "right_text")


def _trained(pairs: DataFrame, language: str, start: KindModel) -> KindModel:
    def fitted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = list(batches)
        model = trained_kind(pa.Table.from_batches(found), language, start) if found else start
        for linear in (model.words, model.plain) if model is not start else ():
            yield pa.RecordBatch.from_pydict({"weights": [linear.weights.tobytes()], "intercept": [linear.intercept]})

    rows = pairs.repartition(1).sortWithinPartitions(*PAIR_KEY)
    models = [
        LinearModel(np.frombuffer(row["weights"], dtype=np.float32).copy(), row["intercept"])
        for row in rows.mapInArrow(fitted, "weights binary, intercept double").collect()
    ]
    return KindModel(language, *models) if models else start


def trained_kind(pairs: pa.Table, language: str, start: KindModel) -> KindModel:
    """Return the models of one kind of border that have learned from pairs, in their order.

    Args:
        pairs: the columns of ``turn_pairs.PAIRS``; those without a label are left out, and with one answer alone
            nothing is learned.
        language, start: see :func:`train_border_segmenter`.
    """
    pairs = pairs.filter(pairs["label"].is_valid())
    if len(pairs["label"].unique()) < 2:
        return start
    texts, left, right, context = pairs_of(pairs.combine_chunks().to_batches()[0])
    label = np.asarray(pairs["label"], dtype=np.float64)
    weight = np.array([SOURCE_WEIGHTS.get(source, 1.0) for source in pairs["source"].to_pylist()])
    words = sentence_words(texts)
    kept = start.words if start.language == language else _empty(WORDS_BITS)
    folds = calibration_folds(pairs["split_group"].to_pylist())
    models = []
    for lexical, linear in ((True, kept), (False, start.plain)):
        features = border_features(words, left, right, context, lexical)
        models.append(_calibrated(features, label, weight, folds, linear))
    return KindModel(language, *models)


def calibration_folds(groups: Sequence[str]) -> np.ndarray:
    """Return the fold of each pair, -1 for none.

    Whole series and corpora of transcripts share a fold, because one that was not learned from is harder than an
    episode of one that was. Where there is only one, and for films, a fold has whole episodes, scenes and films. The
    series of the packaged segmenter, from whose weights a training begins, has no fold beside others.

    Args:
        groups: split_group of each pair, such as ``house/1x01`` or ``meld:12``.
    """
    names = [re.split("[/:]", group, maxsplit=1)[0] for group in groups]
    others = {*names} - {PACKAGED_SERIES}
    if len(others) < 2 and not (others and PACKAGED_SERIES in names):
        names, others = list(groups), {*groups}
    fold = {PACKAGED_SERIES: -1}
    sizes = [0] * FOLDS
    for name, count in sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])):
        if name in others:
            fold[name] = sizes.index(min(sizes))
            sizes[fold[name]] += count
    return np.array([fold[name] for name in names])


def _calibrated(
    features: Ragged, label: np.ndarray, weight: np.ndarray, folds: np.ndarray, start: LinearModel
) -> LinearModel:
    """Return a model of all rows, whose log-odds have the slope that is right for rows that it has not seen."""
    model = fit_logistic(features, label, weight, start)
    judged = folds >= 0
    if min(np.bincount(label[judged].astype(np.int64), minlength=2)) < MIN_CALIBRATED:
        return model
    log_odds = np.zeros(len(label))
    for fold in np.unique(folds[judged]):
        seen, unseen = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        without = fit_logistic(features.rows(seen), label[seen], weight[seen], start)
        log_odds[unseen] = without.log_odds(features.rows(unseen))
    return model.scaled(fitted_slope(log_odds[judged], label[judged], weight[judged]))


def fitted_slope(log_odds: np.ndarray, label: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Return what log-odds of unseen pairs are multiplied with to be as certain as they are right.

    Without a constant, since the share of changes is another in each series: no decision changes.
    """
    from sklearn.linear_model import LogisticRegression

    line = LogisticRegression(C=1e6, fit_intercept=False).fit(log_odds[:, np.newaxis], label, sample_weight=weight)
    return float(np.clip(line.coef_[0, 0], *SLOPES))


def fit_logistic(features: Ragged, label: np.ndarray, weight: np.ndarray, start: LinearModel) -> LinearModel:
    """Minimise the weighted log-loss plus half of ``PENALTY`` times the squared distance of the weights from a start.

    Args:
        features: of each row; a feature that occurs twice in a row counts twice.
        label: 1 a new turn, 0 none.
        start: the weights that cost nothing.
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix

    # Other weights stay as they are, and cost most of the time where there are few pairs.
    used, column = np.unique(buckets(features, len(start.weights)), return_inverse=True)
    ones = np.ones(len(column), np.float32)
    matrix = csr_matrix((ones, column, features.offsets.copy()), (len(features), len(used)))
    matrix.sum_duplicates()
    transposed = matrix.T.tocsr()
    base = start.log_odds(features)
    sign = 2 * label - 1

    def loss(moved: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (base + matrix @ moved[:-1].astype(np.float32) + moved[-1])
        slope = -weight * sign / (1 + np.exp(np.clip(margin, -50, 50)))
        value = float(weight @ np.logaddexp(0, -margin) + PENALTY / 2 * moved[:-1] @ moved[:-1])
        return value, np.append(transposed @ slope.astype(np.float32) + PENALTY * moved[:-1], slope.sum())

    found = minimize(loss, np.zeros(len(used) + 1), jac=True, method="L-BFGS-B", options={"maxiter": MAX_ITERATIONS})
    weights = start.weights.copy()
    weights[used] += found.x[:-1].astype(np.float32)
    return LinearModel(weights, start.intercept + float(found.x[-1]))


def no_start(language: str) -> BorderSegmenter:
    """Return a segmenter that has learned nothing."""
    none = KindModel(language, _empty(WORDS_BITS), _empty(PLAIN_BITS))
    return BorderSegmenter(none, none)


def _empty(bits: int) -> LinearModel:
    return LinearModel(np.zeros(2**bits, np.float32), 0.0)
