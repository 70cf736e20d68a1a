"""Report progress stage by stage, with the time left."""

import math
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from pyspark.sql import SparkSession

from etl.pipeline.incremental import BatchPlan
from etl.pipeline.lineage import StageEvent
from etl.pipeline.spark_api import TaskCounts, running_tasks

TERMINAL_SECONDS = 1.0
FIRST_SECONDS = 30.0
MOST_SECONDS = 60.0
"""Seconds between two lines of a running stage in a log: at first, and at most."""

PATIENCE_SECONDS = 60.0
"""Seconds in which no executor works on the tasks that wait, after which a line says so."""

LEAST_SHARE = 0.1
"""Share of a stage's cost that is done before the time left is estimated."""
FIRM_SECONDS = 30.0
"""Seconds of stages after which their own pace counts as much as what was expected of them."""
LATE = 0.2
"""A stage that takes longer than expected still takes this share of its time so far, at least."""


class Progress:
    """Writes lines about the running stage: its progress and its result.

    Args:
        spark: whose running tasks are counted.
        stages: number of stages in the run.
        out: where to write; standard output by default.
    """

    def __init__(self, spark: SparkSession, stages: int, out: TextIO | None = None) -> None:
        self._spark = spark
        self._stages = stages
        self._out = out or sys.stdout
        # A notebook's output is no terminal, and writes a line again all the same.
        self._redraws = self._out.isatty() or type(self._out).__module__.startswith("ipykernel")
        self._number = 0
        self._lock = threading.Lock()
        self._line = ""
        self._new = ""
        self._begin("")
        self._ahead: dict[str, float] = {}
        self._expected = 0.0
        self._spent = FIRM_SECONDS
        self._foreseen = FIRM_SECONDS
        self._stage_began = 0.0
        self._stage_ended: float | None = None
        self._share = self._at = 0.0
        self._printed: set[str] = set()

    def expect(self, seconds: Mapping[str, float]) -> None:
        """Take the seconds of the stages that will run, from which the time left is told; {}: nothing is known."""
        self._ahead = dict(seconds)

    def say(self, text: str) -> None:
        with self._lock:
            self._clear()
            print(f"         {text}", file=self._out, flush=True)

    def say_once(self, text: str) -> None:
        """Write a line that holds for the whole run, the first time only."""
        if text not in self._printed:
            self._printed.add(text)
            self.say(text)

    @contextmanager
    def stage(self, name: str, why: str | None) -> Iterator[None]:
        """Report one stage while it runs; ``why`` is None for one without work."""
        self._number += 1
        self._new = ""
        head = f"[{self._number:2d}/{self._stages}] {name}"
        if why is None:
            print(f"{head}: nothing to do", file=self._out, flush=True)
            yield
            self._stage_ended = None
            return
        self._share = self._at = 0.0
        self._expected = self._ahead.pop(name, 0.0)
        print(f"{head} ({why}){self._left(0.0)}", file=self._out, flush=True)
        self._begin("")
        self._stage_began = self._began
        stop = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(stop,), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join(timeout=2)
            if self._expected:
                # With the time in which it was planned, which nothing foresees.
                ended = time.monotonic()
                self._spent += ended - (self._stage_began if self._stage_ended is None else self._stage_ended)
                self._stage_ended = ended
                self._foreseen += self._expected
            self._expected = 0.0
            with self._lock:
                self._clear()

    def _left(self, passed: float) -> str:
        """Return how long the run still takes at the pace of its stages so far; "" where it is not known.

        Args:
            passed: seconds of the running stage so far.
        """
        if not self._expected:
            return ""
        ahead = sum(self._ahead.values())
        left = seconds_left(self._expected, passed, ahead, self._spent, self._foreseen, self._share, self._at)
        return f", about {duration(in_steps(left))} left of the run"

    def done(self, event: StageEvent) -> None:
        if event.rows_out is None:
            self.say(f"{event.stage}: done in {event.seconds:.0f} s")
            return
        parts = [f"{event.rows_in or 0:,} {event.unit} in{self._new}", f"{event.rows_out:,} out"]
        if event.rows_dropped:
            parts.append(f"{event.rows_dropped:,} dropped")
        if event.rows_quarantined:
            parts.append(f"{event.rows_quarantined:,} quarantined")
        self.say(f"{', '.join(parts)} in {event.seconds:.0f} s")

    def tell_new(self, plan: BatchPlan, unit: str) -> None:
        """Let `done` say how much of the running stage's input is new or changed; ``unit`` is as of `batches`."""
        self._new = f" ({sum(units for units, _ in plan.work.values()):,} {unit} new or changed)"

    def batches(self, plan: BatchPlan, unit: str) -> Iterator[int]:
        """Yield the numbers of batches with work; in and after each, report progress and the time left.

        Args:
            unit: what a batch counts, in the plural.
        """
        total = sum(cost for _, cost in plan.work.values())
        started = 0.0
        finished = first = 0.0
        shortest = float("inf")
        for place, (number, (units, cost)) in enumerate(plan.work.items(), start=1):
            name = f"batch {place} of {len(plan.work)}: " if len(plan.work) > 1 else ""
            self._begin(f"{name}{units:,} {unit}, ")
            yield number
            now = time.monotonic()
            finished = finished + cost
            self._share, self._at = finished / max(total, 1e-9), now - self._stage_began
            shortest = min(shortest, now - self._began)
            others = len(plan.work) - place
            if place == 1:
                # Processes and models start in the first batch, which tells the most that the others can take.
                started, first = now, finished
                word, spent, done = "at most", started - self._began, finished
            else:
                word, spent, done = "about", now - started, finished - first
            if others:
                share = done / max(total, 1e-9)
                # A batch takes its time however little it costs; from a tiny first one nothing follows for the others.
                left = max(spent * (total - finished) / max(done, 1e-9), others * shortest)
                remaining = f", {word} {duration(left)} left" if share >= LEAST_SHARE else ""
                self.say(f"batch {place} of {len(plan.work)} committed{remaining}")
        self._begin("")

    def _begin(self, batch: str) -> None:
        self._batch = batch
        self._began = time.monotonic()

    def _watch(self, stop: threading.Event) -> None:
        interval = TERMINAL_SECONDS if self._redraws else FIRST_SECONDS
        at_work = began = time.monotonic()
        while not stop.wait(interval):
            if not self._redraws:
                interval = min(interval * 1.5, MOST_SECONDS)
            running = self._running()
            now = time.monotonic()
            if running.at_work or running.done == running.tasks:
                at_work = now
            left = self._left(now - began)
            if not running.tasks and not (left and self._redraws):
                continue
            if now - at_work >= PATIENCE_SECONDS:
                self.say_once(
                    "no executor has worked on the waiting tasks for a minute: this machine is busy, or the cluster "
                    "has none free or cannot start one (its workers' logs say why: no space left, too little memory)"
                )
            tasks = f"{running.done:,} of {running.tasks:,} tasks, " if running.tasks else ""
            text = f"         {self._batch}{tasks}{duration(now - self._began)} so far{left}"
            with self._lock:
                if self._redraws:
                    self._clear()
                    self._line = text
                    print(text, end="", file=self._out, flush=True)
                else:
                    print(text, file=self._out, flush=True)

    def _running(self) -> TaskCounts:
        try:
            return running_tasks(self._spark)
        except Exception:  # the session is going down, or its Java names are closed: nothing to tell
            return TaskCounts(0, 0, 0)

    def _clear(self) -> None:
        if self._line:
            print("\r" + " " * len(self._line) + "\r", end="", file=self._out, flush=True)
            self._line = ""


