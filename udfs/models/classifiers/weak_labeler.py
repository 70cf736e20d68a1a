"""The weak labeler: a sentence classifier over 41 emotions and response intents (EDOS 3.1)."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from udfs.models.batches import Batch, Encoded, mean_pooled
from udfs.models.classifiers.classifier import SequenceClassifier


class WeakLabeler(SequenceClassifier[str]):
    """A BERT-like encoder, mean or first-token pooling, dropout and one linear layer (EDOS 3.1)."""

    kind = "weak_labeler"

    def __init__(
        self, encoder: nn.Module, tokenizer: Any, labels: Sequence[str],
        max_tokens: int = 64, pooling: str = "mean", dropout: float = 0.1,
    ) -> None:  # fmt: skip
        super().__init__(encoder, tokenizer, labels, max_tokens)
        if pooling not in ("mean", "cls"):
            raise ValueError(f"pooling is {pooling!r}: mean or cls")
        self.pooling = pooling
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(int(encoder.config.hidden_size), len(self.labels))  # type: ignore[union-attr,arg-type]

    def encode(self, items: Sequence[str]) -> list[Encoded]:
        """Each sentence's tokens between the encoder's own special tokens; the end of a long one is cut."""
        if not items:
            return []
        ids = self.tokenizer(list(items), truncation=True, max_length=self.max_tokens)["input_ids"]
        return [Encoded(tuple(row), (1.0,) * len(row)) for row in ids]

    def logits(self, batch: Batch) -> Tensor:
        states = self.encoder(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        return self.output(self.dropout(self._pooled(states, batch.mask)))

    def _pooled(self, states: Tensor, mask: Tensor) -> Tensor:
        if self.pooling == "cls":
            return states[:, 0]
        return mean_pooled(states, mask)

    def head_options(self) -> dict[str, Any]:
        return {"pooling": self.pooling, "dropout": self.dropout.p}
