"""Sequence classifiers trained by others, such as classifiers of toxicity or of entailment."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from conf.errors import InputError
from udfs.models.batches import answers_alike
from udfs.models.pretrained import LOCAL, complete, reading, require_safetensors, require_words

MAX_TOKENS = 512


def labels_of(folder: Path, config: Any = None) -> tuple[str, ...]:
    """Return the labels of a classifier's ``config.json``, or of this configuration of it, in lower case and in order.

    Raises:
        InputError: it cannot be read, lacks a label, or has one twice.
    """
    if config is None:
        from transformers import AutoConfig

        with reading(folder, what="a classifier from it"):
            config = AutoConfig.from_pretrained(str(folder), **LOCAL)
    labels = tuple(str(config.id2label.get(place, "")).lower() for place in range(config.num_labels))
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise InputError(
            f"{folder}: id2label of config.json has {twice[0] or 'no label'!r} {labels.count(twice[0])} times"
        )
    return labels


class HubClassifier(nn.Module):
    """A sequence classifier of one text, or of a pair, with the labels of its configuration."""

    def __init__(self, network: Any, tokenizer: Any, several: bool, labels: Sequence[str]) -> None:
        super().__init__()
        self.network = network
        self.tokenizer = tokenizer
        self.several = several
        self.labels = tuple(labels)

    @classmethod
    def load(cls, folder: str | Path) -> "HubClassifier":
        """Read a model's folder in fp32: safetensors only, and no code.

        Raises:
            InputError: it holds no safetensors, no sequence classifier, or not all of its weights.
        """
        folder = Path(folder)
        require_safetensors(folder)
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        with reading(folder, what="a classifier from it"):
            tokenizer = AutoTokenizer.from_pretrained(str(folder), **LOCAL)
            network = complete(AutoModelForSequenceClassification, folder, use_safetensors=True)
            require_words(folder, tokenizer, network)
        several = getattr(network.config, "problem_type", None) == "multi_label_classification"
        return cls(network.float().eval(), tokenizer, several, labels_of(folder, network.config))

    def place_of(self, names: Sequence[str]) -> int:
        """Return the index of the label that comes first in `names`.

        Raises:
            InputError: the classifier has none of these labels.
        """
        for name in names:
            if name in self.labels:
                return self.labels.index(name)
        raise InputError(f"the classifier has labels {', '.join(self.labels)}, none of {', '.join(names)}")

    @torch.inference_mode()
    def scores(
        self, texts: Sequence[str], others: Sequence[str] | None, label: int | None, batch_size: int
    ) -> NDArray[np.float32]:
        """Return the probability of a label (texts, 1), or of all: a sigmoid for a multi-label model, else a softmax.

        Args:
            texts: single texts, or the first texts of pairs.
            others: the second texts of pairs; None for single texts.
            label: index of the label; None for all labels.
            batch_size: texts in one batch, all padded to one width.
        """
        if not texts:
            return np.empty((0, len(self.labels) if label is None else 1), dtype=np.float32)
        second = None if others is None else list(others)
        encoded = self.tokenizer(list(texts), second, truncation=True, max_length=MAX_TOKENS)
        rows = [
            SimpleNamespace(ids=values["input_ids"], fields=values)
            for values in (dict(zip(encoded, row, strict=True)) for row in zip(*encoded.values(), strict=True))
        ]
        return answers_alike(rows, batch_size, MAX_TOKENS, partial(self._answered, label=label)).numpy()

    def _answered(self, rows: Sequence[Any], width: int, label: int | None) -> Tensor:
        device = next(self.parameters()).device
        fields = [row.fields for row in rows]
        batch = self.tokenizer.pad(fields, padding="max_length", max_length=width, return_tensors="pt")
        logits = self.network(**{name: values.to(device) for name, values in batch.items()}).logits.float()
        probabilities = torch.sigmoid(logits) if self.several else torch.softmax(logits, dim=-1)
        return probabilities if label is None else probabilities[:, [label]]
