"""The turn segmenter's two kinds as scorers of pairs, whichever a model folder holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from etl.subtitles.turn_features import LemmaTable, PairContext
from etl.subtitles.turn_scoring import PairScorer
from etl.subtitles.turn_segmenter import SvmScorer, TurnSegmenter
from udfs.models.classifiers.turn_pair_classifier import SentencePair, TurnPairClassifier
from udfs.predict import worker_model


@dataclass(frozen=True)
class EncoderScorer:
    """Margins of a :class:`TurnPairClassifier`, loaded once by each worker.

    Attributes:
        path: of the model, readable from every worker.
        batch_size: pairs the network sees at once.
        threads: CPU threads of a worker.
    """

    path: str
    batch_size: int
    threads: int

    def __call__(self, texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext) -> np.ndarray:
        model = worker_model(self.path, load_turn_pair_classifier, self.threads)
        said: Sequence[str] = texts.to_pylist()
        shared = {1: True, 0: False}
        pairs = [
            SentencePair(said[one], said[other], shared.get(block))
            for one, other, block in zip(left.tolist(), right.tolist(), context.same_block.tolist(), strict=True)
        ]
        return model.margins(pairs, self.batch_size)  # type: ignore[operator,no-any-return]


def turn_scorer(folder: Path, table: LemmaTable, batch_size: int, threads: int) -> PairScorer:
    """The scorer of the model in a folder: the SVM, or the encoder that reads both sentences.

    Args:
        folder: what ``train_turn_segmenter`` wrote.
        table: the lemmas that the SVM looks up.
        batch_size, threads: of the encoder.

    Raises:
        InputError: neither kind can be read there.
    """
    if (folder / "head.json").is_file():
        TurnPairClassifier.load(folder)  # says here, not in a worker, what is wrong with it
        return EncoderScorer(str(folder), batch_size, threads)
    return SvmScorer(TurnSegmenter.load(folder), table)


def load_turn_pair_classifier(path: str) -> TurnPairClassifier:
    """`TurnPairClassifier.load`, as a function that a cache can name."""
    return TurnPairClassifier.load(path)
