"""Two runs on one lakehouse: the second waits or refuses, and a killed one holds nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conf.errors import InputError
from conf.settings import load_settings
from etl.pipeline import lease
from etl.pipeline.lease import FOLDER, events, leased, local_lease

HOLDS = """
import sys, time
from etl.pipeline.lease import local_lease
with local_lease(sys.argv[1], "a_stage", 0) as held:
    print(held, flush=True)
    time.sleep(float(sys.argv[2]))
"""


def holding(root: Path, seconds: float) -> subprocess.Popen[str]:
    """A process that holds the lease by now."""
    found = subprocess.Popen([sys.executable, "-c", HOLDS, str(root), str(seconds)], stdout=subprocess.PIPE, text=True)
    assert found.stdout is not None
    assert found.stdout.readline() == "True\n"
    return found


def test_the_second_refuses_in_one_line_and_names_the_first(tmp_path: Path) -> None:
    with holding(tmp_path / "lake", 60) as first:
        refused = pytest.raises(
            InputError, match=rf"is in use by process {first.pid} on .* since \d\d\d\d-.* UTC: wait"
        )
        with refused as error, local_lease(str(tmp_path / "lake"), "a_stage", 0):
            pytest.fail("it is held")
        assert "\n" not in str(error.value)
        assert "pipeline.wait_minutes" in str(error.value)
        for root, stage in (("other", "a_stage"), ("lake", "another_stage")):
            with local_lease(str(tmp_path / root), stage, 0) as held:
                assert held
        first.kill()


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_run_holds_nothing(tmp_path: Path, stop: signal.Signals) -> None:
    with holding(tmp_path, 60) as first:
        os.kill(first.pid, stop)
        first.wait()
    with local_lease(str(tmp_path), "a_stage", 0) as held:
        assert held
        assert json.loads((tmp_path / FOLDER / "a_stage").read_text())["process"] == os.getpid()
    with local_lease(f"file:{tmp_path}", "a_stage", 0) as held:
        assert held


def test_the_second_waits_as_long_as_it_is_told_and_says_once_for_what(tmp_path: Path) -> None:
    said: list[str] = []
    with holding(tmp_path, 4) as first:
        started = time.monotonic()
        with local_lease(str(tmp_path), "a_stage", 1, said.append) as held:
            assert held
            assert 0.5 < time.monotonic() - started < 30
    (line,) = said
    assert f"a_stage of the lakehouse {tmp_path} is in use by process {first.pid} on " in line
    assert line.endswith(" UTC: waits for it, at most 1 min")


def test_stores_and_file_systems_without_locks_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with local_lease("s3://bucket/lake", "a_stage", 0) as held:
        assert not held

    def refused(*_: object) -> None:
        raise OSError(lease.errno.ENOTSUP, "no locks")

    monkeypatch.setattr(lease.fcntl, "flock", refused)
    with local_lease(str(tmp_path), "a_stage", 0) as held:
        assert not held


def test_a_lakehouse_on_a_store_is_worked_at_without_a_lock() -> None:
    settings = load_settings("local", [], {"lakehouse.root": "s3://bucket/lake"})
    with leased(settings, "a_stage"), leased(settings, "a_stage"):
        pass


def test_another_runs_events_are_noticed(tmp_path: Path) -> None:
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path)})
    log = tmp_path / "ops/stage_runs/_delta_log"
    seen = [events(None, settings)]  # type: ignore[arg-type]
    log.mkdir(parents=True)
    for number in (0, 9, 10):
        (log / f"{number:020d}.json").touch()
        seen.append(events(None, settings))  # type: ignore[arg-type]
    assert len(set(seen)) == 4
    assert seen == sorted(seen)
