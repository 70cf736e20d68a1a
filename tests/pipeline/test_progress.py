"""Lines about a running stage."""

import io
import time
from types import SimpleNamespace
from typing import cast

import pytest
from pyspark.sql import SparkSession

from etl.pipeline import progress as module
from etl.pipeline.incremental import BatchPlan
from etl.pipeline.lineage import StageEvent
from etl.pipeline.progress import FIRM_SECONDS, Progress, in_steps, seconds_left
from etl.pipeline.spark_api import TaskCounts


class Screen(io.StringIO):
    """Output that is, or is not, a terminal."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


ONE_OF_FOUR = TaskCounts(done=1, tasks=4, at_work=1)


@pytest.mark.parametrize("terminal", [True, False])
def test_what_is_done_is_counted_within_its_batch(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "running_tasks", lambda spark: ONE_OF_FOUR)
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.02)
    monkeypatch.setattr(module, "TERMINAL_SECONDS", 0.02)
    out = Screen(terminal)
    shown = Progress(cast(SparkSession, None), 3, out)
    with shown.stage("score_turns", "never ran"):
        for _ in shown.batches(BatchPlan(9, {0: (8, 10.0), 4: (80, 10.0), 7: (4, 20.0)}), "files"):
            time.sleep(0.2)
        time.sleep(0.2)
    lines = [line.strip() for line in out.getvalue().replace("\r", "\n").splitlines() if line.strip()]
    assert lines[0] == "[ 1/3] score_turns (never ran)"
    committed = [place for place, line in enumerate(lines) if "committed" in line]
    assert [lines[place][:23] for place in committed] == ["batch 1 of 3 committed,", "batch 2 of 3 committed,"]
    assert lines[1].startswith("batch 1 of 3: 8 files, 1 of 4 tasks, ")
    assert lines[committed[0] + 1].startswith("batch 2 of 3: 80 files, 1 of 4 tasks, ")
    assert lines[committed[1] + 1].startswith("batch 3 of 3: 4 files, 1 of 4 tasks, ")
    assert lines[-1].startswith("1 of 4 tasks, 0 s so far")


def test_a_later_run_says_how_much_is_new() -> None:
    out = Screen(terminal=False)
    shown = Progress(cast(SparkSession, None), 2, out)
    counts = {"rows_in": 1_061, "rows_out": 1_060, "rows_dropped": 1, "rows_quarantined": 0, "seconds": 3.0}
    for name, new in (("ingest_subtitles", True), ("choose_uploads", False)):
        with shown.stage(name, "subtitles.manifest changed"):
            if new:
                shown.tell_new(BatchPlan(9, {0: (2, 10.0), 4: (4, 10.0)}), "files")
        shown.done(cast(StageEvent, SimpleNamespace(stage=name, unit="files", **counts)))
    lines = [line.strip() for line in out.getvalue().splitlines()]
    assert lines[1] == "1,061 files in (6 files new or changed), 1,060 out, 1 dropped in 3 s"
    assert lines[3] == "1,061 files in, 1,060 out, 1 dropped in 3 s"


def test_the_time_left_comes_from_the_cost_that_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first batch of a hundredth of the cost took as long as others: 40 minutes would be left by its cost.

    Models start in the first batch, so that it says nothing of the pace of the others.
    """
    now = iter(range(0, 10_000, 30))
    monkeypatch.setattr(module.time, "monotonic", lambda: float(next(now)))
    out = Screen(terminal=False)
    work = {0: (1, 1.0), 1: (9, 60.0), 2: (9, 38.0), 3: (1, 1.0)}
    for _ in Progress(cast(SparkSession, None), 1, out).batches(BatchPlan(4, work), "texts"):
        pass
    first, second, third = out.getvalue().split("\n")[:3]
    assert first.strip() == "batch 1 of 4 committed"
    assert "about 60 s left" in second, second  # 90 s for 60 of 100, and 39 are left: two batches of at least 30 s
    # 1 of 100 is left, which would be 3 s; no batch took less than 30.
    assert "about 30 s left" in third, third


def test_a_first_batch_tells_the_most_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 0.0, 100.0, 100.0, 100.0, 140.0, 140.0, 140.0, 140.0, 140.0, 140.0])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(now))
    out = Screen(terminal=False)
    for _ in Progress(cast(SparkSession, None), 1, out).batches(BatchPlan(2, {0: (5, 50.0), 1: (5, 50.0)}), "texts"):
        pass
    assert "batch 1 of 2 committed, at most 100 s left" in out.getvalue().replace("2 min", "100 s")


