"""A chain over the borders of a film: whether a turn opens depends on the score and on the borders beside it.

A conditional random field with two states a border. The log-potential of a new turn at border i is a + b * score; two
neighbouring borders add the coupling where both open a turn. The learned borders have a truth, and the others are
summed over.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

CERTAIN = 50.0
"""Log-potential of a known state."""


@dataclass(frozen=True)
class Chains:
    """The borders of several uploads, as arrays of shape (uploads, longest).

    Attributes:
        score: the segmenter's.
        truth: 1 a new turn, 0 the same, -1 not known.
        joined: whether each border and the one before it are of one chain; a silence parts two.
        real: whether there is a border at all.
    """

    score: np.ndarray
    truth: np.ndarray
    joined: np.ndarray
    real: np.ndarray

    def rows(self, chosen: np.ndarray) -> "Chains":
        """Return the chosen uploads."""
        return Chains(self.score[chosen], self.truth[chosen], self.joined[chosen], self.real[chosen])


def forward(unary: np.ndarray, coupling: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what the borders before each say about it, and the log of the sum over all states, by upload.

    Args:
        unary: log-potential of a new turn over that of the same one.
        coupling: of each border with the one before it, where both open a turn.

    Returns:
        log-odds of the shape of ``unary``, and logs of shape (uploads,).
    """
    uploads, length = unary.shape
    found = np.zeros_like(unary)
    total = np.zeros(uploads)
    odds = np.zeros(uploads)
    for at in range(1, length):
        told = odds + unary[:, at - 1]
        same = np.logaddexp(0, told)
        odds = np.logaddexp(0, told + coupling[:, at]) - same
        total += same
        found[:, at] = odds
    return found, total + np.logaddexp(0, odds + unary[:, -1])


def backward(unary: np.ndarray, coupling: np.ndarray) -> np.ndarray:
    """Return what the borders after each say about it, see :func:`forward`."""
    found = np.zeros_like(unary)
    odds = np.zeros(len(unary))
    for at in range(unary.shape[1] - 2, -1, -1):
        told = odds + unary[:, at + 1]
        odds = np.logaddexp(0, told + coupling[:, at + 1]) - np.logaddexp(0, told)
        found[:, at] = odds
    return found


def potentials(chains: Chains, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the unary log-potentials and the couplings for a, b and the coupling."""
    constant, slope, coupling = weights
    unary = np.where(chains.real, constant + slope * chains.score, -CERTAIN)
    return unary, np.where(chains.joined, coupling, 0.0)


def known(unary: np.ndarray, chains: Chains, seen: np.ndarray) -> np.ndarray:
    """Return the log-potentials with the truth of the seen borders put in."""
    put = np.where(chains.truth == 1, CERTAIN, -CERTAIN)
    return np.where(seen & (chains.truth >= 0), put, unary)


def fitted(chains: Chains, start: tuple[float, float, float] = (0.0, 1.45, 0.0)) -> np.ndarray:
    """Return a, b and the coupling that make the known borders most probable, the others summed over."""
    told = chains.truth >= 0
    count = int(told.sum())

    def loss(weights: np.ndarray) -> float:
        unary, coupling = potentials(chains, weights)
        clamped = known(unary, chains, told)
        # Putting a truth in adds its large potential: only what the model itself gives to it counts.
        put = np.where(chains.truth == 1, CERTAIN, 0.0)
        given = np.where(chains.truth == 1, unary, 0.0)
        extra = np.where(told, given - put, 0.0).sum(axis=1)
        free = forward(unary, coupling)[1]
        return float((free - (forward(clamped, coupling)[1] + extra)).sum() / count)

    return np.asarray(minimize(loss, start, method="L-BFGS-B").x)


def log_odds(chains: Chains, weights: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return the log-odds of a new turn at each border, given the truth of the other seen borders, not of its own."""
    unary, coupling = potentials(chains, weights)
    told = known(unary, chains, seen)
    return unary + forward(told, coupling)[0] + backward(told, coupling)
