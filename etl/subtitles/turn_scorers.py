"""The kinds of turn segmenters as scorers of pairs: linear models, and an encoder over windows of sentences."""

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from conf.errors import InputError
from etl.subtitles.border_features import border_codes
from etl.subtitles.border_segmenter import SEGMENTER_FILE, UNIT, BorderSegmenter
from etl.subtitles.turn_features import LemmaTable, PairContext
from etl.subtitles.turn_scoring import PairScorer
from etl.subtitles.turn_segmenter import SvmScorer, TurnSegmenter

if TYPE_CHECKING:
    from udfs.models.classifiers.turn_window_classifier import Window


@dataclass(frozen=True)
class WindowScorer:
    """An encoder over windows of sentences, alone or added to a linear segmenter (ours).

    Attributes:
        path: folder of the :class:`TurnWindowClassifier`; each worker loads it once.
        linear: None for the encoder alone.
        weights: of the linear score, of the encoder's log-odds, and a constant, see :func:`fitted_weights`.
    """

    path: str
    batch_size: int
    threads: int
    linear: BorderSegmenter | None
    weights: tuple[float, float, float]

    def __call__(self, texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext) -> np.ndarray:
        by_linear, by_encoder, constant = self.weights
        found = by_encoder * self.log_odds(texts, left, right, context) + constant
        return found if self.linear is None else found + by_linear * self.linear(texts, left, right, context)

    def log_odds(self, texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext) -> np.ndarray:
        """Return the encoder's log-odds of a new turn at each pair."""
        from udfs.models.classifiers.turn_window_classifier import CONTEXT, TurnWindowClassifier
        from udfs.predict import worker_model

        model = worker_model(self.path, TurnWindowClassifier.load, self.threads)
        places, windows = windows_of(texts, left, right, context)
        odds = model.log_odds(windows, self.batch_size)
        found = np.zeros(len(left))
        answered = -1
        for at, row in zip(places, odds, strict=True):
            first = CONTEXT if at[0] <= answered else 0
            found[at[first:]] = row[first : len(at)]
            answered = at[-1]
        return found


def windows_of(
    texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext, shared: int | None = None
) -> tuple[list[np.ndarray], list["Window"]]:
    """Return windows over all pairs, and for each the positions of the pairs at its borders.

    Pairs of which each begins with the sentence that ends the one before are parts of one stretch of a film.

    Args:
        texts, left, right, context: of the pairs, see ``turn_scoring.PairScorer``.
        shared: sentences of context on each side; None: as many as in scoring.
    """
    from udfs.models.classifiers.turn_window_classifier import CONTEXT, Window, spans

    sentences = texts.to_pylist()
    codes = border_codes(context)
    places: list[np.ndarray] = []
    windows: list[Window] = []
    parted = np.flatnonzero(left[1:] != right[:-1]) + 1
    bounds = [0, *parted.tolist(), len(left)] if len(left) else []
    for start, end in pairwise(bounds):
        for first, last in spans(end - start + 1, CONTEXT if shared is None else shared):
            at = np.arange(start + first, start + last - 1)
            lines = (sentences[left[at[0]]], *(sentences[place] for place in right[at].tolist()))
            places.append(at)
            windows.append(Window(lines, tuple(codes[at].tolist())))
    return places, windows


ENCODER_WEIGHTS = (0.0, 1 / UNIT, 0.0)
"""For want of pairs to fit them on: the encoder's log-odds, in units of score."""
EQUAL_WEIGHTS = (0.5, 0.5 / UNIT, 0.0)
"""Likewise, with a linear segmenter."""
MIN_FITTED = 100
"""With fewer pairs of either class the weights are not fitted."""


def fitted_weights(
    margins: np.ndarray | None, odds: np.ndarray, new_turn: np.ndarray, weight: np.ndarray
) -> tuple[float, float, float]:
    """Return the weights with which the sum of both kinds tells best how likely a new turn is.

    A logistic regression on pairs that neither kind has learned from. The sum is scaled so that its log-odds are those
    of a score, b of ``subtitles.certainty.model``: one limit and one certainty serve all segmenters.

    Args:
        margins: scores of the linear segmenter; None for the encoder alone.
        odds: log-odds of the encoder.
        new_turn: the truth.
        weight: of each pair.
    """
    classes = np.bincount(new_turn.astype(np.int64), minlength=2)
    if classes.min() < MIN_FITTED:
        return ENCODER_WEIGHTS if margins is None else EQUAL_WEIGHTS
    from sklearn.linear_model import LogisticRegression

    columns = [odds] if margins is None else [margins, odds]
    line = LogisticRegression(C=1e4).fit(np.column_stack(columns), new_turn, sample_weight=weight)
    found = (line.coef_[0] / UNIT).tolist()
    return (0.0 if margins is None else found[0]), found[-1], float(line.intercept_[0] / UNIT)


WINDOWS = "windows.json"
_FORMAT = 1
LINEAR_FOLDER = "linear"
ENCODER_FOLDER = "encoder"


def save_windows(folder: Path, linear: BorderSegmenter | None, weights: tuple[float, float, float]) -> Path:
    """Write the linear part and the weights of a :class:`WindowScorer`, and return the folder for its encoder."""
    folder.mkdir(parents=True, exist_ok=True)
    if linear is not None:
        linear.save(folder / LINEAR_FOLDER)
    names = ("linear", "encoder", "constant")
    _write(folder / WINDOWS, {**dict(zip(names, weights, strict=True)), "format": _FORMAT})
    return folder / ENCODER_FOLDER


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
"""File of the rule that earlier versions had in place of a trained segmenter; the packaged segmenter replaces it."""


def turn_scorer(folder: Path, table: LemmaTable, batch_size: int, threads: int, path: str | None = None) -> PairScorer:
    """Return the scorer of the model in a folder, of any kind that ``train_turn_segmenter`` writes.

    Args:
        folder: the folder that ``train_turn_segmenter`` wrote.
        table: lemmas for the SVM.
        batch_size, threads: of an encoder.
        path: where workers find the folder, if not under its own path.

    Raises:
        InputError: The folder has no kind of model.
    """
    if (folder / RULE_FILE).is_file():
        return BorderSegmenter.packaged()
    if (folder / SEGMENTER_FILE).is_file():
        return BorderSegmenter.load(folder)
    if not (folder / WINDOWS).is_file():
        return SvmScorer(TurnSegmenter.load(folder), table)
    from udfs.models.classifiers.turn_window_classifier import TurnWindowClassifier

    TurnWindowClassifier.load(folder / ENCODER_FOLDER)  # raises here, not in a worker, if the model cannot be read
    linear = BorderSegmenter.load(folder / LINEAR_FOLDER) if (folder / LINEAR_FOLDER).is_dir() else None
    by_linear, by_encoder, constant = _read(folder / WINDOWS, _FORMAT, "linear", "encoder", "constant")
    encoder = str(Path(path or str(folder)) / ENCODER_FOLDER)
    return WindowScorer(encoder, batch_size, threads, linear, (by_linear, by_encoder, constant))
