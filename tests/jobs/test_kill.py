"""SIGKILL at seeded moments, driver and Python workers: the run goes on and ends in the same tables."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.jobs.conftest import REPOSITORY, TinyRun
from tests.jobs.tables import TABLES, rows_of

SMALL_SLICES = "pipeline.slice_minutes=0.02"


def start(tiny: TinyRun, root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "jobs", "run", *tiny.arguments(root, SMALL_SLICES)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def python_workers(session: int) -> list[int]:
    """Spark's Python workers among the processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            if os.getsid(int(entry.name)) == session and b"pyspark" in command and b"daemon" in command:
                found.append(int(entry.name))
        except (OSError, ProcessLookupError):
            continue
    return found


def kill_after(tiny: TinyRun, root: Path, seconds: float, whom: str) -> bool:
    """Start a run and kill; whether the run was still going."""
    run = start(tiny, root)
    try:
        run.wait(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        pass
    if whom == "workers":
        for worker in python_workers(run.pid):
            os.kill(worker, signal.SIGKILL)
        time.sleep(1)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    return True


def killed_and_finished(tiny: TinyRun, root: Path, kills: int, seed: int) -> int:
    moments = random.Random(seed)
    killed = 0
    for number in range(kills):
        killed += kill_after(tiny, root, moments.uniform(12, 40), "workers" if number % 2 else "driver")
    done = tiny.run(root, SMALL_SLICES)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return killed


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, 10])
def test_killed_runs_end_in_the_same_tables(tiny: TinyRun, finished: Path, tmp_path: Path, kills: int) -> None:
    root = tmp_path / "lakehouse"
    assert killed_and_finished(tiny, root, kills, seed=kills) > 0
    for name in TABLES:
        assert rows_of(root, name) == rows_of(finished, name), name
    shutil.rmtree(root)
