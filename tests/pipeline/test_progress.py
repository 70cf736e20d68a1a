"""Lines about a running stage."""

import io
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import SparkSession

from etl.pipeline import progress as module
from etl.pipeline.incremental import BatchPlan
from etl.pipeline.progress import Count, Progress, Tally
from etl.pipeline.spark_api import StageWork

REPOSITORY = Path(__file__).resolve().parents[2]


class Screen(io.StringIO):
    """Output that is, or is not, a terminal."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


QUERY = """
import json
import os
import sys
import threading
import time

from pyspark.sql import SparkSession

from etl.pipeline.spark_api import rows_from_python

os.environ["PYSPARK_PYTHON"] = sys.executable
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.executor.heartbeatInterval", "200ms")
    .getOrCreate()
)


def slowly(frames):
    for frame in frames:
        for place in range(len(frame)):
            time.sleep(0.01)
            yield frame[place : place + 1].assign(text="x" * 2_000)


def ask():
    found = spark.range(400).repartition(1).mapInPandas(slowly, "id long, text string")
    found.selectExpr("sum(length(text))").collect()


asking = threading.Thread(target=ask)
asking.start()
seen = []
while asking.is_alive():
    seen.append(rows_from_python(spark))
    time.sleep(0.2)
running = [rows for rows in seen if rows]
print(json.dumps(running))
"""
ONE_OF_FOUR = {7: StageWork(done=1, tasks=4, at_work=1, rows=30)}


@pytest.mark.parametrize("terminal", [True, False])
def test_what_is_done_is_counted_within_its_batch(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each batch has tasks of its own, so that the count begins anew."""
    monkeypatch.setattr(module, "running_stages", lambda spark: ONE_OF_FOUR)
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
    assert lines[1].startswith("batch 1 of 3: about 2 of 8 files, ")
    assert lines[committed[0] + 1].startswith("batch 2 of 3: about 20 of 80 files, ")
    assert lines[committed[1] + 1].startswith("batch 3 of 3: about 1 of 4 files, ")
    assert lines[-1].startswith("30 rows, 0 s so far")


def test_the_time_left_comes_from_the_cost_that_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first batch of a hundredth of the cost took as long as others: 40 minutes would be left by its cost."""
    now = iter(range(0, 10_000, 30))
    monkeypatch.setattr(module.time, "monotonic", lambda: float(next(now)))
    out = Screen(terminal=False)
    work = {0: (1, 1.0), 1: (9, 60.0), 2: (9, 38.0), 3: (1, 1.0)}
    for _ in Progress(cast(SparkSession, None), 1, out).batches(BatchPlan(4, work), "texts"):
        pass
    first, second, third = out.getvalue().split("\n")[:3]
    assert first.strip() == "batch 1 of 4 committed"
    assert "about 2 min left" in second, second  # 180 s for 61 of 100: 115 s
    # 1 of 100 is left, which would be 3 s; no batch took less than 30.
    assert "about 30 s left" in third, third


def test_a_log_gets_fewer_lines_the_longer_a_stage_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "running_stages", lambda spark: ONE_OF_FOUR)
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.02)
    monkeypatch.setattr(module, "MOST_SECONDS", 0.1)
    out = Screen(terminal=False)
    with Progress(cast(SparkSession, None), 1, out).stage("clean_dialogues", "never ran"):
        time.sleep(1.0)
    counted = sum("rows, " in line for line in out.getvalue().splitlines())
    # At 0.02 s throughout there would be some 50, at 0.1 s from the start 10.
    assert 5 <= counted <= 15


@pytest.mark.parametrize(
    ("running", "told"),
    [
        ({7: StageWork(0, 2, 0, 0)}, 1),
        ({7: StageWork(0, 2, 1, 0)}, 0),
        ({7: StageWork(2, 2, 0, 0)}, 0),
        ({}, 0),
    ],
    ids=["nobody works", "a task runs", "all are done", "no stage runs"],
)
def test_tasks_that_no_executor_works_on_are_told_once(
    running: dict[int, StageWork], told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "running_stages", lambda spark: running)
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


def test_what_is_done_never_becomes_less() -> None:
    """A job's second stage begins when its first has ended, mostly between two looks at them."""
    tally = Tally()
    assert tally.counted({3: StageWork(2, 6, 1, 100)}) == (2, 6, 100)
    assert tally.counted({4: StageWork(0, 6, 1, 0)}) == (6, 12, 100)
    assert tally.counted({}) == (12, 12, 100)
    assert tally.counted({4: StageWork(5, 6, 1, 40), 5: StageWork(1, 2, 1, 7)}) == (13, 14, 147)
    assert tally.counted({5: StageWork(0, 2, 1, 0)}) == (13, 14, 147), "a task that is done again"
    assert tally.counted({9: StageWork(0, 1, 1, 1)}) == (14, 15, 148)


@pytest.mark.parametrize(
    ("count", "looks", "said"),
    [
        (Count(None, began=0.0), [(0, 4, 0, 0)], "working, 20 s so far"),
        (Count(None, began=0.0), [(1, 4, 1_500_000, 0)], "1,500,000 rows, 20 s so far"),
        (Count(None, began=0.0), [(0, 4, 0, 800), (0, 4, 90, 0)], "800 rows, 20 s so far"),
        (Count(2_400, "files", began=0.0), [(0, 4, 9, 0)], "0 of 2,400 files, 20 s so far"),
        (Count(2_400, "files", began=0.0), [(1, 4, 9, 0)], "about 600 of 2,400 files, 30 a second, 60 s left"),
        (Count(2_400, "files", began=0.0), [(1, 4, 9, 0), (1, 8, 9, 0)], "about 600 of 2,400 files"),
        (Count(9, "trials", began=0.0), [(1, 3, 0, 0)], "about 3 of 9 trials, 9 a minute, 40 s left"),
        (Count(12_000, "texts", True, 0.0), [(0, 2, 9, 0)], "0 of 12,000 texts, 20 s so far"),
        (Count(12_000, "texts", True, 0.0), [(0, 2, 9, 1_200)], "1,200 of 12,000 texts, 60 a second, 3 min left"),
        (Count(12_000, "texts", True, 0.0), [(0, 2, 9, 1_200), (2, 3, 9, 0)], "1,200 of 12,000 texts"),
        (Count(10, "prompts", True, 0.0), [(0, 2, 9, 11)], "10 of 10 prompts, 30 a minute, 0 s left"),
    ],
)
def test_a_line_counts_what_the_stage_counts(
    count: Count, looks: list[tuple[int, int, int, int]], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.time, "monotonic", lambda: 20.0)
    *_, last = [count.text(*seen, lambda rows=rows: rows) for *seen, rows in looks]
    assert last.startswith(said)


def test_rows_are_counted_while_a_task_runs(tmp_path: Path) -> None:
    """In a session of its own, whose executor tells more often than every ten seconds what it has done."""
    script = tmp_path / "query.py"
    script.write_text(QUERY)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300, cwd=REPOSITORY)
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen == sorted(seen)
    assert any(0 < rows < 400 for rows in seen), seen


def test_a_notebook_and_a_terminal_write_a_line_again() -> None:
    notebook = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    looks = [Progress(cast(SparkSession, None), 1, out)._redraws for out in (Screen(True), notebook, Screen(False))]
    assert looks == [True, True, False]
