"""The two kinds of turn segmenters as scorers of pairs."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

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
        sentences, shared = texts.to_pylist(), {1: True, 0: False}
        pairs = [
            SentencePair(sentences[one], sentences[other], shared.get(block))
            for one, other, block in zip(left.tolist(), right.tolist(), context.same_block.tolist(), strict=True)
        ]
        return model.margins(pairs, self.batch_size)


def turn_scorer(
    folder: Path, table: LemmaTable, batch_size: int, threads: int, path: str | None = None
) -> PairScorer:  # fmt: skip
    """Return the scorer of the model in a folder: the SVM, or the encoder that reads both sentences.

    Args:
        folder: the folder that ``train_turn_segmenter`` wrote.
        table: lemmas for the SVM.
        batch_size, threads: see :class:`EncoderScorer`.
        path: where workers find the folder, if not under its own path.

    Raises:
        InputError: The folder has neither kind of model.
    """
    if (folder / "head.json").is_file():
        from udfs.models.classifiers.turn_pair_classifier import TurnPairClassifier

        TurnPairClassifier.load(folder)  # raises here, not in a worker, if the model cannot be read
        return EncoderScorer(path or str(folder), batch_size, threads)
    return SvmScorer(TurnSegmenter.load(folder), table)
