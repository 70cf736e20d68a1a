"""Temperature scaling: found on rows, kept with the model, and no label changed by it."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from etl.training.calibration import (
    FLATTEST,
    calibration,
    fitted_confidence,
    fitted_temperature,
    set_calibration,
    with_temperature,
)
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.classifier import load_encoder, with_confidence
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.metrics import reliability
from udfs.models.pictures import reliability_chart

LABELS = ("sad", "glad", "neutral")


def drawn(temperature: float, rows: int = 6000, seed: int = 4) -> tuple[np.ndarray, list[int]]:
    """Answers of a model whose logits are ``temperature`` times too large, and the truth they were drawn from."""
    random = np.random.default_rng(seed)
    logits = random.normal(scale=1.5, size=(rows, 5))
    honest = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truth = [int(random.choice(5, p=row)) for row in honest]
    said = np.exp(logits * temperature)
    return said / said.sum(axis=1, keepdims=True), truth


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_the_temperature_that_was_put_in_is_found(temperature: float) -> None:
    probabilities, truth = drawn(temperature)
    assert fitted_temperature(probabilities, truth) == pytest.approx(temperature, rel=0.08)


def test_calibration_lowers_the_error_and_keeps_labels() -> None:
    probabilities, truth = drawn(3.0)
    figures = calibration(probabilities, truth)
    assert figures["calibration_error_before"] > 0.15
    assert figures["calibration_error_after"] < 0.03
    warmed = with_temperature(probabilities, figures["temperature"])
    assert np.array_equal(warmed.argmax(axis=1), probabilities.argmax(axis=1))
    assert warmed.sum(axis=1) == pytest.approx(1)


def test_no_temperature_where_it_makes_the_error_larger() -> None:
    # The largest probability is right as often as it says; a class that never comes up has some of the rest.
    answers = np.tile([0.6, 0.37, 0.03], (1000, 1))
    truth = [0] * 600 + [1] * 400
    assert fitted_temperature(answers, truth) < 0.97
    figures = calibration(answers, truth)
    assert figures["temperature"] == 1
    assert figures["calibration_error_after"] == figures["calibration_error_before"] < 0.01


def test_certain_answers_and_no_rows() -> None:
    assert 0.05 <= fitted_temperature(np.eye(3), [0, 1, 2]) < 1
    assert with_temperature(np.array([[1.0, 0.0]]), 2.0)[0] == pytest.approx([1, 0], abs=1e-6)
    with pytest.raises(ValueError, match="no rows"):
        fitted_temperature(np.empty((0, 3)), [])


def overconfident(rows: int = 6000) -> tuple[np.ndarray, list[int]]:
    """Answers whose largest probability is too high where it is high, and too low where it is low."""
    random = np.random.default_rng(7)
    told = random.uniform(0.3, 0.99, rows)
    right = random.uniform(size=rows) < 0.4 + 0.4 * told
    probabilities = np.column_stack([told, *(((1 - told) / 4) for _ in range(4))])
    return probabilities, [0 if one else int(random.integers(1, 5)) for one in right]


def test_confidence_is_mended_where_a_temperature_does_not() -> None:
    probabilities, truth = overconfident()
    by_temperature = calibration(probabilities, truth)
    figures = calibration(probabilities, truth, confidence=True)
    assert by_temperature["calibration_error_after"] > 0.06
    assert figures["calibration_error_after"] < 0.03
    assert figures["temperature"] == by_temperature["temperature"]
    assert 0 < figures["confidence_slope"] < 1


def test_few_rows_move_a_confidence_little_and_never_turn_it_round() -> None:
    assert fitted_confidence(np.array([[0.6, 0.4]]), [0]) == pytest.approx((0, 1), abs=0.1)
    surest_is_wrong = np.array([[0.99, 0.01]] * 300 + [[0.51, 0.49]] * 300)
    offset, slope = fitted_confidence(surest_is_wrong, [1] * 300 + [0] * 300)
    assert slope == FLATTEST
    assert -1 < offset < 1


@pytest.mark.parametrize(("offset", "slope"), [(-2.0, 0.1), (0.0, 0.7), (1.5, 3.0), (-30.0, 1.0), (30.0, 1.0)])
def test_no_label_changes_with_the_confidence(offset: float, slope: float) -> None:
    random = torch.Generator().manual_seed(3)
    before = torch.softmax(3 * torch.randn(2000, 41, generator=random), dim=-1)
    certain = torch.cat([before, torch.eye(41)])
    after = with_confidence(certain, offset, slope)
    assert torch.equal(after.argmax(dim=-1), certain.argmax(dim=-1))
    assert torch.allclose(after.sum(dim=-1), torch.ones(len(after)), atol=1e-4)
    assert bool((after >= 0).all())
    assert torch.equal(with_confidence(certain, 0.0, 1.0), certain)


def test_the_other_labels_keep_their_proportions() -> None:
    before = torch.tensor([[0.6, 0.3, 0.1]])
    after = with_confidence(before, 0.0, 0.5)
    assert after[0, 0] == pytest.approx(1 / (1 + (0.4 / 0.6) ** 0.5), abs=1e-5)
    assert after[0, 1] / after[0, 2] == pytest.approx(3, abs=1e-4)


def test_a_saved_model_answers_by_its_temperature(tmp_path: Path) -> None:
    torch.manual_seed(5)
    encoder = tiny_encoder(tmp_path / "encoder")
    folder = DialogueClassifier(*load_encoder(encoder), LABELS).save(tmp_path / "model")
    assert "temperature" not in json.loads((folder / "head.json").read_text())
    items = [["i was sad", "yes"], ["so glad"]]
    before = DialogueClassifier.load(folder).probabilities(items, 8).numpy()
    set_calibration(folder, {"temperature": 0.25})
    model = DialogueClassifier.load(folder)
    assert model.temperature == 0.25
    assert model.probabilities(items, 8).numpy() == pytest.approx(with_temperature(before, 0.25), abs=1e-5)
    again = DialogueClassifier.load(model.save(tmp_path / "again"))
    assert again.temperature == 0.25
    set_calibration(folder, {"temperature": 1.0, "confidence_offset": 0.2, "confidence_slope": 0.5})
    model = DialogueClassifier.load(folder)
    expected = with_confidence(torch.from_numpy(before), 0.2, 0.5).numpy()
    assert model.probabilities(items, 8).numpy() == pytest.approx(expected, abs=1e-5)
    assert DialogueClassifier.load(model.save(tmp_path / "third")).confidence == [0.2, 0.5]


ANSWERS = np.array([[0.95, 0.05], [0.15, 0.85], [0.85, 0.15], [0.4, 0.6], [0.55, 0.45]])
TRUTHS = [0, 1, 1, 1, 1]


def test_accuracy_is_told_by_bins_of_confidence() -> None:
    bins = reliability(ANSWERS, TRUTHS, bins=5)
    assert [one.rows for one in bins] == [0, 0, 1, 1, 3]
    assert bins[2] == (0.4, 0.6, 1, pytest.approx(0.55), 0.0)
    assert bins[4] == (0.8, 1.0, 3, pytest.approx((0.95 + 0.85 + 0.85) / 3), pytest.approx(2 / 3))
    assert bins[0] == (0.0, 0.2, 0, None, None)
    chart = reliability_chart(bins)
    assert chart.rows[0] == ["low", "high", "rows", "confidence", "accuracy"]
    assert chart.rows[5] == [0.8, 1.0, 3, 0.8833, 0.6667]
