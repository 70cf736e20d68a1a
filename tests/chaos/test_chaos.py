"""A few faults at seeded moments; ``make chaos`` tries the rest of them, with 50 kills."""

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.chaos.attacks import Field, Stopped, settings_changed, stopping, stops
from tests.chaos.tiny import Tiny, losses


@pytest.fixture()
def place(spark: SparkSession, tmp_path: Path) -> Field:
    return Field(Tiny.made(tmp_path / "tiny", films=2), tmp_path, spark)


@pytest.mark.slow
def test_a_stopped_driver_loses_and_doubles_nothing(place: Field, tables: None) -> None:
    tally = stops(place, 2, seed=3)
    assert tally.failures == []
    assert (tally.tried, tally.survived, tally.lost, tally.doubled) == (2, 2, 0, 0)


@pytest.mark.slow
def test_settings_that_change_half_way_leave_no_mixture(place: Field, tables: None) -> None:
    tally = settings_changed(place, 1, seed=1)
    assert tally.failures == []
    assert tally.survived == 1


@pytest.mark.slow
def test_the_suite_notices_lost_and_doubled_rows(place: Field, tables: None) -> None:
    root = place.undisturbed()
    rows = place.rows(root)
    assert losses(place.expected, rows) == (0, 0)
    first, *_, last = list(rows["subtitles.dialogues"])
    rows["subtitles.dialogues"].update({first: 1, last: -1})
    assert losses(place.expected, rows) == (1, 1)
    with stopping(0) as calls, pytest.raises(Stopped):
        place.run(place.root())
    assert len(calls) == 1


@pytest.mark.slow
def test_every_kind_of_fault() -> None:
    command = [sys.executable, "-m", "tests.chaos", "--kills", "6", "--stops", "8", "--trials", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
