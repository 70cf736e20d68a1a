"""The exit status of a command, and the page that says what a scheduler makes of it."""

import subprocess
import sys

import pytest

from conf.errors import InputError, InUseError, LossError
from etl.cli import command_line
from etl.cli.run_errors import RunError
from etl.pipeline.runner import StageError

ERRORS = [
    (RunError("no space is left"), 1),
    (StageError("it does not add up"), 1),
    (KeyboardInterrupt(), 1),
    (ZeroDivisionError("division by zero"), 1),
    (InputError("bad settings"), 2),
    (LossError("too many files are gone"), 3),
    (InUseError("in use by process 7"), 4),
]


@pytest.mark.parametrize(("error", "status"), ERRORS, ids=[type(error).__name__ for error, _ in ERRORS])
def test_an_error_is_one_line_and_an_exit_status(
    error: BaseException, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(arguments: list[str]) -> int:
        raise error

    monkeypatch.setattr(command_line, "_main", fails)
    assert command_line.main(["run"]) == status
    told = capsys.readouterr().err
    assert told.startswith("edos-lakehouse: ")
    assert told.count("\n") == 1


def test_a_stop_by_a_scheduler_is_one_line_and_names_the_stage() -> None:
    code = """
import os, signal, sys
from etl.cli import command_line
from jobs.__main__ import run

def stopped(arguments):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("by SIGTERM", "in clean_dialogues") from None

command_line._main = stopped
sys.exit(run())
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (
        1,
        "edos-lakehouse: stopped by SIGTERM in clean_dialogues; run again to continue\n",
    )
