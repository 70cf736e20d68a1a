"""The commands of docs/clusters.md on a standalone cluster: a master, two workers, and an S3 server.

``make cluster`` builds the packed environment as the page says. ``CLUSTER_LANE=short`` takes this test's own Python in
its place, which saves the installation.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import boto3
import pytest
from deltalake import DeltaTable
from moto.server import ThreadedMotoServer
from pyspark.find_spark_home import _find_spark_home

from etl.demo.corpus import write_demo
from tests.clusters.commands import LONGEST, REPOSITORY, SMALL_OPTIONS, TABLES, ivy, table_rows
from tests.ports import free_port, listening
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.stores import CACHE

PAGE = (REPOSITORY / "docs" / "clusters.md").read_text("utf-8")
SHORT = os.environ.get("CLUSTER_LANE") == "short"
BUCKET = "my-bucket"
pytestmark = [pytest.mark.slow, pytest.mark.cluster, pytest.mark.timeout(4 * LONGEST)]


def blocks(page: str) -> dict[str, str]:
    """The page's blocks that are run, by name."""
    return dict(re.findall(r"^<!-- runs: (\S+) -->\n```\w+\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))


def wait_for(port: int, log: Path) -> None:
    deadline = time.monotonic() + 90
    while not listening(port):
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.2)


@dataclass
class Cluster:
    """A master, two workers, and the folder and variables of a person who submits to them."""

    folder: Path
    variables: dict[str, str]
    store: dict[str, str]
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, *arguments: str) -> None:
        log = (self.folder.parent / f"{name}.log").open("wb")
        command = [str(Path(_find_spark_home(), "bin", "spark-class")), *arguments]
        self.daemons[name] = subprocess.Popen(
            command, stdout=log, stderr=log, env=self.variables, cwd=self.folder.parent
        )

    def shell(self, commands: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )

    def said(self, commands: str) -> str:
        """What commands printed that came to a good end."""
        done = self.shell(commands)
        assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-4000:]
        return done.stdout

    def run_and_kill(self, commands: str, when: str, name: str) -> tuple[int, str]:
        """Run commands, and kill a worker with its executors as soon as a line says ``when``."""
        said = self.folder.parent / "said.txt"
        done = None
        with said.open("w") as out:
            done = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", commands],
                cwd=self.folder,
                env=self.variables | {"PYTHONUNBUFFERED": "1"},
                stdout=out,
                stderr=out,
            )
            killed = False
            deadline = time.monotonic() + LONGEST
            while done.poll() is None and time.monotonic() < deadline:
                if not killed and when in said.read_text():
                    self.kill(name)
                    killed = True
                time.sleep(0.2)
        assert killed, f"no line said {when!r}: {said.read_text()[-4000:]}"
        return done.wait(timeout=1), said.read_text()

    def kill(self, name: str) -> None:
        """End a worker at once, and what it started: the processes that have its folder in their arguments."""
        self.daemons[name].kill()
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "cwd").resolve().is_relative_to(self.folder.parent / name):
                    os.kill(int(process.name), 9)
            except OSError:
                continue


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster") / "submits"
    folder.mkdir()
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    own = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "MLFLOW_TRACKING_URI": "sqlite:///mlflow.db",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    hidden = ("PYTHONPATH", "PYSPARK_PYTHON", "SPARK_HOME", "VIRTUAL_ENV")
    variables = {name: value for name, value in os.environ.items() if name not in hidden} | own
    one = Cluster(folder, variables, {**own, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1"})
    master = free_port()
    one.variables["MASTER"] = f"spark://127.0.0.1:{master}"
    at = ["--host", "127.0.0.1", "--webui-port", "0"]
    try:
        one.start("master", "org.apache.spark.deploy.master.Master", "--port", str(master), *at)
        wait_for(master, folder.parent / "master.log")
        for name in ("worker1", "worker2"):
            worker = ["org.apache.spark.deploy.worker.Worker", "-c", "1", "-m", "1g", "-d", str(folder.parent / name)]
            one.start(name, *worker, *at, one.variables["MASTER"])
        yield one
    finally:
        for daemon in one.daemons.values():
            daemon.terminate()
        for daemon in one.daemons.values():
            daemon.wait(timeout=30)
        server.stop()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_demo(folder, films=12)
    return folder


def prepare(cluster: Cluster, corpus: Path) -> None:
    """Lay out what the page assumes: the entry point, the settings, the labelled set, the source in the bucket."""
    parts = blocks(PAGE)
    (cluster.folder / "jobs").mkdir()
    shutil.copy(REPOSITORY / "jobs" / "__main__.py", cluster.folder / "jobs")
    shutil.copytree(corpus / "turns" / "meld", cluster.folder / "meld")
    small = "training: {turn_segmenter: {max_iterations: 5, features: 4096}}\n"
    (cluster.folder / "my.yaml").write_text(parts["my.yaml"] + small)
    endpoint = cluster.variables["AWS_ENDPOINT_URL"]
    ours = {
        "spark.hadoop.fs.s3a.endpoint": endpoint,
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.executor.memory": "700m",
        "spark.driver.memory": "900m",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.jars.ivy": str(ivy()),
        "spark.ui.enabled": "false",
        # For 50 tasks a table, two cores would need most of the time.
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    lines = "".join(f"{key} {value}\n" for key, value in ours.items())
    (cluster.folder / "cluster.properties").write_text(parts["cluster.properties"] + lines)
    client = boto3.client("s3", endpoint_url=endpoint, aws_access_key_id="test", aws_secret_access_key="test")
    client.create_bucket(Bucket=BUCKET)
    source = corpus / "opus" / "OpenSubtitles" / "v2018" / "en.zip"
    client.upload_file(str(source), BUCKET, "opus/en.zip")


def write_python(folder: Path, without: Iterable[str] = ()) -> None:
    """Write a python that is this test's own, as a virtual environment has it, but does not find some modules."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    lines = ['export PYTHONPATH="$(cd "$(dirname "$0")/.." && pwd)/without:$PYTHONPATH"'] if without else []
    python.write_text("\n".join(["#!/bin/sh", *lines, f'exec "{sys.executable}" "$@"\n']))
    python.chmod(0o755)
    for name in without:
        (folder / "without").mkdir(exist_ok=True)
        (folder / "without" / f"{name}.py").write_text(f'raise ModuleNotFoundError("No module named {name!r}")\n')


def make_environment(cluster: Cluster) -> None:
    """Run the page's block in a clone, or, in the short form, pack a folder whose python is this one."""
    if SHORT:
        subprocess.run(
            [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(cluster.folder / "dist")],
            cwd=REPOSITORY,
            check=True,
            capture_output=True,
            timeout=300,
        )
        shutil.copy(next((cluster.folder / "dist").glob("*.whl")), cluster.folder / "edos_lakehouse.zip")
        write_python(cluster.folder / "environment", ("torch", "transformers", "sentence_transformers", "sparknlp"))
        shutil.make_archive(str(cluster.folder / "environment"), "gztar", cluster.folder / "environment")
        return
    clone = cluster.folder.parent / "clone"
    shutil.copytree(
        REPOSITORY, clone, ignore=shutil.ignore_patterns(".git", ".venv", "build", "dist", "demo", "__pycache__")
    )
    # `make wheel` finds the set-up done: installing would take longer than all the rest.
    write_python(clone / ".venv")
    (clone / ".venv" / ".installed").touch()
    done = Cluster(clone, cluster.variables, {}).shell(blocks(PAGE)["environment"])
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    packed = clone / "environment.tar.gz"
    assert packed.stat().st_size < 400 << 20, "the environment of the text stages"
    names = subprocess.run(["tar", "tzf", str(packed)], capture_output=True, text=True, check=True).stdout
    assert not re.search(r"site-packages/(torch|transformers|pyspark)/", names)
    for name in ("edos_lakehouse.zip", "environment.tar.gz", "environment"):
        shutil.move(clone / name, cluster.folder / name)


def as_tests_do(cluster: Cluster, encoder: Path, corpus: Path) -> str:
    """The page's ``run`` with stages of networks: tiny ones, and this test's own Python, which has torch."""
    lines = (cluster.folder / "cluster.properties").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("spark.archives", "spark.pyspark."))]
    kept += [f"spark.pyspark.python {sys.executable}", f"spark.executorEnv.{CACHE} {cluster.folder.parent}/copies"]
    (cluster.folder / "own.properties").write_text("\n".join(kept) + "\n")
    shutil.copytree(encoder, cluster.folder / "encoder")
    shutil.copytree(corpus / "labels", cluster.folder / "labels")
    settings = "models.weak_encoder=file:encoder edos.weak_label_examples=labels training.weak_labeler.epochs=1"
    command = blocks(PAGE)["run"].replace("cluster.properties", "own.properties").rstrip()
    return f"{command.replace('--to clean_dialogues', '--to label_weakly')} --set {settings}"


def test_the_pages_commands_run(cluster: Cluster, corpus: Path, tmp_path: Path) -> None:
    parts = blocks(PAGE)
    assert set(parts) == {"environment", "my.yaml", "cluster.properties", "plan", "run", "status", "sql"}
    started = time.monotonic()
    make_environment(cluster)
    prepare(cluster, corpus)
    print(f"prepared after {time.monotonic() - started:.0f} s")

    if not SHORT:
        planned = cluster.said(parts["plan"])
        assert re.search(r"1  find_subtitles +run +first run", planned), planned[-4000:]

    status, said = cluster.run_and_kill(parts["run"], "ingest_subtitles (first run)", "worker2")
    print(f"run after {time.monotonic() - started:.0f} s")
    assert status == 0, said[-6000:]
    assert "clean_dialogues (first run)" in said

    if not SHORT:
        assert "not yet" not in cluster.said(parts["status"])
    counted = cluster.said(parts["sql"])
    dialogues = int(re.findall(r"^[| ]*(\d+)[| ]*$", counted, re.MULTILINE)[0])
    print(f"all commands after {time.monotonic() - started:.0f} s")

    local = tmp_path / "lakehouse"
    options = [
        "--set",
        f"lakehouse.root={local}",
        f"subtitles.sources=[{corpus}/opus/OpenSubtitles/v2018/en.zip]",
        f"subtitles.turn_examples=[{corpus}/turns/meld]",
        "subtitles.lemmatizer=simplemma",
        *SMALL_OPTIONS,
        "spark.shuffle_partitions=2",
        "spark.short_session=true",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "jobs", "run", "--to", "clean_dialogues", *options],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for table in TABLES:
        here = table_rows(str(local / table))
        there = table_rows(f"s3://{BUCKET}/lakehouse/{table}", cluster.store)
        assert here == there, f"{table}: {here.total()} rows here, {there.total()} there"
    assert dialogues == table_rows(str(local / "subtitles/clean_dialogues")).total() > 0
    print(f"compared after {time.monotonic() - started:.0f} s")


@pytest.mark.skipif(SHORT, reason="CLUSTER_LANE=short ends with clean dialogues: run `make cluster` for the rest")
def test_a_model_reaches_the_workers_through_the_store(cluster: Cluster, corpus: Path, tmp_path: Path) -> None:
    """After the commands of the page: a training and its scoring, with no folder that driver and workers share."""
    said = cluster.said(as_tests_do(cluster, tiny_encoder(tmp_path / "encoder"), corpus))
    assert "score_weakly (first run)" in said
    assert "label_weakly (first run)" in said
    (copy,) = [path for path in (cluster.folder.parent / "copies" / "copies").iterdir() if path.is_dir()]
    assert copy.name.startswith("models-edos-weak-labeler-1-")
    assert any(copy.rglob("*.safetensors"))
    scores = DeltaTable(f"s3://{BUCKET}/lakehouse/edos/weak_scores", storage_options=cluster.store).to_pyarrow_table()
    assert scores.num_rows > 100
    assert scores["error"].null_count == scores.num_rows
    client = boto3.client(
        "s3", endpoint_url=cluster.variables["AWS_ENDPOINT_URL"], aws_access_key_id="test", aws_secret_access_key="test"
    )
    found = client.list_objects_v2(Bucket=BUCKET, Prefix="lakehouse/_models/")
    names = [entry["Key"] for entry in found["Contents"]]
    assert any(name.endswith("complete.json") for name in names)
    # The empty entry of the folder itself stays.
    left = [name for name in names if "/checkpoints/" in name and not name.endswith("/")]
    assert not left, "deleted when the training has ended"
