"""spark-submit on a real standalone cluster: one master, two workers, on this machine."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.find_spark_home import _find_spark_home

from etl.pipeline.jars import class_path
from tests.jobs.conftest import REPOSITORY, TinyRun
from tests.ports import free_port, listening

BIN = Path(_find_spark_home(), "bin")


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    port = free_port()
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}

    def daemon(name: str, *arguments: str) -> subprocess.Popen[bytes]:
        log = (tmp_path / f"{name}.log").open("wb")
        return subprocess.Popen(
            [str(BIN / "spark-class"), *arguments], stdout=log, stderr=log, env=environment, cwd=tmp_path
        )

    own = ["--host", "127.0.0.1", "--webui-port", "0"]
    daemons = [daemon("master", "org.apache.spark.deploy.master.Master", "--port", str(port), *own)]
    try:
        deadline = time.monotonic() + 90
        while not listening(port):
            assert time.monotonic() < deadline, (tmp_path / "master.log").read_text()
            time.sleep(0.3)
        uri = f"spark://127.0.0.1:{port}"
        worker = "org.apache.spark.deploy.worker.Worker"
        for number in (1, 2):
            daemons.append(
                daemon(
                    f"worker{number}", worker, "-c", "1", "-m", "1g", "-d", str(tmp_path / f"work{number}"), *own, uri
                )
            )
        yield uri
    finally:
        for one in daemons:
            one.terminate()
        for one in daemons:
            one.wait(timeout=30)


def submit(stage: str, master: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """``spark-submit jobs/__main__.py STAGE`` to the cluster."""
    return subprocess.run(
        [
            str(BIN / "spark-submit"),
            "--master",
            master,
            "--driver-class-path",
            class_path(),
            "--driver-memory",
            "1g",
            "--executor-memory",
            "900m",
            str(REPOSITORY / "jobs" / "__main__.py"),
            stage,
            *arguments,
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )


@pytest.mark.slow
def test_stages_run_by_spark_submit(tiny: TinyRun, master: str, tmp_path: Path) -> None:
    root = tmp_path / "lakehouse"
    for stage in ("find_subtitles", "ingest_subtitles"):
        arguments = tiny.arguments(root, "spark.master=null", "spark.driver_memory=null")
        done = submit(stage, master, tmp_path, *arguments)
        assert done.returncode == 0, done.stderr[-3000:]
    files = DeltaTable(str(root / "subtitles" / "files")).to_pyarrow_table()
    assert set(files["subtitle_id"].to_pylist()) >= set(tiny.facts.files)
    worked = {log.relative_to(tmp_path).parts[0] for log in tmp_path.glob("work?/app-*/*/stderr")}
    assert worked == {"work1", "work2"}


@pytest.mark.slow
def test_a_classifier_trains_in_one_process_a_worker(
    tiny: TinyRun, finished: Path, master: str, tmp_path: Path
) -> None:
    root = tmp_path / "lakehouse"
    shutil.copytree(finished, root)

    def train(processes: int) -> subprocess.CompletedProcess[str]:
        own = ("spark.master=null", "spark.driver_memory=null", f"training.processes={processes}")
        return submit("train_emotion_classifier", master, tmp_path, *tiny.arguments(root, *own))

    done = train(2)
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    assert "training in 2 processes" in done.stdout
    assert "held out: accuracy" in done.stdout
    worked = {log.relative_to(tmp_path).parts[0] for log in tmp_path.glob("work?/app-*/*/stderr")}
    assert worked == {"work1", "work2"}
    refused = train(3)
    assert refused.returncode == 2, refused.stdout[-3000:]
    # spark-submit puts both streams into this one.
    assert refused.stdout.strip().splitlines()[-1].endswith("use more executors or fewer processes")
