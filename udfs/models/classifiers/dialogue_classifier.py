"""The dialogue emotion classifier: reversed turns, weighted tokens, attention pooling (EDOS 3.3.1, C)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from conf.errors import InputError
from conf.training_options import ClassifierOptions
from etl.edos.half_decay import turn_weights
from udfs.models.batches import Batch, Encoded
from udfs.models.classifiers.classifier import SequenceClassifier

Turns = Sequence[str]


def turns_newest_first(turns: Sequence[Sequence[int]], separator: int, max_tokens: int) -> list[list[int]]:
    """Return each turn's tokens between separators, newest first, at most `max_tokens` in all (EDOS 3.3.1, C).

    The turn that crosses the limit keeps its beginning and its closing separator. Turns before it are dropped.
    """
    kept: list[list[int]] = []
    room = max_tokens
    for tokens in reversed(turns):
        fitting = list(tokens[: max(room - 2, 0)])
        if kept and not fitting:
            break
        kept.append([separator, *fitting, separator])
        room -= len(fitting) + 2
        if len(fitting) < len(tokens):
            break
    return kept


class DialogueClassifier(SequenceClassifier[Turns]):
    """A classifier of a dialogue's last turn, which also reads the turns before it (EDOS 3.3.1).

    Token embeddings, not position embeddings, are multiplied by their turn's weight. The hidden states are pooled by
    tanh attention. A tanh hidden layer and a softmax over the labels follow.

    Attributes:
        start_token: whether the encoder's start token replaces the first separator (`<s> ... </s></s> ... </s>`).
    """

    kind = "dialogue_classifier"
    settled = ("temperature", "confidence", "start_token")

    def __init__(
        self,
        encoder: nn.Module,
        tokenizer: Any,
        labels: Sequence[str],
        max_tokens: int = 100,
        weighted: bool = True,
        dropout: float = 0.1,
    ) -> None:
        super().__init__(encoder, tokenizer, labels, max_tokens)
        if tokenizer.sep_token_id is None:
            raise InputError("the encoder's tokenizer has no separator token: choose a BERT, RoBERTa or MPNet")
        size = int(encoder.config.hidden_size)  # type: ignore[union-attr,arg-type]
        self.weighted = weighted
        self.start_token = False
        self.dropout = nn.Dropout(dropout)
        self.attention = nn.Linear(size, size)
        self.attention_score = nn.Linear(size, 1, bias=False)
        self.hidden = nn.Linear(size, size)
        self.output = nn.Linear(size, len(self.labels))

    @classmethod
    def new(
        cls, encoder_path: str | Path, labels: Sequence[str], options: ClassifierOptions, **head: Any
    ) -> "DialogueClassifier":
        model = super().new(encoder_path, labels, options, **head)
        model.start_token = bool(getattr(options, "start_token", False))
        if model.start_token and model.tokenizer.cls_token_id is None:
            raise InputError("the encoder's tokenizer has no start token: set start_token to false")
        return model

    def encode(self, items: Sequence[Turns]) -> list[Encoded]:
        """Return token ids and weights, newest turn first, of turns, oldest first."""
        flat = [turn for turns in items for turn in turns]
        if not flat:
            return [self._encoded([[]]) for _ in items]
        options = {"add_special_tokens": False, "truncation": True, "max_length": self.max_tokens}
        ids = iter(self.tokenizer(flat, **options)["input_ids"])
        return [self._encoded([next(ids) for _ in turns] or [[]]) for turns in items]

    def _encoded(self, turns: Sequence[Sequence[int]]) -> Encoded:
        parts = turns_newest_first(turns, int(self.tokenizer.sep_token_id), self.max_tokens)
        factors = turn_weights(len(parts)) if self.weighted else (1.0,) * len(parts)
        tokens = [(token, factor) for part, factor in zip(parts, factors, strict=True) for token in part]
        ids, weights = zip(*tokens, strict=True)
        if self.start_token:
            ids = (int(self.tokenizer.cls_token_id), *ids[1:])
        return Encoded(ids, weights)

    def logits(self, batch: Batch) -> Tensor:
        tokens = self.encoder.get_input_embeddings()(batch.ids)  # type: ignore[operator]
        weighted = tokens * batch.weights.unsqueeze(-1).to(tokens.dtype)
        # The encoder adds position embeddings later, so they are not scaled.
        states = self.encoder(inputs_embeds=weighted, attention_mask=batch.mask).last_hidden_state
        hidden = torch.tanh(self.hidden(self.dropout(self.pooled(states, batch.mask))))
        return self.output(self.dropout(hidden))

    def pooled(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return the mean of each row's states, weighted by attention (EDOS 3.3.1)."""
        scores = self.attention_score(torch.tanh(self.attention(states))).squeeze(-1).float()
        shares = torch.softmax(scores.masked_fill(mask == 0, float("-inf")), dim=-1)
        return (states * shares.unsqueeze(-1).to(states.dtype)).sum(dim=1)

    def head_options(self) -> dict[str, Any]:
        return {"weighted": self.weighted, "dropout": self.dropout.p, "start_token": self.start_token}
