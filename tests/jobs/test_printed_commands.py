"""Every command that README and the guides print is run as printed, or named here with the reason why it cannot be."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.jobs.conftest import REPOSITORY, TinyRun
from tests.pages import PAGES, fenced

ELSEWHERE = {"docs/clusters.md", "docs/emr.md", "docs/databricks.md"}
"""Pages whose commands need a cluster: tests/clusters runs those of the first in order, and checks the others."""
NOT_RUN = {
    r"\. \.venv/bin/activate$": "puts the environment's python on the path; here `run` does",
    r"python -m jobs .*--demo\b": "on the demo's tables, which take minutes: tests/cli/test_demo_settings.py",
    r"python -m jobs fetch-data \w": "fetches from the network: tests/cli/test_fetch_data.py has a server",
    r"python -m jobs run --config data/settings\.yaml": "needs what fetch-data fetches, and trains for half an hour",
    r"python -m jobs .*lakehouse\.set=published": "reads files that the authors offer: tests/edos/test_published.py",
    r"python -m jobs run .*mean_of=": "needs two trained versions: tests/edos/training/test_mean_of_classifiers.py",
    r"python -m jobs sql .*lakehouse\.set=": "needs a second set: tests/pipeline/test_sets.py",
    r"python -m jobs sql .*edos_released_pairs": "needs the authors' pairs: tests/edos/test_expansion_views.py",
    r"python -m jobs measure_turn_segmenter --config data": "needs what fetch-data fetches: tests/training",
    r"make gpu\b": "needs a graphics card",
    r"make sql\b": "opens a shell: tests/cli/test_duckdb_shell.py",
    r"make (install|demo)\b": "set up and run what the other tests run piece by piece",
    r"python -m jobs (chat|reply)\b": "talk with a trained generator: tests/cli/test_chat.py",
    r"python -m jobs mlflow (?!.*--link)": "serves until it is stopped: tests/training/test_tracking.py does both",
    r"python -m jobs (run .*--to )?augesc_": "trains and asks language models for hours: tests/augesc has the chain",
    r"python -m jobs (run .*--to )?emo_pillars_": "asks language models for hours: tests/emo_pillars has the chain",
    r"python -m jobs run .*(replies_|_response_generator)": "trains for hours: tests/replies has the chain",
    r"MLFLOW_TRACKING_URI=\S+ mlflow models serve|curl ": "serve, and ask: tests/udfs/test_serving.py does both",
    r"python -m jobs compare_classifiers": "trains 24 classifiers for hours: tests/edos/training/test_trials.py",
    r"python -m jobs .*(roberta-large|distil_emo|-student)": "large encoders: tests/edos/training/test_distillation.py",
    r"python -m jobs train_emotion_classifier .*mpnet\.yaml": "trains a large encoder: tests/edos/training",
    r"python -m jobs run --config german\.yaml": "needs a German corpus: tests/subtitles/test_german.py reads one",
    r"python -m (jobs .*real\.yaml|tests\.benchmarks)": "measure on real data that are not in the repository",
    r"python -m pytest": "a test itself",
    r"python -m jobs run .*=file:my/labeler": "needs the reader's own: tests/pipeline/test_model_loader.py",
    r"python -m jobs (run|estimate) .*subtitles\.sample=0\.0[15]": "of the twelve films of a test, 5 % are none",
    r"source <\(edos-lakehouse completion zsh": "needs zsh; the script wraps that of bash, which is run",
}
FAST = re.compile(r"--help|completion|extras.convokit")
"""Commands that take a second or two."""


def printed() -> list[tuple[str, str]]:
    """(page, command line) of each console block, without comments, each line once."""
    found: dict[str, str] = {}
    for page, text in PAGES.items():
        if page in ELSEWHERE:
            continue
        for block in fenced(text, "console"):
            for line in block.replace("\\\n", " ").splitlines():
                command = " ".join(re.sub(r"\s+#.*$", "", line).split())
                if command and not command.startswith("#"):
                    found.setdefault(command, page)
    return [(page, command) for command, page in found.items()]


def reason(command: str) -> str | None:
    return next((why for pattern, why in NOT_RUN.items() if re.match(pattern, command)), None)


RUN = [command for _, command in printed() if reason(command) is None]


@pytest.fixture(scope="module")
def place(tiny: TinyRun, finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder as a reader has one: my.yaml, and copies of finished tables and of their export."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(finished, folder / "lakehouse", symlinks=True)
    shutil.copytree(finished, folder / "mine", symlinks=True)
    (folder / "exports").mkdir()
    shutil.copytree(finished / "exports" / "edos", folder / "exports" / "edos")
    arguments = tiny.arguments(folder / "lakehouse")[1:]
    content: dict = {}
    for argument in arguments:
        key, _, value = argument.partition("=")
        parts = ["spark", "conf", key.removeprefix("spark.conf.")] if key.startswith("spark.conf.") else key.split(".")
        inner = content
        for part in parts[:-1]:
            inner = inner.setdefault(part, {})
        inner[parts[-1]] = value if parts[:2] == ["spark", "conf"] else yaml.safe_load(value)
    (folder / "my.yaml").write_text(yaml.safe_dump(content))
    (folder / "subs").mkdir()
    said = ["Where were you last night?", "At the harbour. I waited for the ferry.", "Did you wait that long?"] * 5
    cues = (f"{n}\n00:{n:02d}:01,000 --> 00:{n:02d}:03,000\n- {text}\n" for n, text in enumerate(said, start=1))
    (folder / "subs" / "Harbour.2001.srt").write_text("\n".join(cues))
    yield folder


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line in bash, with `python` and `edos-lakehouse` of this tree."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for name, words in (
        ("python", f"{shlex.quote(sys.executable)}"),
        ("edos-lakehouse", f"{shlex.quote(sys.executable)} -m jobs"),
    ):
        (programs / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (programs / name).chmod(0o755)
    env = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")]),
    }
    shell = ["bash", "-c", command]
    return subprocess.run(shell, cwd=folder, env=env, capture_output=True, text=True, timeout=1200)


def test_no_reason_is_left_over() -> None:
    commands = [command for _, command in printed()]
    unused = [pattern for pattern in NOT_RUN if not any(re.match(pattern, command) for command in commands)]
    assert not unused, unused
    assert len(RUN) >= 15, RUN


@pytest.mark.parametrize("command", [one for one in RUN if FAST.search(one)])
def test_a_printed_command_without_spark_runs(command: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    turns = [{"text": "Hi.", "label": "sad", "confidence": 0.5}]
    for folder in (tmp_path / "lakehouse" / "exports" / "edos", tmp_path / "exports" / "edos"):
        (folder / "parquet").mkdir(parents=True)
        rows = pa.Table.from_pylist([{"dialogue_id": "1-0", "turns": turns}])
        pq.write_table(rows, folder / "parquet" / "train-00000-of-00001.parquet")
    done = run(command, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.timeout(5400)
def test_the_other_printed_commands_run_in_a_readers_folder(place: Path) -> None:
    ran = []
    for command in (one for one in RUN if not FAST.search(one)):
        done = run(command, place)
        # The corpus is broken on purpose, which `check` finds.
        found = 5 if command.startswith("python -m jobs check") else 0
        assert done.returncode in (0, found), f"{command}\n{done.stderr[-2000:]}\n{done.stdout[-1000:]}"
        ran.append(command)
    assert len(ran) >= 8, ran
    assert (place / "edos-shared" / "export.json").is_file()
    assert (place / "edos-shared-with-text").is_dir()
