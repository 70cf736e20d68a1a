"""The weak labeler: a sentence classifier over 41 emotions and response intents (EDOS 3.1)."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from udfs.models.batches import Batch, Encoded, mean_pooled
from udfs.models.classifiers.classifier import SequenceClassifier, load_encoder
from udfs.models.classifiers.training import EpochMetrics, TrainingOptions, TrainResult, fit, reproducible


class WeakLabeler(SequenceClassifier[str]):
    """A BERT-like encoder, mean or first-token pooling, dropout and one linear layer (EDOS 3.1)."""

    kind = "weak_labeler"

    def __init__(
        self,
        encoder: nn.Module,
        tokenizer: Any,
        labels: Sequence[str],
        max_tokens: int = 64,
        pooling: str = "mean",
        dropout: float = 0.1,
    ) -> None:
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

    def forward(self, batch: Batch) -> Tensor:
        states = self.encoder(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        return self.output(self.dropout(self._pooled(states, batch.mask)))

    def _pooled(self, states: Tensor, mask: Tensor) -> Tensor:
        if self.pooling == "cls":
            return states[:, 0]
        return mean_pooled(states, mask)

    def head_options(self) -> dict[str, Any]:
        return {"pooling": self.pooling, "dropout": self.dropout.p}


def train_weak_labeler(
    encoder_path: str | Path,
    train: Sequence[tuple[str, int]],
    valid: Sequence[tuple[str, int]],
    labels: Sequence[str],
    options: TrainingOptions,
    out_dir: Path,
    on_epoch: Callable[[EpochMetrics], None] | None = None,
    pooling: str = "mean",
) -> TrainResult:
    """Fine-tune an encoder on (sentence, label id) pairs and write the best epoch's model to `out_dir`.

    Args:
        encoder_path: folder of the encoder's safetensors, config and tokenizer.
        train, valid: pairs; `valid` picks the epoch by cross-entropy and gives the reported metrics.
        labels: the taxonomy in id order.
    """
    with reproducible(options.seed, options.threads):
        encoder, tokenizer = load_encoder(encoder_path, options.dropout)
        torch.manual_seed(options.seed)
        model = WeakLabeler(encoder, tokenizer, labels, options.max_tokens, pooling, options.dropout)
        return fit(model, train, valid, options, out_dir, on_epoch)
