"""A classifier of lines that speak of danger: a frozen sentence encoder and a small network, kept in the package."""

import json
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from torch import nn

from conf.errors import InputError
from udfs.models.classifiers.classifier import load_encoder

WEIGHTS = "danger_classifier.safetensors"
CONFIG = "danger_classifier.json"
MAX_TOKENS = 64
BATCH_SIZE = 32
DECIMALS = 4

Matrix = NDArray[np.float32]


class Head(NamedTuple):
    """One hidden layer of rectified units on features, and one output: the log-odds of danger."""

    hidden: Matrix
    hidden_bias: Matrix
    output: Matrix
    bias: Matrix

    def log_odds(self, features: Matrix) -> Matrix:
        units = np.maximum(features @ self.hidden.astype(np.float32) + self.hidden_bias, 0)
        return np.asarray(units @ self.output + self.bias, dtype=np.float32)


class FrozenFeatures:
    """The features of texts: means and maxima of the tokens' states of some layers, each of length 1.

    Args:
        encoder, tokenizer: results of `load_encoder`.
        layers: which hidden states, 0 for the embeddings.
    """

    def __init__(self, encoder: nn.Module, tokenizer: Any, layers: Sequence[int]) -> None:
        self.encoder, self.tokenizer, self.layers = encoder.eval(), tokenizer, tuple(layers)

    @torch.inference_mode()
    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text; a text is read up to `MAX_TOKENS` tokens."""
        found: list[Matrix] = []
        for start in range(0, len(texts), BATCH_SIZE):
            some = list(texts[start : start + BATCH_SIZE])
            batch = self.tokenizer(some, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
            states = self.encoder(**batch, output_hidden_states=True).hidden_states
            mask = batch["attention_mask"].unsqueeze(-1)
            means = [(states[layer] * mask).sum(1) / mask.sum(1) for layer in self.layers]
            most = [states[layer].masked_fill(mask == 0, float("-inf")).amax(1) for layer in self.layers]
            found.append(torch.cat([nn.functional.normalize(one, dim=-1) for one in means + most], 1).numpy())
        return np.concatenate(found) if found else np.empty((0, 0), np.float32)


class DangerClassifier:
    """The classifier of one text.

    Attributes:
        threshold: of the probability of danger, chosen on the half of the danger set that is tuned on.
    """

    def __init__(self, features: FrozenFeatures, head: Head, threshold: float) -> None:
        self.features, self.head, self.threshold = features, head, threshold

    def scores(self, texts: Sequence[str]) -> list[float]:
        """Return each text's probability of danger, rounded to 4 digits."""
        if not texts:
            return []
        odds = self.head.log_odds(self.features(texts)).astype(np.float64)
        return [round(float(one), DECIMALS) for one in 1 / (1 + np.exp(-odds))]

    @classmethod
    def packaged(cls, encoder_path: Path, identity: str) -> "DangerClassifier":
        """Return the classifier that comes with the package, on the encoder that it was trained with.

        Raises:
            InputError: `identity` is another encoder.
        """
        with as_file(files("conf") / "safety") as folder:
            return cls.read(folder, encoder_path, identity)

    @classmethod
    def read(cls, folder: Path, encoder_path: Path, identity: str) -> "DangerClassifier":
        """Return a classifier that `save` wrote, on its encoder.

        Raises:
            InputError: there is none, or `identity` is another encoder.
        """
        try:
            config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
            weights = load_file(folder / WEIGHTS)
        except OSError as error:
            raise InputError(f"{folder}: no danger classifier ({error.strerror or error})") from None
        if config["encoder"] != identity:
            raise InputError(f"safety.encoder: {identity} is not the classifier's {config['encoder']}; null: none")
        features = FrozenFeatures(*load_encoder(encoder_path), config["layers"])
        return cls(features, Head(*(weights[name] for name in Head._fields)), config["threshold"])

    def save(self, folder: Path, identity: str) -> None:
        """Write the head in half precision, and the configuration with the encoder's identity."""
        folder.mkdir(parents=True, exist_ok=True)
        halves = {name: np.ascontiguousarray(one.astype(np.float16)) for name, one in self.head._asdict().items()}
        save_file(halves, folder / WEIGHTS)
        config = {"encoder": identity, "layers": self.features.layers, "threshold": self.threshold}
        (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
