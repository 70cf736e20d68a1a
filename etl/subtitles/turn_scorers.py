"""The kinds of turn segmenters as scorers of pairs: linear models, an encoder, and the SVM and an encoder added."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from conf.errors import InputError
from etl.subtitles.border_segmenter import SEGMENTER_FILE, BorderSegmenter
from etl.subtitles.settings import TurnCertainty
from etl.subtitles.turn_features import LemmaTable, PairContext
from etl.subtitles.turn_scoring import PairScorer
from etl.subtitles.turn_segmenter import SvmScorer, TurnSegmenter


@dataclass(frozen=True)
class EncoderScorer:
    """Margins of a :class:`TurnPairClassifier`, loaded once by each worker from a shared path."""

    path: str
    batch_size: int
    threads: int

    def __call__(self, texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext) -> np.ndarray:
        from udfs.models.classifiers.turn_pair_classifier import SentencePair, TurnPairClassifier
        from udfs.predict import worker_model

        model = worker_model(self.path, TurnPairClassifier.load, self.threads)
        sentences = texts.to_pylist()
        shared = {1: True, 0: False}
        pairs = [
            SentencePair(sentences[one], sentences[other], shared.get(block))
            for one, other, block in zip(left.tolist(), right.tolist(), context.same_block.tolist(), strict=True)
        ]
        distinct = list(dict.fromkeys(pairs))
        margin = dict(zip(distinct, model.margins(distinct, self.batch_size).tolist(), strict=True))
        return np.array([margin[pair] for pair in pairs], dtype=np.float64)


@dataclass(frozen=True)
class BothScorer:
    """The SVM and the encoder at every pair, weighed and added (ours).

    Attributes:
        weights: of the SVM's margin, of the encoder's log-odds, and a constant, see :func:`fitted_weights`.
    """

    svm: SvmScorer
    encoder: EncoderScorer
    weights: tuple[float, float, float]

    def __call__(self, texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext) -> np.ndarray:
        by_svm, by_encoder, constant = self.weights
        margins = self.svm(texts, left, right, context)
        odds = self.encoder(texts, left, right, context)
        return by_svm * margins + by_encoder * odds + constant


EQUAL_WEIGHTS = (0.5, 0.5, 0.0)
"""For want of pairs to fit them on."""
MIN_FITTED = 100
"""With fewer pairs of either class the weights are not fitted."""


def fitted_weights(
    margins: np.ndarray, odds: np.ndarray, new_turn: np.ndarray, weight: np.ndarray
) -> tuple[float, float, float]:
    """Return the weights with which the sum of both kinds tells best how likely a new turn is.

    A logistic regression on pairs that neither kind has learned from. The sum is scaled so that its log-odds are those
    of the SVM's score, b of ``subtitles.certainty.model``: one limit, one certainty and one shift of films serve both.

    Args:
        margins, odds: of the SVM and of the encoder.
        new_turn: the truth.
        weight: of each pair.
    """
    classes = np.bincount(new_turn.astype(np.int64), minlength=2)
    if classes.min() < MIN_FITTED:
        return EQUAL_WEIGHTS
    from sklearn.linear_model import LogisticRegression

    line = LogisticRegression(C=1e4).fit(np.column_stack([margins, odds]), new_turn, sample_weight=weight)
    slope = TurnCertainty().model[1]
    by_svm, by_encoder = (line.coef_[0] / slope).tolist()
    return float(by_svm), float(by_encoder), float(line.intercept_[0] / slope)


BOTH = "both.json"
_BOTH_FORMAT = 1


def save_both(folder: Path, svm: TurnSegmenter, weights: tuple[float, float, float] = EQUAL_WEIGHTS) -> Path:
    """Write the SVM and the weights of both, and return the folder for its encoder."""
    svm.save(folder / "svm")
    by_svm, by_encoder, constant = weights
    _write(folder / BOTH, {"svm": by_svm, "encoder": by_encoder, "constant": constant, "format": _BOTH_FORMAT})
    return folder / "encoder"


def _write(path: Path, about: dict[str, Any]) -> None:
    path.write_text(json.dumps(about) + "\n", encoding="utf-8")


def _read(path: Path, version: int, *names: str) -> list[float]:
    """Return the named numbers of a model's file.

    Raises:
        InputError: The file is damaged or of another format.
    """
    try:
        about = json.loads(path.read_bytes())
        known = about.get("format") == version
        found = [float(about[name]) for name in names]
        if not np.isfinite(found).all():
            raise ValueError(f"{path.name} has the numbers {found}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"turn segmenter {path.parent}: cannot be read ({error}); train it again") from error
    if not known:
        raise InputError(f"turn segmenter {path.parent}: not of this version's format; train it again")
    return found


RULE_FILE = "rule.json"
"""Of the rule that stood in for a trained segmenter in earlier versions: the packaged segmenter has taken its place."""


def turn_scorer(folder: Path, table: LemmaTable, batch_size: int, threads: int, path: str | None = None) -> PairScorer:
    """Return the scorer of the model in a folder, of any kind that ``train_turn_segmenter`` writes.

    Args:
        folder: the folder that ``train_turn_segmenter`` wrote.
        table: lemmas for the SVM.
        batch_size, threads: see :class:`EncoderScorer`.
        path: where workers find the folder, if not under its own path.

    Raises:
        InputError: The folder has no kind of model.
    """
    if (folder / RULE_FILE).is_file():
        return BorderSegmenter.packaged()
    if (folder / SEGMENTER_FILE).is_file():
        return BorderSegmenter.load(folder)
    combined = (folder / BOTH).is_file()
    inner = "encoder" if combined else ""
    if not combined and not (folder / "head.json").is_file():
        return SvmScorer(TurnSegmenter.load(folder), table)
    from udfs.models.classifiers.turn_pair_classifier import TurnPairClassifier

    TurnPairClassifier.load(folder / inner)  # raises here, not in a worker, if the model cannot be read
    encoder = EncoderScorer(str(Path(path or str(folder)) / inner), batch_size, threads)
    if not combined:
        return encoder
    by_svm, by_encoder, constant = _read(folder / BOTH, _BOTH_FORMAT, "svm", "encoder", "constant")
    return BothScorer(SvmScorer(TurnSegmenter.load(folder / "svm"), table), encoder, (by_svm, by_encoder, constant))
