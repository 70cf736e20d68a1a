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

WEIGHTS = "examples.safetensors"
LAYERS = (4, 5, 6)
MAX_TOKENS = 64
BATCH_SIZE = 32
SHARPNESS = 30.0
"""Of the weights exp(30 * cosine), chosen on the tuned halves of the lines."""
DIMENSIONS = 96
"""Of the vectors that are stored: of the features' principal components."""

Matrix = NDArray[np.float32]


class Examples(NamedTuple):
    """The vectors of known lines, in whole numbers times a scale, and which of the lines speak of danger.

    Attributes:
        projection: (features, dimensions), whole numbers times ``projection_scale``: from features to vectors.
        held_out: which of the lines do not vote where the classifier is judged by the held-out halves.
    """

    vectors: NDArray[np.int8]
    scale: NDArray[np.float32]
    projection: NDArray[np.int8]
    projection_scale: NDArray[np.float32]
    danger: NDArray[np.bool_]
    held_out: NDArray[np.bool_]

    @classmethod
    def of(
        cls, features: Matrix, danger: Sequence[bool], held_out: Sequence[bool], dimensions: int = DIMENSIONS
    ) -> "Examples":
        """Return the form that is stored of features and truths; the components are those of the lines not held out."""
        kept = features[~np.array(held_out, dtype=bool)]
        components = np.linalg.svd(kept, full_matrices=False)[2][:dimensions].T
        projection, projection_scale = _whole(components)
        vectors, scale = _whole(_projected(features, projection * projection_scale))
        return cls(
            vectors,
            scale,
            projection,
            projection_scale,
            np.array(danger, dtype=bool),
            np.array(held_out, dtype=bool),
        )

    def shares(self, features: Matrix, without: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """Return, for each row of features, the share of danger among the examples, weighted by their similarity.

        Args:
            without: of each example, whether it does not vote.
        """
        vectors = _projected(features, self.projection * self.projection_scale)
        cosines = vectors @ (self.vectors.astype(np.float32) * self.scale).T
        if without is not None:
            cosines[:, without] = -np.inf
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


def _projected(features: Matrix, projection: Matrix) -> Matrix:
    """Return features on their principal components, each row of length 1."""
    vectors = features @ projection
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))


def _whole(matrix: NDArray[np.floating[Any]]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return a matrix as whole numbers in -127..127, and the scale that they are multiplied with."""
    scale = np.float32(np.abs(matrix).max() / 127)
    # Row by row in memory: what is stored is the memory as it lies.
    return np.ascontiguousarray(np.rint(matrix / scale).astype(np.int8)), np.array([scale], np.float32)


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
