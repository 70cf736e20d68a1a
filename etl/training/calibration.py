"""Confidences that are close to accuracies, before labels are chosen by them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize, minimize_scalar

from udfs.models.classifiers.classifier import read_head, with_confidence, write_head
from udfs.models.classifiers.metrics import Probabilities, expected_calibration_error

COLDEST = 0.05
HOTTEST = 20.0
FLATTEST = 0.05
"""Least slope of `with_confidence`: a more certain answer stays one."""
FEW_ROWS = 5
"""Weight of the penalty on offset and slope, which keeps them near 0 and 1 where few rows speak."""


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


def fitted_confidence(probabilities: Probabilities, truth: Sequence[int]) -> tuple[float, float]:
    """Return offset and slope of `with_confidence`, to 4 decimals: a logistic regression on the confidence's log-odds.

    A temperature follows the probabilities of all classes; what users read is the largest one, which can be too high
    where it is high and too low where it is low (Platt's scaling of it). With few rows both stay near no change.

    Args:
        probabilities: (rows, classes), of rows not trained on.
        truth: class ids.
    """
    confidence = np.clip(probabilities.max(axis=1).astype(np.float64), 1e-6, 1 - 1e-6)
    log_odds = np.log(confidence / (1 - confidence))
    signs = np.where(probabilities.argmax(axis=1) == np.asarray(truth), 1.0, -1.0)

    def cost(given: Any) -> float:
        offset, slope = given
        missed = np.logaddexp(0, -signs * (offset + slope * log_odds)).sum()
        return float(missed + FEW_ROWS * (offset**2 + (slope - 1) ** 2))

    found = minimize(cost, (0.0, 1.0), bounds=((None, None), (FLATTEST, None)), method="L-BFGS-B")
    return round(float(found.x[0]), 4), round(float(found.x[1]), 4)


def calibration(probabilities: Probabilities, truth: Sequence[int], *, confidence: bool = False) -> dict[str, float]:
    """Return the calibration of a classifier, and its expected calibration error before and after.

    The temperature is 1 where the fitted one makes this error larger: the cross-entropy also counts the other classes,
    which smoothed labels keep probable.

    Args:
        probabilities: (rows, classes), of rows not trained on, at temperature 1.
        truth: class ids.
        confidence: whether the largest probability is calibrated after the temperature, too.

    Returns:
        ``temperature``, with ``confidence`` also ``confidence_offset`` and ``confidence_slope``, and
        ``calibration_error_before`` and ``calibration_error_after``.
    """
    before = expected_calibration_error(probabilities, truth)
    temperature = fitted_temperature(probabilities, truth)
    answers = with_temperature(probabilities, temperature)
    if expected_calibration_error(answers, truth) > before:
        temperature, answers = 1.0, probabilities
    figures = {"temperature": temperature}
    if confidence:
        offset, slope = fitted_confidence(answers, truth)
        figures |= {"confidence_offset": offset, "confidence_slope": slope}
        answers = with_confidence(torch.from_numpy(answers), offset, slope).numpy()
    figures["calibration_error_before"] = before
    figures["calibration_error_after"] = expected_calibration_error(answers, truth)
    return figures


def set_calibration(folder: Path, figures: Mapping[str, float]) -> None:
    """Write what `calibration` found into a saved classifier."""
    head = {**read_head(folder), "temperature": figures["temperature"]}
    if "confidence_slope" in figures:
        head["confidence"] = [figures["confidence_offset"], figures["confidence_slope"]]
    write_head(folder, head)
