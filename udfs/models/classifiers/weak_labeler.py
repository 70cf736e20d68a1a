"""The weak labeler: a sentence classifier over 41 emotions and response intents (EDOS 3.1)."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from udfs.models.batches import Batch, Encoded, unweighted
from udfs.models.classifiers.classifier import Item, SequenceClassifier


class PooledClassifier(SequenceClassifier[Item]):
    """A BERT-like encoder, mean or first-token pooling, dropout and one linear layer."""

    def __init__(
        self,
        encoder: nn.Module,
        tokenizer: Any,
        labels: Sequence[str],
        max_tokens: int = 64,
        pooling: str = "mean",
        dropout: float = 0.1,
    ) -> None:
        super().__init__(encoder, tokenizer, labels, max_tokens, pooling)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(int(encoder.config.hidden_size), len(self.labels))  # type: ignore[union-attr,arg-type]

    def logits(self, batch: Batch) -> Tensor:
        states = self.encoder(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        return self.output(self.dropout(self.pooled(states, batch.mask)))


class WeakLabeler(PooledClassifier[str]):
    """The classifier of one sentence (EDOS 3.1)."""

    kind = "weak_labeler"

    def encode(self, items: Sequence[str]) -> list[Encoded]:
        """Return each sentence's tokens between the encoder's special tokens; a long sentence loses its end."""
        if not items:
            return []
        return unweighted(self.tokenizer(list(items), truncation=True, max_length=self.max_tokens)["input_ids"])

    def head_options(self) -> dict[str, Any]:
        return {"pooling": self.pooling, "dropout": self.dropout.p}
