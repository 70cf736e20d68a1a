"""A session whose tasks wait for executors that never come."""

import threading
from typing import cast

import pytest
from pyspark.sql import SparkSession

from etl.cli.run_errors import fault_line
from etl.pipeline import idle_cluster as module
from etl.pipeline.idle_cluster import NoExecutorError, ending_without_executors
from etl.pipeline.spark_api import TaskCounts, lost_executor

SESSION = cast(SparkSession, None)


@pytest.fixture
def cancelled(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    found = threading.Event()
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(module, "is_local", lambda spark: False)
    monkeypatch.setattr(module, "lost_executor", lambda spark: "executor 3 on 10.0.0.5:40001: No space left on device")
    monkeypatch.setattr(module, "master", lambda spark, purpose: "spark://10.0.0.1:7077")
    monkeypatch.setattr(module, "cancel_tasks", lambda spark: found.set())
    return found


def test_a_session_without_executors_ends(cancelled: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "running_tasks", lambda spark: TaskCounts(0, 2, 0))
    with pytest.raises(NoExecutorError) as raised, ending_without_executors(SESSION, 0.1 / 60):
        assert cancelled.wait(10)
        raise RuntimeError("Job 7 cancelled as part of cancellation of all jobs")
    line = fault_line(raised.value, stage="clean_dialogues")
    assert "10.0.0.5:40001: No space left on device" in line
    assert "pipeline.idle_minutes" in line
    assert "spark://10.0.0.1:7077" in line
    assert line.endswith("(in stage clean_dialogues)")
    cause = raised.value.__cause__
    assert isinstance(cause, RuntimeError)
    assert fault_line(cause, stage="x").startswith("no executor worked on the waiting tasks")


@pytest.mark.parametrize("running", [TaskCounts(0, 2, 1), TaskCounts(2, 2, 0), TaskCounts(0, 0, 0)])
def test_a_session_at_work_goes_on(
    running: TaskCounts, cancelled: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "running_tasks", lambda spark: running)
    with pytest.raises(ValueError, match="its own"), ending_without_executors(SESSION, 0.1 / 60):
        assert not cancelled.wait(0.5)
        raise ValueError("its own")


def test_a_local_session_has_no_executor_to_wait_for(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[SparkSession] = []
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(module, "running_tasks", looks.append)
    with ending_without_executors(spark, 0.1 / 60):
        threading.Event().wait(0.3)
    assert not looks
    assert lost_executor(spark) is None
