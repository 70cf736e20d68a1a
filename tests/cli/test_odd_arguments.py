"""Arguments that are no text: one line and exit status 2, from a process as a shell starts it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("given", [b"lakehouse.root=/tmp/\xff\xfe", b"subtitles.sources=[/data/caf\xe9]"])
def test_arguments_that_are_not_utf8_are_refused_in_one_line(given: bytes) -> None:
    command = [os.fsencode(sys.executable), b"-m", b"jobs", b"ingest_subtitles", b"--set", given]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"edos-lakehouse: the argument ")
    assert b"is not UTF-8" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_a_folder_whose_name_is_not_utf8_is_refused_in_one_line(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)  # noqa: PTH102 - a name of bytes
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-m", "jobs", "plan"]
    done = subprocess.run(command, capture_output=True, check=False, cwd=folder, env=environment)
    assert done.returncode == 2
    assert b"the folder that you are in" in done.stderr
    assert done.stderr.count(b"\n") == 1
