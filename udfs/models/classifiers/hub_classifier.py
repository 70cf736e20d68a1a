"""A classifier that others trained, such as one of toxicity or of entailment, read as transformers reads it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from conf.errors import InputError

MAX_TOKENS = 512


class HubClassifier(nn.Module):
    """A sequence classifier of one text, or of a pair, with its own labels."""

    def __init__(self, network: Any, tokenizer: Any, several: bool) -> None:
        super().__init__()
        self.network = network
        self.tokenizer = tokenizer
        self.several = several
        self.labels = tuple(str(network.config.id2label[place]).lower() for place in range(network.config.num_labels))

    @classmethod
    def load(cls, folder: str | Path) -> "HubClassifier":
        """Read a model's folder: safetensors only, no code from it, in fp32.

        Raises:
            InputError: it holds no safetensors, or no sequence classifier.
        """
        folder = Path(folder)
        if not any(folder.glob("*.safetensors")):
            raise InputError(f"{folder}: no .safetensors weights: only safetensors are read")
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        from udfs.models.classifiers.classifier import quiet

        options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        try:
            with quiet():
                tokenizer = AutoTokenizer.from_pretrained(str(folder), **options)
                network = AutoModelForSequenceClassification.from_pretrained(
                    str(folder), use_safetensors=True, **options
                )
        except (OSError, ValueError, KeyError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"{folder}: transformers cannot read a classifier from it ({reason})") from None
        several = getattr(network.config, "problem_type", None) == "multi_label_classification"
        return cls(network.float().eval(), tokenizer, several)

    def place_of(self, names: Sequence[str]) -> int:
        """The place of the first of several names among the labels.

        Raises:
            InputError: it has none of them.
        """
        for name in names:
            if name in self.labels:
                return self.labels.index(name)
        raise InputError(f"the classifier has labels {', '.join(self.labels)}, none of {', '.join(names)}")

    @torch.inference_mode()
    def scores(
        self, texts: Sequence[str], others: Sequence[str] | None, label: int, batch_size: int
    ) -> NDArray[np.float32]:
        """(texts, 1): the probability of a label; of a model with several labels at once, by itself.

        Args:
            texts: or the first texts of pairs.
            others: the second ones; None: single texts.
            label: its place.
            batch_size: texts the network sees at once, neighbours in length.
        """
        found = np.empty((len(texts), 1), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        device = next(self.parameters()).device
        for start in range(0, len(order), batch_size):
            places = order[start : start + batch_size]
            second = None if others is None else [others[place] for place in places]
            batch = self.tokenizer(
                [texts[place] for place in places], second, truncation=True, max_length=MAX_TOKENS, padding=True,
                return_tensors="pt",
            ).to(device)  # fmt: skip
            logits = self.network(**batch).logits.float()
            probabilities = torch.sigmoid(logits) if self.several else torch.softmax(logits, dim=-1)
            found[places, 0] = probabilities[:, label].cpu().numpy()
        return found
