"""A classifier of lines that speak of danger, kept in the package: three judges, whose log odds are added.

A sentence encoder with small changes and a head; known lines that vote by their similarity; and a model over words. The
changes are of low rank (LoRA): what is stored is a hundredth of the encoder, which itself comes from its package. All
three read a line with disguised words undone and in English words (`etl.safety.glosses.reading`).
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from conf.errors import InputError
from etl.safety.examples import Examples, FrozenFeatures, tokenized
from etl.safety.glosses import reading
from etl.safety.stored import weights as packaged_weights
from etl.safety.words import DangerWords
from udfs.models.batches import mean_pooled
from udfs.models.classifiers.classifier import load_encoder

WEIGHTS = "classifier.safetensors"
CONFIG = "classifier.json"
DECIMALS = 4
DOWN = ".down"
UP = ".up"
HEAD = "head.weight"
BIAS = "head.bias"
TUNED = 0.3
VOTES = 0.75
WORDS = 0.2
"""Weights of the three judges' log odds, chosen on the tuned halves of the lines."""
SMALLEST = 1e-4

Weights = Mapping[str, Tensor]
"""Weights of the head, and for each changed layer two matrices whose product is added to its own."""
Odds = NDArray[np.float64]


class TunedEncoder:
    """An encoder with the trained changes, and a head.

    Args:
        encoder, tokenizer: results of `load_encoder`; the encoder is changed.
        weights: what was trained.
    """

    def __init__(self, encoder: nn.Module, tokenizer: Any, weights: Weights) -> None:
        self.tokenizer = tokenizer
        self.weights = dict(weights)
        self.encoder = changed(encoder, weights).eval()

    @torch.inference_mode()
    def odds(self, texts: Sequence[str]) -> Odds:
        """Return the log odds of danger of each text, read up to `MAX_TOKENS` tokens."""
        found: list[float] = []
        for batch in tokenized(self.tokenizer, texts):
            states = mean_pooled(self.encoder(**batch).last_hidden_state, batch["attention_mask"])
            found += (states @ self.weights[HEAD].float() + self.weights[BIAS].float()).tolist()
        return np.array(found, np.float64)


class DangerClassifier:
    """The classifier of one text.

    Args:
        features: of the encoder as it comes, for the vote of the examples.
        threshold: of the probability, chosen on the half of the danger set that is tuned on.
    """

    def __init__(
        self,
        tuned: TunedEncoder,
        features: FrozenFeatures,
        examples: Examples,
        words: DangerWords,
        threshold: float = 0.5,
    ) -> None:
        self.tuned = tuned
        self.features = features
        self.examples = examples
        self.words = words
        self.threshold = threshold

    def scores(self, texts: Sequence[str], without: NDArray[np.bool_] | None = None) -> list[float]:
        """Return the probability of danger of each text, rounded to 4 digits.

        Args:
            without: of each example, whether it does not vote.
        """
        if not texts:
            return []
        read = [reading(text) for text in texts]
        votes = log_odds(self.examples.shares(self.features(read), without))
        words = log_odds(np.array(self.words.scores(texts)))
        total = TUNED * self.tuned.odds(read) + VOTES * votes + WORDS * words
        return [round(float(one), DECIMALS) for one in 1 / (1 + np.exp(-total))]

    @classmethod
    def packaged(cls, encoder_path: Path, identity: str) -> "DangerClassifier":
        """Return the classifier that comes with the package, on the encoder that it was trained with.

        Raises:
            InputError: `identity` is another encoder.
        """
        with packaged_weights() as folder:
            return cls.read(folder, encoder_path, identity)

    @classmethod
    def read(cls, folder: Path, encoder_path: Path, identity: str) -> "DangerClassifier":
        """Return the classifier of a folder, on its encoder.

        Raises:
            InputError: a part is not there, or `identity` is another encoder.
        """
        try:
            config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
            weights = load_file(folder / WEIGHTS)
        except OSError as error:
            raise InputError(f"{folder}: no danger classifier ({error.strerror or error})") from None
        if config["encoder"] != identity:
            raise InputError(f"safety.encoder: {identity} is not the classifier's {config['encoder']}; null: none")
        tuned = TunedEncoder(*load_encoder(encoder_path), weights)
        features = FrozenFeatures(*load_encoder(encoder_path))
        return cls(tuned, features, Examples.read(folder), DangerWords.read(folder), config["threshold"])

    def save(self, folder: Path, identity: str) -> None:
        """Write the parts, and the configuration with the encoder's identity."""
        folder.mkdir(parents=True, exist_ok=True)
        save_file({name: value.contiguous() for name, value in self.tuned.weights.items()}, folder / WEIGHTS)
        self.examples.save(folder)
        self.words.save(folder)
        config = {"encoder": identity, "threshold": self.threshold}
        (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def log_odds(probabilities: Odds) -> Odds:
    """Return the log odds of probabilities, within bounds."""
    inside = np.clip(probabilities, SMALLEST, 1 - SMALLEST)
    return np.asarray(np.log(inside / (1 - inside)))


def changed(encoder: nn.Module, weights: Weights) -> nn.Module:
    """Add the trained changes to an encoder's layers; return the encoder."""
    with torch.no_grad():
        for name in sorted(weights):
            if name.endswith(DOWN):
                layer = encoder.get_submodule(name.removesuffix(DOWN))
                assert isinstance(layer, nn.Linear)
                layer.weight += weights[name.removesuffix(DOWN) + UP].float() @ weights[name].float()
    return encoder
