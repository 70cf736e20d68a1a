"""A neural turn segmenter that reads a window of sentences and answers every border in it (ours).

EDOS 3.1 has a linear SVM over two sentences. Here an encoder reads a stretch of the film in one pass. A token stands at
each border, with a code of the pause there and of the layout of both sentences.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from conf.errors import InputError
from udfs.models.batches import Batch, Encoded, answers_alike, collate
from udfs.models.classifiers.classifier import LabelledRow, SequenceClassifier, row_schema

LABELS = ("same turn", "new turn")
CODES = 128
"""Number of codes of a border; code 0 is that of all other tokens."""
UNKNOWN = -1
SENTENCES = 16
"""Sentences that a window has."""
CONTEXT = 3
"""Sentences on each side that a border is answered with, where the film has them."""
_EDGE = 11
"""Tokens that are kept of each end of a sentence: with them a window has fewer than 384."""


class Window(NamedTuple):
    """Neighbouring sentences without marks, and the code of the border before each but the first."""

    sentences: tuple[str, ...]
    codes: tuple[int, ...]


class TurnWindowClassifier(SequenceClassifier[Window]):
    """An encoder over ``[CLS] sentence [SEP] sentence [SEP] ...``; the state of each inner separator is classified.

    An embedding of the border's code is added to that of its separator. A row's truth has a label for each border, or
    ``UNKNOWN``.
    """

    kind = "turn_window_classifier"
    schema = row_schema(pa.list_(pa.int32()))

    def __init__(
        self, encoder: nn.Module, tokenizer: Any, labels: Sequence[str], max_tokens: int = 384, dropout: float = 0.1
    ) -> None:
        super().__init__(encoder, tokenizer, labels, max_tokens)
        size = int(encoder.config.hidden_size)  # type: ignore[union-attr,arg-type]
        self.dropout = nn.Dropout(dropout)
        self.border = nn.Embedding(CODES, size, padding_idx=0)
        nn.init.normal_(self.border.weight, std=0.02)
        with torch.no_grad():
            self.border.weight[0] = 0
        self.output = nn.Linear(size, len(self.labels))

    def encode(self, items: Sequence[Window]) -> list[Encoded]:
        """Return each window's tokens, with its borders' codes as token types; a long sentence loses its middle."""
        texts = [sentence for item in items for sentence in item.sentences]
        places = int(getattr(self.encoder.config, "max_position_embeddings", self.max_tokens + 2)) - 2
        edge = max(1, min(_EDGE, ((min(self.max_tokens, places) - 1) // SENTENCES - 1) // 2))
        found = self.tokenizer(texts, add_special_tokens=False)["input_ids"] if texts else []
        cut = iter(ids if len(ids) <= 2 * edge else ids[:edge] + ids[-edge:] for ids in found)
        start, separator = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        rows = []
        for item in items:
            ids, types = [start], [0]
            for code in (*item.codes, 0):
                words = next(cut)
                ids += [*words, separator]
                types += [0] * len(words) + [code]
            rows.append(Encoded(tuple(ids), (1.0,) * len(ids), tuple(types)))
        return rows

    def check_truths(self, truths: Sequence[Any], what: str) -> None:
        known = {label for truth in truths for label in truth} - {UNKNOWN}
        if not known or not known <= {0, 1}:
            raise InputError(f"the {what} borders have the labels {sorted(known)}: 0 and 1 are needed")

    def logits(self, batch: Batch) -> Tensor:
        """Return the logits of all borders of the batch, row by row (borders, 2)."""
        embedded = self.encoder.get_input_embeddings()(batch.ids) + self.border(batch.types)  # type: ignore[operator]
        states = self.encoder(inputs_embeds=embedded, attention_mask=batch.mask).last_hidden_state
        return self.output(self.dropout(states[batch.types > 0]))

    def forward(self, rows: Sequence[LabelledRow], label_smoothing: float = 0.0) -> Tensor:
        """Return the summed loss of the rows, each the mean of its known borders'."""
        device = next(self.parameters()).device
        logits = self.logits(collate(rows, self.pad_id).to(device)).float()
        truth = torch.tensor([label for row in rows for label in row.truth], device=device)
        losses = nn.functional.cross_entropy(
            logits, truth, ignore_index=UNKNOWN, label_smoothing=label_smoothing, reduction="none"
        )
        return losses.sum() / (SENTENCES - 1)

    def validate(self, rows: Sequence[LabelledRow], batch_size: int) -> dict[str, float]:
        self.eval()
        odds = self.answers_to(rows, batch_size).numpy().astype(np.float64)
        log_odds = np.concatenate([odds[place, : len(row.truth)] for place, row in enumerate(rows)])
        truth = np.array([label for row in rows for label in row.truth])
        changes = 1 / (1 + np.exp(-log_odds[truth != UNKNOWN]))
        return self.figures(np.column_stack([1 - changes, changes]), truth[truth != UNKNOWN].tolist())

    @torch.inference_mode()
    def answers_to(self, rows: Sequence[Encoded | LabelledRow], batch_size: int) -> Tensor:
        """Return the log-odds of a new turn at the borders of encoded rows (rows, SENTENCES - 1), padded with 0."""
        if not rows:
            return torch.empty((0, SENTENCES - 1))
        return answers_alike(rows, batch_size, self.max_tokens, self._log_odds)

    def _log_odds(self, rows: Sequence[Encoded | LabelledRow], width: int) -> Tensor:
        batch = collate(rows, self.pad_id, width).to(next(self.parameters()).device)
        logits = self.logits(batch).float()
        borders = (batch.types > 0).sum(dim=1)
        found = torch.zeros((len(rows), SENTENCES - 1), device=logits.device)
        found[torch.arange(SENTENCES - 1, device=logits.device) < borders[:, None]] = logits[:, 1] - logits[:, 0]
        return found

    def head_options(self) -> dict[str, Any]:
        return {"dropout": self.dropout.p}

    def log_odds(self, items: Sequence[Window], batch_size: int) -> NDArray[np.float64]:
        """Return the log-odds of a new turn at the borders of windows (items, SENTENCES - 1), padded with 0."""
        return self.answers_to(self.encode(items), batch_size).numpy().astype(np.float64)


def spans(sentences: int, context: int = CONTEXT) -> list[tuple[int, int]]:
    """Return first and one past the last sentence of the windows over so many sentences.

    Neighbouring windows share ``2 * context`` sentences, and one sentence with a context of 0: the later one answers
    the borders that it has ``context`` sentences before.
    """
    found = [(0, min(SENTENCES, sentences))]
    while found[-1][1] < sentences:
        first = found[-1][1] - max(1, 2 * context)
        found.append((first, min(first + SENTENCES, sentences)))
    return found
