"""A neural pair model beside the turn segmenter's SVM: do two adjacent sentences belong to one turn? (ours)

EDOS 3.1 has a linear SVM; this model answers the same question from the two sentences' words in order.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from udfs.models.batches import Batch, Encoded, mean_pooled
from udfs.models.classifiers.classifier import SequenceClassifier

LABELS = ("same turn", "new turn")
_BLOCK_SIGNS = {None: "", True: "= ", False: "/ "}


class SentencePair(NamedTuple):
    """Two adjacent sentences without marks, and whether one subtitle block shows both (None: not known)."""

    left: str
    right: str
    same_block: bool | None


class TurnPairClassifier(SequenceClassifier[SentencePair]):
    """A BERT-like encoder over ``[sign] left [SEP] right``, mean pooling, dropout, one linear layer of two classes.

    The sign before the left sentence tells of the block: ``=`` one block, ``/`` two, none where it is not known.
    """

    kind = "turn_pair_classifier"

    def __init__(
        self, encoder: nn.Module, tokenizer: Any, labels: Sequence[str] = LABELS,
        max_tokens: int = 64, dropout: float = 0.1,
    ) -> None:  # fmt: skip
        super().__init__(encoder, tokenizer, labels, max_tokens)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(int(encoder.config.hidden_size), len(self.labels))  # type: ignore[union-attr,arg-type]

    def encode(self, items: Sequence[SentencePair]) -> list[Encoded]:
        """Both sentences' tokens; of two long ones the longer loses its end first."""
        if not items:
            return []
        left = [_BLOCK_SIGNS[item.same_block] + item.left for item in items]
        right = [item.right for item in items]
        ids = self.tokenizer(left, right, truncation="longest_first", max_length=self.max_tokens)["input_ids"]
        return [Encoded(tuple(row), (1.0,) * len(row)) for row in ids]

    def logits(self, batch: Batch) -> Tensor:
        states = self.encoder(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        return self.output(self.dropout(mean_pooled(states, batch.mask)))

    def head_options(self) -> dict[str, Any]:
        return {"dropout": self.dropout.p}

    def margins(self, items: Sequence[SentencePair], batch_size: int) -> NDArray[np.float64]:
        """The log-odds that the right sentence opens a new turn, above 0 where that is likelier."""
        probabilities = self.probabilities(items, batch_size).numpy().astype(np.float64)
        least = np.finfo(np.float32).tiny
        return np.log(np.maximum(probabilities[:, 1], least)) - np.log(np.maximum(probabilities[:, 0], least))
