"""A classifier of lines that speak of danger, kept in the package: known lines vote by their similarity.

It is a kernel classifier (Nadaraya-Watson) on a frozen sentence encoder's states: nothing is optimised but a threshold.
"""

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
SHARPNESS = 20.0
"""Of the weights exp(20 * cosine), chosen on the tuned half of the danger set."""

Matrix = NDArray[np.float32]


class Examples(NamedTuple):
    """The vectors of known lines, whole numbers times ``scale``, and which of the lines speak of danger."""

    vectors: NDArray[np.int8]
    scale: NDArray[np.float32]
    danger: NDArray[np.bool_]

    @classmethod
    def of(cls, vectors: Matrix, danger: Sequence[bool]) -> "Examples":
        """Return vectors and truths in the form that is stored."""
        scale = np.float32(np.abs(vectors).max() / 127)
        whole = np.rint(vectors / scale).astype(np.int8)
        return cls(whole, np.array([scale], np.float32), np.array(danger, dtype=bool))

    def shares(self, vectors: Matrix, without: Sequence[int] | None = None) -> NDArray[np.float64]:
        """Return, for each vector, the share of danger among the examples, each weighted by its similarity.

        Args:
            vectors: of length 1.
            without: for each vector the place of an example that does not count, which is the line itself.
        """
        cosines = vectors @ (self.vectors.astype(np.float32) * self.scale).T
        if without is not None:
            cosines[np.arange(len(vectors)), list(without)] = -1
        weights = np.exp(SHARPNESS * (cosines - cosines.max(1, keepdims=True))).astype(np.float64)
        return np.asarray(weights @ self.danger / weights.sum(1))


class FrozenFeatures:
    """The features of texts: the means of the tokens' states of some layers, each of the same length, together 1.

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
            both = torch.cat([nn.functional.normalize(one, dim=-1) for one in means], 1) / len(means) ** 0.5
            found.append(both.numpy())
        return np.concatenate(found) if found else np.empty((0, 0), np.float32)


class DangerClassifier:
    """The classifier of one text.

    Attributes:
        threshold: of the share of danger, chosen on the half of the danger set that is tuned on.
    """

    def __init__(self, features: FrozenFeatures, examples: Examples, threshold: float) -> None:
        self.features, self.examples, self.threshold = features, examples, threshold

    def scores(self, texts: Sequence[str]) -> list[float]:
        """Return the weighted share of danger among the examples that each text is like, rounded to 4 digits."""
        if not texts:
            return []
        return [round(float(one), DECIMALS) for one in self.examples.shares(self.features(texts))]

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
        return cls(features, Examples(*(weights[name] for name in Examples._fields)), config["threshold"])

    def save(self, folder: Path, identity: str) -> None:
        """Write the examples, and the configuration with the encoder's identity."""
        folder.mkdir(parents=True, exist_ok=True)
        save_file(self.examples._asdict(), folder / WEIGHTS)
        config = {"encoder": identity, "layers": self.features.layers, "threshold": self.threshold}
        (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
