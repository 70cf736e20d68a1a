"""The multi-label emotion classifier of an utterance, with or without its context (Emo Pillars 5)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from conf.errors import InputError
from etl.emo_pillars.settings import MultiLabelSettings
from udfs.models.batches import Batch, Encoded
from udfs.models.classifiers.classifier import HEAD_CONFIG, SequenceClassifier, row_schema
from udfs.models.classifiers.multi_label_metrics import (
    Thresholds,
    best_threshold,
    class_rows,
    counts_at,
    multi_hot,
    multi_label_metrics,
    threshold_curve,
)

if TYPE_CHECKING:
    from udfs.models.pictures import Chart

CONTEXT = 0
UTTERANCE = 1
"""Token types (Emo Pillars 5.2.2)."""


class Passage(NamedTuple):
    """An utterance, and its context where that is known."""

    utterance: str
    context: str | None = None


class MultiLabelClassifier(SequenceClassifier[Passage]):
    """An encoder, a new tanh layer as RoBERTa's head has, and a sigmoid for each label; binary cross-entropy.

    The input is an utterance, or the pair of a context and an utterance. A label is given when its probability is at
    least `threshold`. One threshold for all labels is chosen on validation rows (Emo Pillars D).

    Args:
        pooling: the paper's models have `cls`.
        thresholds: only stored models have it: their `label_thresholds` have each label's own.
    """

    kind = "multi_label_classifier"
    schema = row_schema(pa.list_(pa.int32()))
    settled = ("temperature", "threshold", "label_thresholds", "typed")

    def __init__(
        self,
        encoder: nn.Module,
        tokenizer: Any,
        labels: Sequence[str],
        max_tokens: int = 128,
        pooling: str = "cls",
        dropout: float = 0.1,
        thresholds: str = "shared",
    ) -> None:
        super().__init__(encoder, tokenizer, labels, max_tokens, pooling)
        size = int(encoder.config.hidden_size)  # type: ignore[union-attr,arg-type]
        self.typed = False
        self.threshold: float = 0.5
        self.label_thresholds: list[float] | None = None
        self.dropout = nn.Dropout(dropout)
        self.hidden = nn.Linear(size, size)
        self.output = nn.Linear(size, len(self.labels))
        self.frames = special_tokens(tokenizer, False), special_tokens(tokenizer, True)

    @property
    def cutoffs(self) -> Thresholds:
        """The threshold for all labels, or each label's."""
        return self.threshold if self.label_thresholds is None else self.label_thresholds

    def use_token_types(self) -> None:
        """Mark context and utterance by token types 0 and 1 from now on (Emo Pillars 5.2.2)."""
        if not self.typed:
            extend_token_types(self.encoder)
            self.typed = True

    def encode(self, items: Sequence[Passage]) -> list[Encoded]:
        """Return context and utterance between the encoder's special tokens; a long row loses its context's end."""
        if not items:
            return []
        contexts = self._ids([item.context or "" for item in items])
        utterances = self._ids([item.utterance for item in items])
        return [self._encoded(*both) for both in zip(contexts, utterances, strict=True)]

    def _ids(self, texts: list[str]) -> list[list[int]]:
        options = {"add_special_tokens": False, "truncation": True, "max_length": self.max_tokens}
        return list(self.tokenizer(texts, **options)["input_ids"])

    def _encoded(self, context: Sequence[int], utterance: Sequence[int]) -> Encoded:
        before, between, after = self.frames[1]
        room = self.max_tokens - len(before) - len(between) - len(after)
        if not context or len(utterance) >= room:
            context = ()
            (before, between, after) = self.frames[0]
            room = self.max_tokens - len(between) - len(after)
        kept = list(utterance[:room])
        first = [*before, *context[: room - len(kept)], *between]
        ids = (*first, *kept, *after)
        types = (CONTEXT,) * len(first) + (UTTERANCE,) * (len(ids) - len(first)) if self.typed else ()
        return Encoded(ids, (1.0,) * len(ids), types)

    def logits(self, batch: Batch) -> Tensor:
        states = self.dropout(self.pooled(self._states(batch), batch.mask))
        return self.output(self.dropout(torch.tanh(self.hidden(states))))

    def _states(self, batch: Batch) -> Tensor:
        types = {"token_type_ids": batch.types} if self.typed else {}
        return self.encoder(input_ids=batch.ids, attention_mask=batch.mask, **types).last_hidden_state

    def begin_at_shares(self, truths: Sequence[Any]) -> None:
        """Set a new head's bias so that its first answers are the labels' shares of the rows (ours).

        Without it the tanh layer first learns that most labels are rare, and saturates. A small set such as ISEAR,
        where 21 labels never occur, is then not learned at all.
        """
        shares = (self.targets(truths).sum(dim=0) + 0.5) / (len(truths) + 1)
        with torch.no_grad():
            self.output.bias.copy_(torch.logit(shares))

    def check_truths(self, truths: Sequence[Any], what: str) -> None:
        super().check_truths([label for labels in truths for label in labels], what)

    def targets(self, truths: Sequence[Any]) -> Tensor:
        return torch.from_numpy(self._truth(truths)).float()

    def loss(self, logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        """Return the sum of the rows' losses, each the mean over its labels."""
        smooth = targets * (1 - smoothing) + smoothing / 2
        summed = nn.functional.binary_cross_entropy_with_logits(logits, smooth, reduction="sum")
        return summed / len(self.labels)

    def answers(self, logits: Tensor) -> Tensor:
        return torch.sigmoid(logits.float() / self.temperature)

    def figures(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> dict[str, float]:
        figures = multi_label_metrics(probabilities, self._truth(truths), self.cutoffs)
        return {**figures, "threshold": self.threshold}

    def validation_figures(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> dict[str, float]:
        truth = self._truth(truths)
        shared = best_threshold(probabilities, truth)
        return {**multi_label_metrics(probabilities, truth, shared), "threshold": shared}

    def settle(self, metrics: Mapping[str, float]) -> None:
        self.threshold = metrics["threshold"]
        self.label_thresholds = None

    def class_figures(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> list[dict[str, Any]]:
        return class_rows(counts_at(probabilities, self._truth(truths), self.cutoffs), self.labels)

    def charts(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> list["Chart"]:
        return []

    def choice_charts(self, probabilities: NDArray[Any], truths: Sequence[Any]) -> list["Chart"]:
        """Return the precision and recall of each threshold (Emo Pillars D, Figure 8)."""
        from udfs.models.pictures import threshold_chart

        return [threshold_chart(threshold_curve(probabilities, self._truth(truths)), self.threshold)]

    def head_options(self) -> dict[str, Any]:
        return {
            "pooling": self.pooling,
            "dropout": self.dropout.p,
            "typed": self.typed,
            "threshold": self.threshold,
            "label_thresholds": self.label_thresholds,
        }

    def _truth(self, truths: Sequence[Any]) -> NDArray[Any]:
        return multi_hot(truths, len(self.labels))


def special_tokens(tokenizer: Any, pair: bool) -> tuple[list[int], list[int], list[int]]:
    """Return the encoder's special tokens before the context, between context and utterance, and at the end.

    For an utterance without context, the first list is empty and the second precedes the utterance.
    """
    texts = ("a", "a") if pair else ("a",)
    (content,) = {tuple(tokenizer("a", add_special_tokens=False)["input_ids"])}
    found = list(tokenizer(*texts)["input_ids"])
    parts: list[list[int]] = [[]]
    while found:
        if tuple(found[: len(content)]) == content:
            found = found[len(content) :]
            parts.append([])
        else:
            parts[-1].append(found.pop(0))
    return (parts[0], parts[1], parts[2]) if pair else ([], parts[0], parts[1])


def extend_token_types(encoder: nn.Module) -> None:
    """Add a copy of the token type to an encoder with only one, such as RoBERTa (Emo Pillars 5.2.2).

    Raises:
        InputError: the encoder has no token types.
    """
    embeddings = getattr(encoder, "embeddings", None)
    known = getattr(embeddings, "token_type_embeddings", None)
    if known is None:
        raise InputError("the encoder has no token types: choose a BERT or RoBERTa, or train it without typed")
    if known.num_embeddings >= 2:
        return
    more = nn.Embedding(2, known.embedding_dim)
    with torch.no_grad():
        more.weight.copy_(known.weight[:1].expand(2, -1))
    embeddings.token_type_embeddings = more  # type: ignore[union-attr]
    encoder.config.type_vocab_size = 2  # type: ignore[union-attr]


def starting_model(
    start: str | Path,
    rows: Sequence[tuple[Passage, Sequence[int]]],
    labels: Sequence[str],
    options: MultiLabelSettings,
    typed: bool = False,
) -> MultiLabelClassifier:
    """Return the model to train: a trained model of the same labels, or an encoder with a new head.

    Args:
        start: folder of an encoder, or of a trained model, which keeps its head and pooling.
        rows: (passage, label ids) to learn from.
        labels: the taxonomy in id order.
        typed: whether token types tell context and utterance apart.
    """
    trained = (Path(start) / HEAD_CONFIG).is_file()
    if trained:
        model = MultiLabelClassifier.load(start)
        if model.labels != tuple(labels):
            raise InputError(f"{start}: a model of other labels: train it on this taxonomy")
        model.max_tokens = options.max_tokens
        model.label_thresholds = None
    else:
        model = MultiLabelClassifier.new(start, labels, options, pooling=options.pooling)
        truths = [truth for _, truth in rows]
        model.check_truths(truths, "training")
        model.begin_at_shares(truths)
    if typed:
        model.use_token_types()
    if trained:
        torch.manual_seed(options.seed)
    return model
