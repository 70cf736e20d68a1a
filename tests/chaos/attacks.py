"""Faults on the tiny pipeline: each must end in the rows of an undisturbed run, if need be after the cure it names.

Every attack gets a budget of trials and a seed, and returns a tally of ``tests.attacks.suite``.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from etl.pipeline.lakehouse import Lakehouse
from tests.attacks.suite import Tally
from tests.chaos.tiny import COMPARED, Rows, Tiny, losses, rows_of

COMMITS = ("append", "replace", "delete", "delete_keys", "ensure")
DISK = tuple(name for name in COMPARED if name != "ops.dropped")
FAULT = re.compile(r"^edos-lakehouse: .+: .+$")


class Stopped(BaseException):
    """The driver stops here."""


@contextmanager
def stopping(at: int | None, when: str = "before") -> Iterator[list[str]]:
    """Stop before or after call number ``at`` that may commit; the list gets the name of each call."""
    calls: list[str] = []
    inside = False

    def wrapped(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Lakehouse, *arguments: Any, **named: Any) -> Any:
            nonlocal inside
            if inside:
                return real(self, *arguments, **named)
            calls.append(f"{name} {arguments[0].name}")
            now = len(calls) - 1 == at
            if now and when == "before":
                raise Stopped
            inside = True
            try:
                result = real(self, *arguments, **named)
            finally:
                inside = False
            if now:
                raise Stopped
            return result

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in COMMITS:
            patch.setattr(Lakehouse, name, wrapped(name, getattr(Lakehouse, name)))
        yield calls


@dataclass
class Field:
    """Where attacks take place: a corpus, a folder for lakehouses, a session, and the rows of an undisturbed run."""

    tiny: Tiny
    folder: Path
    spark: SparkSession | None
    expected: Rows = field(default_factory=dict)
    number: int = 0

    def root(self) -> Path:
        """Return the folder of a new lakehouse."""
        self.number += 1
        return self.folder / f"lake{self.number}"

    def undisturbed(self) -> Path:
        """Run the pipeline once; returns the lakehouse's folder."""
        root = self.root()
        assert self.spark is not None
        self.tiny.run(self.spark, root)
        self.expected = self.rows(root)
        assert all(self.expected.values()), "the tiny corpus fills every table"
        return root

    def rows(self, root: Path) -> Rows:
        """Return a lakehouse's rows."""
        return rows_of(self.spark, self.tiny.settings(root))

    def run(self, root: Path, **more: object) -> None:
        """Run the pipeline in this process."""
        assert self.spark is not None
        self.tiny.run(self.spark, root, **more)

    def judge(self, tally: Tally, root: Path, what: str, problem: str = "", keep: bool = False) -> None:
        """Count one trial, and remove its lakehouse."""
        lost, doubled = losses(self.expected, self.rows(root))
        problem = problem or (f"{lost} lost, {doubled} doubled" if lost or doubled else "")
        tally.tried = tally.tried + 1
        tally.survived = tally.survived + (not problem)
        tally.lost = tally.lost + lost
        tally.doubled = tally.doubled + doubled
        if problem:
            tally.failures.append(f"{tally.attack}: {what}: {problem}")
        print(f"{tally.attack}: {tally.tried} tried, {len(tally.failures)} failed", file=sys.stderr, flush=True)
        if not keep:
            shutil.rmtree(root, ignore_errors=True)


def stops(place: Field, most: int, seed: int) -> Tally:
    """The driver stops before or after a commit, in a new lakehouse each time, and is started again."""
    tally = Tally("stop before or after a commit")
    with stopping(None) as calls:
        place.undisturbed()
    moments = [(at, when) for at in range(len(calls)) for when in ("before", "after")]
    for at, when in sorted(random.Random(seed).sample(moments, min(most, len(moments)))):
        root = place.root()
        with stopping(at, when):
            try:
                place.run(root)
                problem = "was not stopped"
            except Stopped:
                problem = ""
        place.run(root)
        place.judge(tally, root, f"{when} {calls[at]} ({at})", problem)
    return tally


def settings_changed(place: Field, most: int, seed: int) -> Tally:
    """A run under other settings stops half way; the next one has the right settings."""
    tally = Tally("settings changed half way")
    with stopping(None) as calls:
        place.undisturbed()
    for at in sorted(random.Random(seed).sample(range(len(calls)), min(most, len(calls)))):
        root = place.root()
        with stopping(at, "after"), suppress(Stopped):
            place.run(root, subtitles__silence_seconds=2, subtitles__uploads_per_film=0, subtitles__truecase=False)
        place.run(root)
        place.judge(tally, root, f"after {calls[at]} ({at})")
    return tally


