"""A classifier of edos-lakehouse for `transformers`: copied beside its weights, and read without edos-lakehouse.

    pipeline("text-classification", model=FOLDER, trust_remote_code=True)

`config.edos` has the options of the head. A text is one sentence for a weak labeler, and a dialogue for a dialogue
classifier: its turns, oldest first, joined by the tokenizer's separator.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput


def with_confidence(probabilities: Tensor, offset: float, slope: float) -> Tensor:
    """Return probabilities whose largest one has been calibrated; the others share the rest, and no label changes."""
    if (offset, slope) == (0.0, 1.0) or probabilities.shape[-1] < 2:
        return probabilities
    first, place = probabilities.max(dim=-1, keepdim=True)
    others = probabilities.clamp_min(1e-12).scatter(-1, place, 0.0)
    others = others / others.sum(dim=-1, keepdim=True)
    second = others.amax(dim=-1, keepdim=True)
    told = torch.sigmoid(offset + slope * torch.logit(first, eps=1e-6))
    told = torch.maximum(told, second / (1 + second) + 1e-6)
    return (others * (1 - told)).scatter(-1, place, told)


class Classifier(nn.Module):
    """An encoder with a head that was trained on it.

    Args:
        config: of transformers, for the encoder.
        options: of the head.
    """

    def __init__(self, config: Any, options: Mapping[str, Any]) -> None:
        super().__init__()
        self.options = dict(options)
        try:
            self.encoder = AutoModel.from_config(config, add_pooling_layer=False)
        except TypeError:  # an encoder that has no pooling layer
            self.encoder = AutoModel.from_config(config)
        size = int(config.hidden_size)
        self.is_dialogue = self.options["kind"] == "dialogue_classifier"
        if self.is_dialogue:
            self.attention = nn.Linear(size, size)
            self.attention_score = nn.Linear(size, 1, bias=False)
            self.hidden = nn.Linear(size, size)
        self.output = nn.Linear(size, int(config.num_labels))

    def forward(self, input_ids: Tensor, mask: Tensor) -> Tensor:
        """Return calibrated probabilities (texts, labels)."""
        states = self._dialogues(input_ids, mask) if self.is_dialogue else self._sentences(input_ids, mask)
        shares = torch.softmax(self.output(states).float() / self.options["temperature"], dim=-1)
        return with_confidence(shares, *self.options["confidence"])

    def _sentences(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the pooled state of each sentence; a long one loses its end and keeps its last special token."""
        most = int(self.options["max_tokens"])
        rows = [row[kept.bool()].tolist() for row, kept in zip(ids, mask, strict=True)]
        ids, mask, _ = self._batch([row if len(row) <= most else [*row[: most - 1], row[-1]] for row in rows], None)
        states = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        if self.options["pooling"] == "cls":
            return states[:, 0]
        wide = mask.unsqueeze(-1).to(states.dtype)
        return (states * wide).sum(dim=1) / wide.sum(dim=1).clamp(min=1)

    def _dialogues(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the state of each dialogue, pooled by attention; newer turns weigh more (EDOS 3.3.1)."""
        rows, weights = [], []
        for row, kept in zip(ids, mask, strict=True):
            tokens, factors = self._newest_first(row[kept.bool()].tolist())
            rows.append(tokens)
            weights.append(factors)
        ids, mask, by_token = self._batch(rows, weights)
        embedded = self.encoder.get_input_embeddings()(ids)
        weighted = embedded * by_token.unsqueeze(-1).to(embedded.dtype)
        states = self.encoder(inputs_embeds=weighted, attention_mask=mask).last_hidden_state
        scores = self.attention_score(torch.tanh(self.attention(states))).squeeze(-1).float()
        shares = torch.softmax(scores.masked_fill(mask == 0, float("-inf")), dim=-1)
        return torch.tanh(self.hidden((states * shares.unsqueeze(-1).to(states.dtype)).sum(dim=1)))

    def _newest_first(self, ids: Sequence[int]) -> tuple[list[int], list[float]]:
        """Return a dialogue's tokens, newest turn first, each between separators, and their weights."""
        separator, start = int(self.options["separator_id"]), self.options["start_id"]
        turns: list[list[int]] = [[]]
        for token in ids[1:-1] if start is not None and ids and ids[0] == start else ids:
            if token == separator:
                turns.append([])
            else:
                turns[-1].append(token)
        kept: list[list[int]] = []
        room = int(self.options["max_tokens"])
        for tokens in reversed(turns):
            fitting = tokens[: max(room - 2, 0)]
            if kept and not fitting:
                break
            kept.append([separator, *fitting, separator])
            room -= len(fitting) + 2
            if len(fitting) < len(tokens):
                break
        total = 2 ** len(kept) - 1
        found = [
            2 ** (len(kept) - 1 - place) / total if self.options["weighted"] else 1.0 for place in range(len(kept))
        ]
        pairs = [(token, weight) for part, weight in zip(kept, found, strict=True) for token in part]
        tokens = [token for token, _ in pairs]
        if self.options["start_token"]:
            tokens[0] = int(start)
        return tokens, [weight for _, weight in pairs]

    def _batch(self, rows: list[list[int]], weights: list[list[float]] | None) -> tuple[Tensor, Tensor, Tensor]:
        """Return ids, mask and weights of rows, padded at their ends to one width."""
        device = self.output.weight.device
        width = max(map(len, rows), default=1)
        padding = int(self.options["pad_id"])
        ids = torch.tensor([[*row, *[padding] * (width - len(row))] for row in rows], device=device)
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=device)
        given = weights if weights is not None else [[1.0] * len(row) for row in rows]
        factors = torch.tensor([[*row, *[0.0] * (width - len(row))] for row in given], device=device)
        return ids, mask, factors


class EdosForSequenceClassification(PreTrainedModel):
    """The classifier as transformers reads it."""

    base_model_prefix = "classifier"

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.classifier = Classifier(config, config.edos)
        self.post_init()

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, **others: Any) -> Any:
        """Return logits (texts, labels) of calibrated probabilities."""
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        return SequenceClassifierOutput(logits=self.classifier(input_ids, mask).clamp_min(1e-38).log())


with suppress(ImportError):  # the pipeline warns about classes that are not in this list, by printing all of it
    from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES.setdefault("edos_lakehouse", EdosForSequenceClassification.__name__)
