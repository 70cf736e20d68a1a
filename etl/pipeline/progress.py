"""Report progress stage by stage, with the time left."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TextIO

from pyspark.sql import SparkSession

from etl.pipeline.incremental import BatchPlan
from etl.pipeline.lineage import StageEvent
from etl.pipeline.spark_api import StageWork, rows_from_python, running_stages

TERMINAL_SECONDS = 1.0
FIRST_SECONDS = 30.0
MOST_SECONDS = 60.0
"""Seconds between two lines of a running stage in a log: at first, and at most."""

PATIENCE_SECONDS = 60.0
"""Seconds in which no executor works on the tasks that wait, after which a line says so."""

LEAST_SHARE = 0.1
"""Share of a stage's cost that is done before the time left is estimated."""


class Tally:
    """Counts the work of Spark's stages, also of those that ended, so that what is done never becomes less."""

    def __init__(self) -> None:
        self._seen: dict[int, StageWork] = {}

    def counted(self, running: Mapping[int, StageWork]) -> tuple[int, int, int]:
        """Return how many tasks are done, how many the stages seen so far have, and how many rows these have read.

        Args:
            running: the running stages, by number. One that was seen and runs no more is done.
        """
        for number, seen in self._seen.items():
            now = running.get(number)
            done = max(seen.done, now.done) if now is not None else seen.tasks
            self._seen[number] = replace(seen, done=done, rows=max(seen.rows, now.rows if now is not None else 0))
        self._seen |= {number: work for number, work in running.items() if number not in self._seen}
        seen_so_far = self._seen.values()
        return (
            sum(work.done for work in seen_so_far),
            sum(work.tasks for work in seen_so_far),
            sum(work.rows for work in seen_so_far),
        )


@dataclass
class Count:
    """What is known of the running batch, or of a stage without batches, and what was told of it so far.

    Attributes:
        units: how many there are; None: not known before they are done.
        unit: their name.
        one_row_each: each comes out of a Python function as one row, so that these rows tell how many are done.
    """

    units: int | None = None
    unit: str = "rows"
    one_row_each: bool = False
    began: float = field(default_factory=lambda: time.monotonic())
    done: float = 0.0

    def text(self, tasks_done: int, tasks: int, rows: int, from_python: Callable[[], int]) -> str:
        """Return how much is done, how fast, and the time left or so far. What is done never becomes less.

        Args:
            tasks_done: of Spark's tasks.
            tasks: of all stages seen so far.
            rows: that they have read.
            from_python: counts the rows that Python functions have returned; asked only where they tell something.
        """
        spent = max(1e-9, time.monotonic() - self.began)
        if self.units is None:
            self.done = max(self.done, rows, from_python())
            return f"{f'{self.done:,.0f} {self.unit}' if self.done else 'working'}, {_duration(spent)} so far"
        by_tasks = self.units * tasks_done / max(1, tasks)
        self.done = min(self.units, max(self.done, float(from_python()) if self.one_row_each else by_tasks))
        about = "" if self.one_row_each or not self.done else "about "
        said = f"{about}{self.done:,.0f} of {self.units:,} {self.unit}"
        if not self.done:
            return f"{said}, {_duration(spent)} so far"
        rate = self.done / spent
        return f"{said}, {_rate(rate)}, {_duration((self.units - self.done) / rate)} left"


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
        self._begin("", Count())
        self._printed: set[str] = set()

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
        head = f"[{self._number:2d}/{self._stages}] {name}"
        if why is None:
            print(f"{head}: nothing to do", file=self._out, flush=True)
            yield
            return
        print(f"{head} ({why})", file=self._out, flush=True)
        self._begin("", Count())
        stop = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(stop,), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join(timeout=2)
            with self._lock:
                self._clear()

    def done(self, event: StageEvent) -> None:
        if event.rows_out is None:
            self.say(f"{event.stage}: done in {event.seconds:.0f} s")
            return
        parts = [f"{event.rows_in or 0:,} {event.unit} in", f"{event.rows_out:,} out"]
        if event.rows_dropped:
            parts.append(f"{event.rows_dropped:,} dropped")
        if event.rows_quarantined:
            parts.append(f"{event.rows_quarantined:,} quarantined")
        self.say(f"{', '.join(parts)} in {event.seconds:.0f} s")

    def batches(self, plan: BatchPlan, unit: str, one_row_each: bool = False) -> Iterator[int]:
        """Yield the numbers of batches with work; in and after each, report progress and the time left.

        Args:
            unit: what a batch counts, in the plural.
            one_row_each: a Python function returns one row for each.
        """
        total = sum(cost for _, cost in plan.work.values())
        started = time.monotonic()
        finished = 0.0
        shortest = float("inf")
        for place, (number, (units, cost)) in enumerate(plan.work.items(), start=1):
            began = time.monotonic()
            name = f"batch {place} of {len(plan.work)}: " if len(plan.work) > 1 else ""
            self._begin(name, Count(units, unit, one_row_each, began))
            yield number
            finished = finished + cost
            shortest = min(shortest, time.monotonic() - began)
            others = len(plan.work) - place
            if others:
                spent = time.monotonic() - started
                share = finished / max(total, 1e-9)
                # A batch takes its time however little it costs; from a tiny first one nothing follows for the others.
                left = max(spent * (1 - share) / share, others * shortest) if share >= LEAST_SHARE else None
                told = "" if left is None else f", about {_duration(left)} left"
                self.say(f"batch {place} of {len(plan.work)} committed{told}")
        self._begin("", Count())

    def _begin(self, batch: str, count: Count) -> None:
        self._batch = batch
        self._tally = Tally()
        self._count = count

    def _watch(self, stop: threading.Event) -> None:
        interval = TERMINAL_SECONDS if self._redraws else FIRST_SECONDS
        at_work = time.monotonic()
        while not stop.wait(interval):
            if not self._redraws:
                interval = min(interval * 1.5, MOST_SECONDS)
            running = self._running()
            now = time.monotonic()
            done, tasks, rows = self._tally.counted(running)
            if not running or done == tasks or any(work.at_work for work in running.values()):
                at_work = now
            if not running:
                continue
            if now - at_work >= PATIENCE_SECONDS:
                self.say_once(
                    "no executor has worked on the waiting tasks for a minute: the cluster has none free, or cannot "
                    "start one; the logs of its workers say why (no space left, too little memory)"
                )
            text = f"         {self._batch}{self._count.text(done, tasks, rows, self._from_python)}"
            with self._lock:
                if self._redraws:
                    self._clear()
                    self._line = text
                    print(text, end="", file=self._out, flush=True)
                else:
                    print(text, file=self._out, flush=True)

    def _running(self) -> dict[int, StageWork]:
        try:
            return running_stages(self._spark)
        except Exception:  # the session is going down, or its Java names are closed: nothing to tell
            return {}

    def _from_python(self) -> int:
        try:
            return rows_from_python(self._spark)
        except Exception:  # the same
            return 0

    def _clear(self) -> None:
        if self._line:
            print("\r" + " " * len(self._line) + "\r", end="", file=self._out, flush=True)
            self._line = ""


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _rate(a_second: float) -> str:
    return f"{a_second:,.0f} a second" if a_second >= 10 else f"{a_second * 60:,.0f} a minute"
