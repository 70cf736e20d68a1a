"""A neural classifier of sentence pairs beside the turn segmenter's SVM (ours).

EDOS 3.1 has a linear SVM. This model reads the words of both sentences in order.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from udfs.models.batches import Encoded, unweighted
from udfs.models.classifiers.weak_labeler import PooledClassifier

LABELS = ("same turn", "new turn")
_BLOCK_SIGNS = {None: "", True: "= ", False: "/ "}


class SentencePair(NamedTuple):
    """Two adjacent sentences without marks, and whether one subtitle block shows both (None: unknown)."""

    left: str
    right: str
    same_block: bool | None


class TurnPairClassifier(PooledClassifier[SentencePair]):
    """An encoder over ``[sign] left [SEP] right``, mean pooling, dropout and one linear layer of two classes.

    The sign before the left sentence is ``=`` for one subtitle block, ``/`` for two, and missing where it is unknown.
    """

    kind = "turn_pair_classifier"

    def encode(self, items: Sequence[SentencePair]) -> list[Encoded]:
        """Return both sentences' tokens; the longer sentence is truncated first."""
        if not items:
            return []
        left = [_BLOCK_SIGNS[item.same_block] + item.left for item in items]
        right = [item.right for item in items]
        ids = self.tokenizer(left, right, truncation="longest_first", max_length=self.max_tokens)["input_ids"]
        return unweighted(ids)

    def head_options(self) -> dict[str, Any]:
        return {"dropout": self.dropout.p}

    def margins(self, items: Sequence[SentencePair], batch_size: int) -> NDArray[np.float64]:
        """Return the log-odds that the right sentence begins a new turn; above 0 a new turn is likelier."""
        probabilities = self.probabilities(items, batch_size).numpy().astype(np.float64)
        least = np.finfo(np.float32).tiny
        return np.log(np.maximum(probabilities[:, 1], least)) - np.log(np.maximum(probabilities[:, 0], least))