def seconds_left(
    expected: float, passed: float, ahead: float, spent: float, foreseen: float, share: float = 0.0, at: float = 0.0
) -> float:
    """Return how many seconds a run still takes at the pace of its stages so far.

    Args:
        expected: of the running stage, before it began.
        passed: of it so far.
        ahead: expected of all stages behind it.
        spent: of the stages before it.
        foreseen: what was expected of those.
        share: how much of the running stage's work was done after ``at`` seconds of it; 0 where that is not known.
    """
    if share >= LEAST_SHARE:  # what it has done tells more than what was expected
        whole = max(at / share, passed)
        return max(whole - passed, LATE * (passed - at)) + ahead * (spent + whole) / (foreseen + expected)
    # A stage that takes longer than expected says that the others will, too.
    pace = max(spent / foreseen, (spent + passed) / (foreseen + expected))
    return max(expected * pace - passed, LATE * passed) + ahead * pace


def in_steps(seconds: float) -> float:
    """Return seconds rounded up to 10 s, to minutes from 2 min, to 5 min from 20 min: an estimate knows no better."""
    step = 10 if seconds <= 120 else 60 if seconds <= 1200 else 300
    return math.ceil(seconds / step) * step


def duration(seconds: float) -> str:
    """Return a number of seconds as people say it: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
