"""The rule that stands in for the turn segmenter where there is too little to train one on (ours).

It reads no words, so that it serves any language: whether the sentence before is a question, whether the next is one,
how long both are, and whether both are in one subtitle block. Pauses within a dialogue are not among them: of 713
pairs of sentences with a pause of up to 250 ms between them 47% are changes of speaker, of 131 with a longer one 44%
(pairs whose truth another upload's dashes tell, the first no question).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conf.errors import InputError
from etl.subtitles.turn_features import PairContext

_compute: Any = pc
RULE_FILE = "rule.json"
_FORMAT = 1
_QUESTION = r"(?:[?\x{61f}\x{ff1f}\x{37e}\x{55e}\x{1367}]|\p{Greek}\s?;)[^\p{L}\p{N}]*$"
_WORD = r"[\p{L}\p{M}\p{N}]+"
WEIGHTS: Mapping[str, float] = {
    "constant": 0.21,
    "after_question": 0.84,
    "both_questions": -1.0,
    "left_length": 0.245,
    "right_length": -0.295,
    "same_block": -0.67,
}
"""A logistic regression on MELD's and EmoryNLP's training part and the marks of 83 films, in the units of the SVM's
margin: ``subtitles.certainty.model`` tells the certainty of a decision as for the SVM."""


def questions(texts: pa.Array) -> np.ndarray:
    """Return whether each sentence ends as a question, by the marks of any script; a Greek one ends in ``;``."""
    return np.asarray(_compute.fill_null(_compute.match_substring_regex(texts, _QUESTION), False), dtype=bool)


def lengths(texts: pa.Array) -> np.ndarray:
    """Return the binary logarithm of one more than each sentence's number of words."""
    words = _compute.fill_null(_compute.count_substring_regex(texts, _WORD), 0)
    return np.log2(1.0 + np.asarray(words, dtype=np.float64))


@dataclass(frozen=True)
class RuleScorer:
    """The rule as a ``turn_scoring.PairScorer``: after a question, or before a short sentence, the other one speaks.

    Attributes:
        weights: those of :data:`WEIGHTS`, in their order.
    """

    weights: tuple[float, ...] = tuple(WEIGHTS.values())

    def __call__(self, texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext) -> np.ndarray:
        asked = questions(texts)
        length = lengths(texts)
        constant, after_question, both_questions, left_length, right_length, same_block = self.weights
        return (
            constant
            + after_question * asked[left]
            + both_questions * (asked[left] & asked[right])
            + left_length * length[left]
            + right_length * length[right]
            + same_block * (context.same_block == 1)
        )

    def save(self, folder: Path) -> None:
        """Write ``rule.json`` and ``weights.safetensors`` (one float64 of each name of :data:`WEIGHTS`)."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        about = {"rule": "questions and lengths", "format": _FORMAT}
        (folder / RULE_FILE).write_text(json.dumps(about) + "\n", "utf-8")
        named = zip(WEIGHTS, self.weights, strict=True)
        save_file({name: np.array([weight]) for name, weight in named}, folder / "weights.safetensors")

    @classmethod
    def load(cls, folder: Path) -> "RuleScorer":
        """Return the rule that :meth:`save` wrote.

        Raises:
            InputError: A file is missing or damaged, or is another version's.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            known = json.loads((folder / RULE_FILE).read_bytes()).get("format") == _FORMAT
            found = load_file(folder / "weights.safetensors")
            weights = tuple(float(found[name].item()) for name in WEIGHTS)
        except (OSError, ValueError, KeyError, AttributeError, SafetensorError) as error:
            raise InputError(f"turn segmenter {folder}: cannot be read ({error}); train it again") from error
        if not (known and np.isfinite(weights).all()):
            raise InputError(f"turn segmenter {folder}: not of this version's format; train it again")
        return cls(weights)
