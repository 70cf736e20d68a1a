"""The attacks within a budget of time, from a fixed seed; ``make attack`` tries 100,000 inputs."""

import time

import pytest

from tests.attacks.suite import LARGE_FILES, SHARES, run

SECONDS = 20.0


@pytest.mark.parametrize("attack", SHARES)
def test_nothing_is_lost_doubled_or_raised(attack: str) -> None:
    tally = run(attack, range(20_000), seed=1, until=time.monotonic() + SECONDS / len(SHARES))
    assert tally.failures == []
    assert tally.tried == tally.survived > 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", range(LARGE_FILES))
def test_large_files_end_in_time(kind: int) -> None:
    tally = run("large files", [kind])
    assert tally.failures == []
    assert tally.peak < 1_500
