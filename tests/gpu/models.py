"""Models in the papers' sizes with drawn weights, and texts as long as EDOS's turns: nothing is fetched."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.udfs.tiny_models import tiny_encoder, tiny_language_model

WORDS = [f"w{number}" for number in range(5_000)]
TOKENS_OF_A_TURN = 13.95
"""EDOS, Table 3; its dialogues have 2.83 turns."""
TURNS_OF_A_HISTORY = 3
LABELS = tuple(f"label {number}" for number in range(41))


@dataclass(frozen=True)
class Size:
    """A model's family and configuration."""

    family: str
    layers: int
    width: int
    heads: int
    inner: int
    vocabulary: int

    @property
    def configuration(self) -> dict[str, int]:
        """The arguments of transformers' configuration."""
        return {
            "num_hidden_layers": self.layers,
            "hidden_size": self.width,
            "num_attention_heads": self.heads,
            "intermediate_size": self.inner,
            "vocab_size": self.vocabulary,
        }

    def operations(self, tokens: int, matrices: int = 2) -> float:
        """Floating-point operations of a forward pass over tokens, without attention's own products.

        Args:
            matrices: of the feed-forward part, 3 where it is gated.
        """
        return 2.0 * tokens * self.layers * (4 * self.width**2 + matrices * self.width * self.inner)


PAPERS = {
    "MiniLM": Size("bert", 6, 384, 12, 1536, 30_522),
    "mpnet": Size("mpnet", 12, 768, 12, 3072, 30_527),
    "RoBERTa": Size("roberta", 12, 768, 12, 3072, 50_265),
    "SmolLM2": Size("llama", 30, 576, 9, 1536, 49_152),
}
"""The sizes of the encoders that EDOS's parts have here and in the paper, and of a small writer."""
TRIAL = {
    "MiniLM": Size("bert", 2, 64, 2, 128, 6_000),
    "mpnet": Size("mpnet", 2, 64, 2, 128, 6_000),
    "RoBERTa": Size("roberta", 2, 64, 2, 128, 6_000),
    "SmolLM2": Size("llama", 2, 64, 2, 128, 6_000),
}
"""For a machine without a GPU, where the path is tried and nothing is measured."""


def write_model(name: str, size: Size, folder: Path) -> Path:
    """Write a model of this size, and return its folder."""
    if size.family == "llama":
        return tiny_language_model(folder / name, words=WORDS, positions=2048, size=size.configuration)
    return tiny_encoder(folder / name, size.family, words=WORDS, size=size.configuration)


def turns(number: int, seed: int = 1) -> list[str]:
    """So many distinct texts of drawn words, as long as turns are; the longest has ten times the mean."""
    draw = np.random.default_rng(seed)
    lengths = np.clip(draw.gamma(1.5, (TOKENS_OF_A_TURN - 2) / 1.5, number), 1, 140).astype(int)
    words = draw.integers(0, len(WORDS), int(lengths.sum()))
    ends = np.cumsum(lengths)
    texts = (
        " ".join(WORDS[place] for place in words[end - length : end]) for end, length in zip(ends, lengths, strict=True)
    )
    return [f"{text} w{number % len(WORDS)}" for number, text in enumerate(texts)]


def histories(number: int, seed: int = 1) -> list[list[str]]:
    """So many dialogues of three turns."""
    found = turns(number * TURNS_OF_A_HISTORY, seed)
    return [found[start : start + TURNS_OF_A_HISTORY] for start in range(0, len(found), TURNS_OF_A_HISTORY)]
