"""The kinds of turn segmenters as scorers of pairs: the SVM, the encoder, and a cascade of both."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from conf.errors import InputError
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
class CascadeScorer:
    """The SVM where it is sure, both elsewhere (ours).

    Attributes:
        sure_margin: the SVM alone decides where its margin is at least so far from 0. Elsewhere the margin is the
            mean of the SVM's margin and the encoder's log-odds of a new turn, which err on different pairs.
    """

    svm: SvmScorer
    encoder: EncoderScorer
    sure_margin: float

    def __call__(self, texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext) -> np.ndarray:
        margins = self.svm(texts, left, right, context)
        unsure = np.flatnonzero(np.abs(margins) < self.sure_margin)
        if len(unsure):
            asked = PairContext(context.same_block[unsure], context.genres.rows(unsure), context.density[unsure])
            odds = self.encoder(texts, left[unsure], right[unsure], asked)
            margins[unsure] = (margins[unsure] + odds) / 2
        return margins


CASCADE = "cascade.json"
_CASCADE_FORMAT = 2


def save_cascade(folder: Path, svm: TurnSegmenter, sure_margin: float) -> Path:
    """Write the SVM and the margin of a cascade, and return the folder for its encoder."""
    svm.save(folder / "svm")
    about = {"sure_margin": sure_margin, "format": _CASCADE_FORMAT}
    (folder / CASCADE).write_text(json.dumps(about) + "\n", encoding="utf-8")
    return folder / "encoder"


def _cascade(folder: Path, table: LemmaTable, encoder: EncoderScorer) -> CascadeScorer:
    try:
        about = json.loads((folder / CASCADE).read_bytes())
        known = about.get("format") == _CASCADE_FORMAT
        sure = float(about["sure_margin"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"turn segmenter {folder}: cannot be read ({error}); train it again") from error
    if not known:
        raise InputError(f"turn segmenter {folder}: not of this version's format; train it again")
    return CascadeScorer(SvmScorer(TurnSegmenter.load(folder / "svm"), table), encoder, sure)


def turn_scorer(folder: Path, table: LemmaTable, batch_size: int, threads: int, path: str | None = None) -> PairScorer:
    """Return the scorer of the model in a folder: the SVM, the encoder that reads both sentences, or their cascade.

    Args:
        folder: the folder that ``train_turn_segmenter`` wrote.
        table: lemmas for the SVM.
        batch_size, threads: see :class:`EncoderScorer`.
        path: where workers find the folder, if not under its own path.

    Raises:
        InputError: The folder has no kind of model.
    """
    is_cascade = (folder / CASCADE).is_file()
    inner = "encoder" if is_cascade else ""
    if is_cascade or (folder / "head.json").is_file():
        from udfs.models.classifiers.turn_pair_classifier import TurnPairClassifier

        TurnPairClassifier.load(folder / inner)  # raises here, not in a worker, if the model cannot be read
        encoder = EncoderScorer(str(Path(path or str(folder)) / inner), batch_size, threads)
        return _cascade(folder, table, encoder) if is_cascade else encoder
    return SvmScorer(TurnSegmenter.load(folder), table)
