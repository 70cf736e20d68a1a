"""The attacks within a budget of time, from a fixed seed; ``make attack`` tries 150,000 inputs."""

import random
import subprocess
import sys
import time

import pytest

from tests.attacks import suite
from tests.attacks.differential import differences
from tests.attacks.suite import LARGE_FILES, SHARES, run
from udfs.opus.parser import parse_subtitles


@pytest.mark.parametrize("seconds", [1, pytest.param(10, marks=pytest.mark.long)])
@pytest.mark.parametrize("attack", SHARES)
def test_nothing_is_lost_doubled_or_raised(attack: str, seconds: int) -> None:
    tally = run(attack, range(25), seed=1)  # whatever else the machine does
    tally.add(run(attack, range(25, 20_000), seed=1, until=time.monotonic() + seconds / len(SHARES)))
    assert tally.failures == []
    assert tally.tried == tally.survived > 20


@pytest.mark.slow
def test_large_files_end_in_time_and_memory() -> None:
    command = [sys.executable, "-m", "tests.attacks", "--inputs", "2000", "--seed", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    large = next(line for line in done.stdout.splitlines() if line.startswith("large files"))
    assert large.split()[2:4] == [str(LARGE_FILES)] * 2


def test_the_suite_notices_lost_doubled_and_slow_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    def bad(rng: random.Random, number: int) -> tuple[int, int]:
        if number == 3:
            raise KeyError("x")
        return int(number == 1), int(number == 2)

    monkeypatch.setitem(suite.ATTACKS, "zips of any bytes", bad)
    tally = run("zips of any bytes", range(5))
    assert (tally.tried, tally.survived, tally.lost, tally.doubled, len(tally.failures)) == (5, 2, 1, 1, 3)
    assert (tally.crashed, tally.named) == (1, 0)
    assert differences(b"<document><s><w>x</w></s></document>") == []
    monkeypatch.setattr("tests.attacks.differential.parse_by_tree", lambda data, truecase: parse_subtitles(b"<s/>"))
    assert differences(b"<document><s><w>x</w></s></document>") != []
