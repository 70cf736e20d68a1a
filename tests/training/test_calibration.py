"""Temperature scaling: found on rows, kept with the model, and no label changed by it."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from etl.training.calibration import calibration, fitted_temperature, set_temperature, with_temperature
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.metrics import reliability, selective_curve
from udfs.models.pictures import reliability_chart, selective_chart

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


def test_certain_answers_and_no_rows() -> None:
    assert 0.05 <= fitted_temperature(np.eye(3), [0, 1, 2]) < 1
    assert with_temperature(np.array([[1.0, 0.0]]), 2.0)[0] == pytest.approx([1, 0], abs=1e-6)
    with pytest.raises(ValueError, match="no rows"):
        fitted_temperature(np.empty((0, 3)), [])


def test_a_saved_model_answers_by_its_temperature(tmp_path: Path) -> None:
    torch.manual_seed(5)
    encoder = tiny_encoder(tmp_path / "encoder")
    folder = DialogueClassifier(*load_encoder(encoder), LABELS).save(tmp_path / "model")
    assert "temperature" not in json.loads((folder / "head.json").read_text())
    items = [["i was sad", "yes"], ["so glad"]]
    before = DialogueClassifier.load(folder).probabilities(items, 8).numpy()
    set_temperature(folder, 0.25)
    model = DialogueClassifier.load(folder)
    assert model.temperature == 0.25
    assert model.probabilities(items, 8).numpy() == pytest.approx(with_temperature(before, 0.25), abs=1e-5)
    again = DialogueClassifier.load(model.save(tmp_path / "again"))
    assert again.temperature == 0.25


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


def test_the_most_confident_rows_are_told_with_their_accuracy() -> None:
    curve = selective_curve(ANSWERS, TRUTHS, steps=5)
    assert [one.rows for one in curve] == [1, 2, 3, 4, 5]
    assert [one.accuracy for one in curve] == pytest.approx([1.0, 1.0, 2 / 3, 3 / 4, 3 / 5])
    assert [one.confidence for one in curve] == [0.95, 0.85, 0.85, 0.6, 0.55]
    assert selective_curve(ANSWERS[:1], TRUTHS[:1])[0].rows == 1
    assert selective_chart(curve).rows[3] == [0.6, 3, 0.85, 0.6667]
