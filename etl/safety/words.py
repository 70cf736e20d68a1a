"""A classifier of lines that speak of danger by their words and parts of words, where there is no sentence encoder.

It needs no torch: a linear model over hashed runs of words and letters, kept in the package.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import HashingVectorizer

from conf.errors import InputError
from etl.safety.glosses import reading
from etl.safety.spelling import simplified
from etl.safety.stored import weights

WEIGHTS = "words.safetensors"
CONFIG = "words.json"
BITS = 16
"""Of the numbers of columns for runs of words, and for runs of letters."""
WORDS = (1, 3)
LETTERS = (3, 5)
LARGEST = 127


class DangerWords:
    """The classifier of one text without an encoder.

    Attributes:
        threshold: of the probability, chosen on the half of the danger set that is tuned on.
    """

    def __init__(self, coefficients: NDArray[np.int8], scale: float, bias: float, threshold: float) -> None:
        self.coefficients = coefficients
        self.scale = scale
        self.bias = bias
        self.threshold = threshold

    @classmethod
    def of(cls, coefficients: NDArray[np.float64], bias: float, threshold: float) -> "DangerWords":
        """Return a classifier with the coefficients of a linear model, in 8 bits."""
        scale = float(np.abs(coefficients).max() / LARGEST) or 1.0
        return cls(np.rint(coefficients / scale).astype(np.int8), scale, bias, threshold)

    def scores(self, texts: Sequence[str]) -> list[float]:
        """Return the probability of danger of each text, rounded to 4 digits."""
        if not texts:
            return []
        margins = counted(texts) @ self.coefficients.astype(np.float64) * self.scale + self.bias
        return [round(float(one), 4) for one in 1 / (1 + np.exp(-margins))]

    @classmethod
    def packaged(cls) -> "DangerWords":
        """Return the classifier that comes with the package."""
        with weights() as folder:
            return cls.read(folder)

    @classmethod
    def read(cls, folder: Path) -> "DangerWords":
        """Return a classifier that `save` wrote.

        Raises:
            InputError: the folder has no file of weights or of settings.
        """
        try:
            config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
            coefficients = load_file(folder / WEIGHTS)["weights"]
        except OSError as error:
            raise InputError(f"{folder}: no danger classifier ({error.strerror or error})") from None
        return cls(coefficients, config["scale"], config["bias"], config["threshold"])

    def save(self, folder: Path) -> None:
        """Write the weights and the configuration."""
        folder.mkdir(parents=True, exist_ok=True)
        save_file({"weights": self.coefficients}, folder / WEIGHTS)
        config = {"scale": self.scale, "bias": self.bias, "threshold": self.threshold}
        (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def counted(texts: Sequence[str]) -> csr_matrix:
    """Return the features of texts as `reading` gives them: runs of words and of letters, each kind of length 1."""
    plain = [re.sub("['’`]", "", simplified(reading(text))) for text in texts]
    options: dict[str, Any] = {"n_features": 2**BITS, "alternate_sign": False, "binary": True}
    words = HashingVectorizer(ngram_range=WORDS, token_pattern=r"\w+", **options)
    letters = HashingVectorizer(ngram_range=LETTERS, analyzer="char_wb", **options)
    return csr_matrix(hstack([words.transform(plain), letters.transform(plain)]))
