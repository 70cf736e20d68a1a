"""What a film's own marks say about the segmenter's scores in the rest of the film (ours).

Films differ in how often the speaker changes, and in how far the segmenter is wrong about it. Where marks tell the
truth, both are seen, and the difference holds for the borders that no mark decides.
"""

from typing import NamedTuple

import numpy as np

_STEPS = 50
_LONGEST_STEP = 1.0


class FilmSpread(NamedTuple):
    """How far the segmenter's limits of films are apart.

    Attributes:
        deviation: standard deviation of the shifts of the log-odds of a new turn; 0: one limit for all films.
        slope: log-odds of a new turn for each unit of score, b of ``TurnCertainty.model``.
    """

    deviation: float
    slope: float


ONE_LIMIT = FilmSpread(0.0, 1.0)


def film_shifts(log_odds: np.ndarray, new_turn: np.ndarray, film: np.ndarray, films: int, spread: float) -> np.ndarray:
    """Return by how much the log-odds of a new turn are to be raised in each film.

    It is the most probable value if a marked border opens a turn with the odds of ``log_odds`` plus the shift, and if
    the shifts of films are normal around 0. Few marks therefore move a film little, and a film without marks keeps 0.

    Args:
        log_odds: the segmenter's, at the marked borders.
        new_turn: whether the mark opens a turn there.
        film: number of each border's film, from 0.
        films: how many films there are.
        spread: standard deviation of the shifts over films, in log-odds; 0 returns zeros.

    Returns:
        float64 of shape (films,).
    """
    shifts = np.zeros(films)
    if spread <= 0 or not len(film):
        return shifts
    precision = 1 / spread**2
    found = np.bincount(film, new_turn.astype(np.float64), films)
    for _ in range(_STEPS):
        told = 1 / (1 + np.exp(-np.clip(log_odds + shifts[film], -50, 50)))
        slope = np.bincount(film, told, films) - found + precision * shifts
        curvature = np.bincount(film, told * (1 - told), films) + precision
        # A step of Newton's method may overshoot where most borders are told with certainty.
        step = np.clip(slope / curvature, -_LONGEST_STEP, _LONGEST_STEP)
        shifts -= step
        if np.abs(step).max() < 1e-9:
            break
    return shifts
