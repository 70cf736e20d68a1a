"""What a command prints is its own: nothing of Java, Spark or Ivy is on the standard output."""

import json
import os
import subprocess
import sys
from pathlib import Path

from etl.pipeline.session import _java_prints_on_stderr

REPOSITORY = Path(__file__).parents[2]


def test_what_java_prints_is_no_output_of_a_command(tmp_path: Path) -> None:
    options = [
        f"lakehouse.root={tmp_path}",
        "spark.conf.spark.driver.extraJavaOptions=--show-version",
        "spark.master=local[1]",
        "spark.short_session=true",
    ]
    command = [sys.executable, "-m", "jobs", "plan", "--json", "--set", *options]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) > 10
    assert "OpenJDK" in done.stderr or "Java" in done.stderr


def test_a_process_that_starts_inside_the_block_prints_on_stderr(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys\nfrom etl.pipeline.session import _java_prints_on_stderr\nprint('before')\n"
        "with _java_prints_on_stderr():\n    subprocess.run(['echo', 'of a child'])\n"
        "print('after')\nsubprocess.run(['echo', 'of a later child'])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, "-u", "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.split("\n") == ["before", "after", "of a later child", ""]
    assert "of a child" in done.stderr


def test_a_process_without_an_output_opens_a_session_too() -> None:
    with _java_prints_on_stderr():
        pass