def deleted_folders(place: Field, most: int, seed: int) -> Tally:
    """Somebody deletes the folder of a table."""
    tally = Tally("deleted table folder")
    root = place.undisturbed()
    for name in random.Random(seed).sample(COMPARED, min(most, len(COMPARED))):
        shutil.rmtree(Path(root, *name.split(".")))
        _forget_logs(place)
        place.run(root)
        place.judge(tally, root, name, keep=True)
    return tally


def _forget_logs(place: Field) -> None:
    """Let the session read the logs of tables again, as a new one would."""
    assert place.spark is not None
    assert place.spark._jvm is not None
    place.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    place.spark.catalog.clearCache()


def input_changes(place: Field, most: int, seed: int) -> Tally:
    """Films come, change and go between runs, some of which are stopped; in the end the input is as it was."""
    tally = Tally("growing and withdrawn input")
    choose = random.Random(seed)
    root = place.undisturbed()
    for trial in range(most):
        film = place.tiny.add_film(50 + trial)
        with stopping(choose.randrange(12), choose.choice(("before", "after"))), suppress(Stopped):
            place.run(root)
        shutil.rmtree(film)
        place.run(root)
        place.judge(tally, root, f"film {film.name}", keep=True)
    return tally


def kills(place: Field, most: int, seed: int) -> Tally:
    """SIGKILL of the driver, of a Python worker, or of the JVM; the next run goes on in the same lakehouse."""
    tally = Tally("SIGKILL of driver, worker, JVM")
    choose = random.Random(seed)
    usual = _seconds_of_a_run(place)
    root = place.root()
    waiting = []
    for number in range(most):
        whom = ("driver", "worker", "jvm")[number % 3]
        waiting.append(f"{whom} of trial {number}")
        problem = _killed(place, root, whom, usual * choose.uniform(0.3, 0.95))
        if problem == "":
            waiting.pop()  # the run had ended before
        if problem is None and number < most - 1:
            continue  # the next trial goes on from here
        done = place.tiny.child(root)
        text, _ = done.communicate()
        problem = problem or ("" if done.returncode == 0 else f"ended with {done.returncode}: {text[-500:]}")
        before = tally.survived
        place.judge(tally, root, ", ".join(waiting), problem)
        tally.tried += len(waiting) - 1
        tally.survived = before + len(waiting) * (tally.survived - before)
        root = place.root()
        waiting = []
    return tally


def _seconds_of_a_run(place: Field) -> float:
    root = place.root()
    began = time.monotonic()
    done = place.tiny.child(root)
    text, _ = done.communicate()
    assert done.returncode == 0, text[-2000:]
    place.expected = place.rows(root)
    shutil.rmtree(root)
    return time.monotonic() - began


def _killed(place: Field, root: Path, whom: str, seconds: float) -> str | None:
    """Start a run and kill a process of it; None if it was killed, empty if it ended before, else what is wrong."""
    run = place.tiny.child(root)
    with suppress(subprocess.TimeoutExpired):
        run.communicate(timeout=seconds)
        return "" if run.returncode == 0 else f"ended with {run.returncode} before it was killed"
    victim = _process(run.pid, whom)
    until = time.monotonic() + 20
    while victim is None and time.monotonic() < until and run.poll() is None:
        time.sleep(0.05)
        victim = _process(run.pid, whom)
    with suppress(ProcessLookupError):
        if victim is not None:
            os.kill(victim, signal.SIGKILL)
    text, _ = run.communicate()
    _end_session(run.pid)
    if whom == "driver" or run.returncode == 0:
        return None if run.returncode else ""
    last = text.strip().splitlines()[-1]
    told = FAULT.match(last) and "Traceback" not in text and "Py4J" not in last
    return None if told else f"the {whom}'s end was told as {text.partition('Traceback')[2][-2000:] or last!r}"


def processes(session: int) -> dict[int, tuple[int, bytes]]:
    """Return parent and command line of each process of a session."""
    found = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError, ProcessLookupError):
            if os.getsid(int(entry.name)) == session:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                found[int(entry.name)] = (parent, (entry / "cmdline").read_bytes())
    return found


def _process(session: int, whom: str) -> int | None:
    """Return a process of a run: its driver, its Java process, or a Python worker (a child of Spark's daemon)."""
    if whom == "driver":
        return session
    found = processes(session)
    daemons = {process for process, (_, command) in found.items() if b"daemon" in command}
    if whom == "jvm":
        return next((process for process, (_, command) in found.items() if b"java" in command.split(b"\0")[0]), None)
    return next((process for process in sorted(daemons, reverse=True) if found[process][0] in daemons), None)


def _end_session(session: int) -> None:
    """Wait until the rest of a killed run has ended, and end what has not after a minute."""
    until = time.monotonic() + 60
    while (left := processes(session)) and time.monotonic() < until:
        time.sleep(0.2)
    for process in left:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


ATTACKS = (stops, settings_changed, deleted_folders, input_changes, kills)
