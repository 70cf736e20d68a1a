"""The classifier without an encoder: its features, what is stored, and the one that comes with the package."""

from pathlib import Path

import numpy as np
import pytest

from conf.errors import InputError
from etl.safety.words import BITS, DangerWords, counted

TEXTS = ["I'm so sad", "the dog was lost", "happy joy", ""]


def test_features_are_the_same_with_other_spelling_and_of_length_one() -> None:
    rows = counted(["I'm So sad!", "im so sad"]).toarray()
    assert rows.shape == (2, 2 * 2**BITS)
    for half in (rows[:, : 2**BITS], rows[:, 2**BITS :]):
        assert np.linalg.norm(half[0]) == pytest.approx(1)
    assert np.allclose(rows[0, : 2**BITS], rows[1, : 2**BITS])
    assert counted([""]).nnz == 0


def test_what_is_stored_gives_the_same_scores(tmp_path: Path) -> None:
    coefficients = np.random.default_rng(0).normal(size=2 * 2**BITS)
    model = DangerWords.of(coefficients, 0.5, 0.7)
    model.save(tmp_path)
    again = DangerWords.read(tmp_path)
    assert again.scores(TEXTS) == model.scores(TEXTS)
    assert again.threshold == 0.7
    assert again.scores([]) == []
    exact = 1 / (1 + np.exp(-(counted(TEXTS) @ coefficients + 0.5)))
    assert again.scores(TEXTS) == pytest.approx(exact.tolist(), abs=0.02)
    with pytest.raises(InputError, match="no danger classifier"):
        DangerWords.read(tmp_path / "none")


def test_the_packaged_classifier_tells_danger_from_everyday_talk() -> None:
    model = DangerWords.packaged()
    danger, harmless = model.scores(["i took all the pills and i want to die", "we baked a lemon cake on sunday"])
    assert danger >= model.threshold > harmless