def test_the_time_left_of_a_run_follows_the_pace_of_its_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "running_tasks", lambda spark: TaskCounts(0, 0, 0))
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    out = Screen(terminal=False)
    shown = Progress(cast(SparkSession, None), 4, out)
    shown.expect({"read": 60.0, "cut": 60.0, "label": 600.0})
    with shown.stage("read", "first run"):
        assert [shown._left(passed) for passed in (30.0, 300.0)] == [
            ", about 12 min left of the run",
            ", about 45 min left of the run",
        ]
        clock[0] += 300.0
    with shown.stage("look", None):
        pass
    with shown.stage("cut", "first run"):
        pass
    with shown.stage("unknown", "first run"):
        pass
    heads = [line for line in out.getvalue().splitlines() if line.startswith("[")]
    assert heads[0].endswith("read (first run), about 12 min left of the run")
    assert heads[1].endswith("look: nothing to do")
    # It took 300 s in place of 60: with half a minute as expected, the pace is (30 + 300) / (30 + 60).
    assert heads[2].endswith("cut (first run), about 45 min left of the run")
    assert heads[3].endswith("unknown (first run)")


@pytest.mark.parametrize(
    ("expected", "passed", "ahead", "spent", "foreseen", "share", "at", "left"),
    [
        pytest.param(60, 0, 100, 30, 30, 0, 0, 160, id="as expected"),
        pytest.param(60, 30, 100, 30, 30, 0, 0, 130, id="within what was expected"),
        pytest.param(60, 0, 100, 90, 30, 0, 0, 480, id="stages before took three times as long"),
        pytest.param(60, 60, 0, 30, 30, 0, 0, 12, id="never 0 s while it runs"),
        pytest.param(60, 150, 100, 30, 30, 0, 0, 30 + 200, id="late: those behind it will be, too"),
        pytest.param(60, 100, 0, 30, 30, 0.25, 100, 300, id="a quarter done in 100 s"),
        pytest.param(60, 150, 0, 30, 30, 0.25, 100, 250, id="and 50 s later"),
        pytest.param(60, 20, 100, 30, 30, 0.5, 20, 20 + 78, id="faster than expected, those behind it too"),
        pytest.param(60, 500, 0, 30, 30, 0.5, 100, 80, id="a batch that takes longer than the others"),
        pytest.param(60, 30, 0, 30, 30, 0.05, 20, 30, id="too little is done to tell"),
    ],
)
def test_the_seconds_left(
    expected: float, passed: float, ahead: float, spent: float, foreseen: float, share: float, at: float, left: float
) -> None:
    assert seconds_left(expected, passed, ahead, spent, foreseen, share, at) == pytest.approx(left, abs=0.5)


@pytest.mark.parametrize(
    ("seconds", "steps"), [(0, 0), (1, 10), (90, 90), (120, 120), (121, 180), (1_200, 1_200), (1_201, 1_500)]
)
def test_an_estimate_is_told_in_steps(seconds: float, steps: float) -> None:
    assert in_steps(seconds) == steps


def test_the_planning_of_a_stage_counts_for_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "running_tasks", lambda spark: TaskCounts(0, 0, 0))
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    shown = Progress(cast(SparkSession, None), 4, Screen(terminal=False))
    shown.expect({"read": 60.0, "cut": 60.0, "label": 60.0})
    clock[0] = 100.0  # before the first stage
    for name, planned, took in (("read", 0, 60), ("cut", 30, 60), ("nothing", 500, None), ("label", 30, 60)):
        clock[0] += planned
        with shown.stage(name, None if took is None else "first run"):
            clock[0] += took or 0
    assert shown._spent - FIRM_SECONDS == 60 + 90 + 60


def test_a_log_gets_fewer_lines_the_longer_a_stage_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "running_tasks", lambda spark: ONE_OF_FOUR)
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.02)
    monkeypatch.setattr(module, "MOST_SECONDS", 0.1)
    out = Screen(terminal=False)
    with Progress(cast(SparkSession, None), 1, out).stage("clean_dialogues", "never ran"):
        time.sleep(1.0)
    counted = sum("tasks, " in line for line in out.getvalue().splitlines())
    # At 0.02 s throughout there would be some 50, at 0.1 s from the start 10.
    assert 5 <= counted <= 15


@pytest.mark.parametrize(
    ("running", "told"),
    [
        (TaskCounts(0, 2, 0), 1),
        (TaskCounts(0, 2, 1), 0),
        (TaskCounts(2, 2, 0), 0),
        (TaskCounts(0, 0, 0), 0),
    ],
    ids=["nobody works", "a task runs", "all are done", "no stage runs"],
)
def test_tasks_that_no_executor_works_on_are_told_once(
    running: TaskCounts, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "running_tasks", lambda spark: running)
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.02)
    monkeypatch.setattr(module, "MOST_SECONDS", 0.02)
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.1)
    out = Screen(terminal=False)
    with Progress(cast(SparkSession, None), 1, out).stage("clean_dialogues", "never ran"):
        time.sleep(0.6)
    assert out.getvalue().count("no executor has worked on the waiting tasks") == told


def test_a_stage_without_work_has_one_line() -> None:
    out = Screen(terminal=False)
    with Progress(cast(SparkSession, None), 12, out).stage("clean_dialogues", None):
        pass
    assert out.getvalue() == "[ 1/12] clean_dialogues: nothing to do\n"


def test_a_notebook_and_a_terminal_write_a_line_again() -> None:
    notebook = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    looks = [Progress(cast(SparkSession, None), 1, out)._redraws for out in (Screen(True), notebook, Screen(False))]
    assert looks == [True, True, False]
