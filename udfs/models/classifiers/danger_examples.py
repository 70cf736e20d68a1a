"""Known lines that vote on whether a text speaks of danger: a kernel classifier on a frozen encoder's states."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from torch import nn

from conf.errors import InputError

WEIGHTS = "danger_examples.safetensors"
LAYERS = (4, 5, 6)
MAX_TOKENS = 64
BATCH_SIZE = 32
SHARPNESS = 30.0
"""Of the weights exp(30 * cosine), chosen on the tuned half of the danger set."""

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

    def shares(self, vectors: Matrix, without: int | None = None) -> NDArray[np.float64]:
        """Return, for each vector, the share of danger among the examples, each weighted by its similarity.

        Args:
            vectors: of length 1.
            without: the place of an example that does not count, which is the line itself.
        """
        cosines = vectors @ (self.vectors.astype(np.float32) * self.scale).T
        if without is not None:
            cosines[:, without] = -1
        weights = np.exp(SHARPNESS * (cosines - cosines.max(1, keepdims=True))).astype(np.float64)
        return np.asarray(weights @ self.danger / weights.sum(1))

    @classmethod
    def read(cls, folder: Path) -> "Examples":
        """Return the examples that `save` wrote.

        Raises:
            InputError: the folder has no file of examples.
        """
        try:
            stored = load_file(folder / WEIGHTS)
        except OSError as error:
            raise InputError(f"{folder}: no danger classifier ({error.strerror or error})") from None
        return cls(*(stored[name] for name in cls._fields))

    def save(self, folder: Path) -> None:
        """Write the examples."""
        folder.mkdir(parents=True, exist_ok=True)
        save_file(self._asdict(), folder / WEIGHTS)


def tokenized(tokenizer: Any, texts: Sequence[str]) -> Iterator[Any]:
    """Yield the texts in batches of `BATCH_SIZE`, as tensors of up to `MAX_TOKENS` tokens a text."""
    for start in range(0, len(texts), BATCH_SIZE):
        some = list(texts[start : start + BATCH_SIZE])
        yield tokenizer(some, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")


class FrozenFeatures:
    """The features of texts: the means of the tokens' states of some layers, each of the same length, together 1.

    Args:
        encoder, tokenizer: results of `load_encoder`.
        layers: which hidden states, 0 for the embeddings.
    """

    def __init__(self, encoder: nn.Module, tokenizer: Any, layers: Sequence[int] = LAYERS) -> None:
        self.encoder = encoder.eval()
        self.tokenizer = tokenizer
        self.layers = tuple(layers)

    @torch.inference_mode()
    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Return one row a text; a text is read up to `MAX_TOKENS` tokens."""
        found: list[Matrix] = []
        for batch in tokenized(self.tokenizer, texts):
            states = self.encoder(**batch, output_hidden_states=True).hidden_states
            mask = batch["attention_mask"].unsqueeze(-1)
            means = [(states[layer] * mask).sum(1) / mask.sum(1) for layer in self.layers]
            both = torch.cat([nn.functional.normalize(one, dim=-1) for one in means], 1) / len(means) ** 0.5
            found.append(both.numpy())
        return np.concatenate(found) if found else np.empty((0, 0), np.float32)
