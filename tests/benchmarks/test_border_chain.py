"""The chain over borders, against sums over all states by hand."""

from itertools import product

import numpy as np
import pytest

from tests.benchmarks.border_chain import Chains, fitted, forward, log_odds

WEIGHTS = np.array([-0.3, 1.2, -0.8])


def chains_of(score: list[float], truth: list[int], parted: tuple[int, ...] = ()) -> Chains:
    """Return one upload's chain, parted before the borders of these numbers."""
    joined = np.array([at > 0 and at not in parted for at in range(len(score))])
    return Chains(np.array([score]), np.array([truth]), joined[None], np.ones((1, len(score)), dtype=bool))


def by_hand(chains: Chains, border: int, given: dict[int, int]) -> float:
    """Return the log-odds of a border from the sum over all states of the others."""
    constant, slope, coupling = WEIGHTS
    sums = [0.0, 0.0]
    for states in product((0, 1), repeat=chains.score.shape[1]):
        if any(states[at] != state for at, state in given.items() if at != border):
            continue
        value = sum(
            state * (constant + slope * score) for state, score in zip(states, chains.score[0], strict=True)
        ) + sum(coupling * states[at] * states[at - 1] for at in range(1, len(states)) if chains.joined[0, at])
        sums[states[border]] += np.exp(value)
    return float(np.log(sums[1] / sums[0]))


@pytest.mark.parametrize(
    ("truth", "parted"),
    [
        ([-1, -1, -1, -1, -1], ()),
        ([1, -1, 0, -1, 1], ()),
        ([1, 0, 1, 1, 0], (2,)),
        ([-1, 1, -1, -1, -1], (1, 3)),
    ],
)
@pytest.mark.parametrize("seen", [False, True])
def test_log_odds_are_those_of_the_sum_over_all_states(truth: list[int], parted: tuple[int, ...], seen: bool) -> None:
    chains = chains_of([0.4, -1.1, 2.0, 0.1, -0.2], truth, parted)
    found = log_odds(chains, WEIGHTS, np.full((1, 5), seen))[0]
    given = {at: state for at, state in enumerate(truth) if state >= 0} if seen else {}
    assert found == pytest.approx([by_hand(chains, border, given) for border in range(5)])


def test_the_log_of_the_sum_counts_every_state() -> None:
    total = forward(np.zeros((1, 6)), np.zeros((1, 6)))[1]
    assert total == pytest.approx(6 * np.log(2))


@pytest.mark.parametrize("coupling", [-1.5, 0.0, 1.0])
def test_the_coupling_of_drawn_chains_is_found(coupling: float) -> None:
    random = np.random.default_rng(11)
    uploads, length = 60, 60
    score = random.normal(0, 1, (uploads, length))
    joined = np.ones((uploads, length), dtype=bool)
    joined[:, 0] = False
    drawn = random.integers(0, 2, (uploads, length))
    for _ in range(30):
        for at in range(length):
            beside = sum(drawn[:, other] for other in (at - 1, at + 1) if 0 <= other < length)
            odds = -0.3 + 1.2 * score[:, at] + coupling * beside
            drawn[:, at] = random.random(uploads) < 1 / (1 + np.exp(-odds))
    truth = np.where(random.random((uploads, length)) < 0.7, drawn, -1)
    weights = fitted(Chains(score, truth, joined, np.ones_like(joined)))
    assert weights[2] == pytest.approx(coupling, abs=0.3)
    assert weights[1] == pytest.approx(1.2, abs=0.2)
