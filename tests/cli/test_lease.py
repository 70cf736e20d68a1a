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
from etl.cli import lease
from etl.cli.lease import BEAT_SECONDS, FOLDER, SILENT_SECONDS, BeatingLease, beating, events, local_lease

HOLDS = """
import sys, time
from etl.cli.lease import local_lease
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
        refused = pytest.raises(InputError, match=rf"is in use by process {first.pid} on ")
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


def test_the_second_waits_as_long_as_it_is_told(tmp_path: Path) -> None:
    with holding(tmp_path, 1.5):
        started = time.monotonic()
        with local_lease(str(tmp_path), "a_stage", 1) as held:
            assert held
            assert 0.5 < time.monotonic() - started < 30


def test_stores_and_file_systems_without_locks_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with local_lease("s3://bucket/lake", "a_stage", 0) as held:
        assert not held

    def refused(*_: object) -> None:
        raise OSError(lease.errno.ENOTSUP, "no locks")

    monkeypatch.setattr(lease.fcntl, "flock", refused)
    with local_lease(str(tmp_path), "a_stage", 0) as held:
        assert not held


class Shared:
    """A store that several leases use, and its clock. ``others`` is what happens while a lease sleeps."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.time = 0.0
        self.others: list[BeatingLease] = []

    def read_text(self, path: str) -> str | None:
        return self.files.get(path)

    def write_text(self, path: str, text: str) -> None:
        self.files[path] = text

    def delete(self, path: str) -> None:
        self.files.pop(path, None)

    def sleep(self, seconds: float) -> None:
        beats = int((self.time + seconds) // BEAT_SECONDS) - int(self.time // BEAT_SECONDS)
        self.time += seconds
        for _ in range(beats):
            for other in self.others:
                other.beat()

    def lease(self) -> BeatingLease:
        return BeatingLease(self, "s3://bucket/lake", "a_stage", self.sleep, lambda: self.time)


def test_on_a_store_a_living_owner_is_respected_and_a_silent_one_is_not() -> None:
    shared = Shared()
    first = shared.lease()
    second = shared.lease()
    first.acquire(0)
    assert first.held()
    assert shared.time < 10
    shared.others = [first]
    with pytest.raises(InputError, match="is in use by process"):
        second.acquire(0)
    assert first.held()
    assert shared.time < 60
    shared.others = []  # it was killed
    before = shared.time
    second.acquire(0)
    assert second.held()
    assert not first.held()
    assert shared.time - before >= SILENT_SECONDS
    first.release()
    assert second.held(), "only an owner gives it back"
    second.release()
    assert shared.files == {}


def test_on_a_store_a_clock_that_went_back_changes_nothing() -> None:
    shared = Shared()
    shared.files["s3://bucket/lake/_leases/a_stage.json"] = json.dumps(
        {"owner": "x", "number": 7, "since": "2099-01-01"}
    )
    owner = shared.lease()
    owner.acquire(0)
    assert owner.held()
    shared.files["s3://bucket/lake/_leases/a_stage.json"] = "{ damaged"
    other = shared.lease()
    other.acquire(0)
    assert other.held()


def test_on_a_store_one_waits_for_the_end_of_the_other() -> None:
    shared = Shared()
    first = shared.lease()
    second = shared.lease()
    first.acquire(0)
    shared.others = [first]
    with pytest.raises(InputError):
        second.acquire(2)
    assert 120 <= shared.time < 200
    with beating(_freed(shared, first), 1):
        assert not first.held()


def _freed(shared: Shared, first: BeatingLease) -> BeatingLease:
    shared.others = []
    first.release()
    return shared.lease()


def test_the_last_of_two_that_take_it_at_once_has_it() -> None:
    shared = Shared()
    first = shared.lease()
    second = shared.lease()
    original = shared.sleep

    def meanwhile(seconds: float) -> None:
        original(seconds)
        if second._number == 0 and first._number == 1:
            second.beat()
            shared.others = [second]

    first.sleep = meanwhile
    with pytest.raises(InputError, match="in use"):
        first.acquire(0)
    assert second.held()


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
