"""Temperature scaling, so that confidences are close to accuracies before labels are chosen by them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar

from udfs.models.classifiers.classifier import read_head, write_head
from udfs.models.classifiers.metrics import Probabilities, expected_calibration_error

COLDEST = 0.05
HOTTEST = 20.0


def with_temperature(probabilities: Probabilities, temperature: float) -> Probabilities:
    """Return the probabilities of the same logits divided by ``temperature``; the order of classes is kept."""
    logits = np.log(np.clip(probabilities.astype(np.float64), 1e-30, 1.0)) / temperature
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def fitted_temperature(probabilities: Probabilities, truth: Sequence[int]) -> float:
    """Return the temperature of the lowest cross-entropy on rows not trained on, to 4 decimals.

    EDOS 3.3 chooses labels by confidence without calibration. The method is Guo et al.'s (2017): one number for all
    classes, which changes no label.

    Raises:
        ValueError: no rows.
    """
    if not len(truth):
        raise ValueError("no rows to calibrate on")
    rows = np.arange(len(truth))
    known = np.asarray(truth)

    def cross_entropy(log_temperature: float) -> float:
        scaled = with_temperature(probabilities, float(np.exp(log_temperature)))
        return float(-np.log(np.clip(scaled[rows, known], 1e-30, 1.0)).mean())

    found = minimize_scalar(cross_entropy, bounds=(np.log(COLDEST), np.log(HOTTEST)), method="bounded")
    return round(float(np.exp(found.x)), 4)


def calibration(probabilities: Probabilities, truth: Sequence[int]) -> dict[str, float]:
    """Return the temperature, and the expected calibration error before and after it.

    Args:
        probabilities: (rows, classes), of rows not trained on, at temperature 1.
        truth: class ids.
    """
    temperature = fitted_temperature(probabilities, truth)
    return {
        "temperature": temperature,
        "calibration_error_before": expected_calibration_error(probabilities, truth),
        "calibration_error_after": expected_calibration_error(with_temperature(probabilities, temperature), truth),
    }


def set_temperature(folder: Path, temperature: float) -> None:
    """Write the temperature into a saved classifier."""
    write_head(folder, {**read_head(folder), "temperature": temperature})
