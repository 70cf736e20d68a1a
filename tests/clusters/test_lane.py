"""The commands of docs/clusters.md on a standalone cluster: a master, two workers, and an S3 server.

The settings are the page's alone, with dynamic allocation. On the way a worker is killed, the source arrives by half, a
worker's disk is full, and a device breaks; at the end the tables have the rows of an undisturbed local run.

``make cluster`` builds the packed environment as the page says. ``CLUSTER_LANE=short`` takes this test's own Python in
its place, which saves the installation, and ends with clean dialogues.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from deltalake import DeltaTable
from moto.server import ThreadedMotoServer

from tests.clusters.commands import LONGEST, REPOSITORY, TABLES, table_rows
from tests.clusters.standalone import FULL, Cluster, standalone
from tests.corpora import write_small_corpus
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.stores import CACHE

PAGE = (REPOSITORY / "docs" / "clusters.md").read_text("utf-8")
SHORT = os.environ.get("CLUSTER_LANE") == "short"
BUCKET = "my-bucket"
SOURCE = "opus/en.zip"
REFUSED = 3
"""The exit status of a run whose sources have lost too much."""
MAY_BE_EMPTY = {"subtitles/quarantine"}
WEAK_TABLES = ("edos/weak_scores", "edos/weak_labels")
TRAINED = (
    "models.batch_size=64",
    "training.weak_labeler.epochs=1",
    "training.weak_labeler.learning_rate=2e-4",
    "training.weak_labeler.head_learning_rate=1e-3",
    "training.weak_labeler.max_tokens=64",
)
"""Settings in which the profiles `emr` and `local` differ. Both runs get these, so that they train the same model."""
BREAKS_ONCE = """
import os
import torch

def break_once(module, arguments):
    try:
        os.close(os.open({mark!r}, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    raise RuntimeError("CUDA error: device-side assert triggered")

torch.nn.modules.module.register_module_forward_pre_hook(break_once)
"""
"""A module that Python imports as it starts: the first model that a worker asks meets a broken device."""
pytestmark = [pytest.mark.slow, pytest.mark.cluster, pytest.mark.timeout(4 * LONGEST)]


def blocks(page: str) -> dict[str, str]:
    """The page's blocks that are run, by name."""
    return dict(re.findall(r"^<!-- runs: (\S+) -->\n```\w+\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))


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
    try:
        with standalone(folder, variables, {**own, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1"}) as one:
            yield one
    finally:
        server.stop()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_small_corpus(folder)
    return folder


def prepare(cluster: Cluster, corpus: Path) -> None:
    """Lay out what the page assumes: the entry point, the settings, the labelled set, the source in the bucket."""
    parts = blocks(PAGE)
    (cluster.folder / "jobs").mkdir()
    shutil.copy(REPOSITORY / "jobs" / "__main__.py", cluster.folder / "jobs")
    shutil.copytree(corpus / "turns" / "meld", cluster.folder / "meld")
    shutil.copytree(corpus / "turns" / "emorynlp", cluster.folder / "emorynlp")
    (cluster.folder / "my.yaml").write_text(parts["my.yaml"])
    store = parts["store.properties"].replace("http://storage.example:9000", cluster.variables["AWS_ENDPOINT_URL"])
    lines = parts["cluster.properties"] + store + parts["small.properties"]
    (cluster.folder / "cluster.properties").write_text(lines)
    client = bucket_client(cluster)
    client.create_bucket(Bucket=BUCKET)
    upload_source(cluster, zip_of(corpus).read_bytes())


def bucket_client(cluster: Cluster) -> Any:
    endpoint = cluster.variables["AWS_ENDPOINT_URL"]
    return boto3.client("s3", endpoint_url=endpoint, aws_access_key_id="test", aws_secret_access_key="test")


def upload_source(cluster: Cluster, content: bytes) -> None:
    bucket_client(cluster).put_object(Bucket=BUCKET, Key=SOURCE, Body=content)


def zip_of(corpus: Path) -> Path:
    return corpus / "opus" / "OpenSubtitles" / "v2018" / "en.zip"


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
    """The page's ``run`` with stages of networks: tiny ones, and this test's own Python, which has torch.

    The workers' Python breaks once as a device does.
    """
    breaks = cluster.folder.parent / "breaks"
    breaks.mkdir()
    (breaks / "sitecustomize.py").write_text(BREAKS_ONCE.format(mark=str(breaks / "broken")))
    lines = (cluster.folder / "cluster.properties").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("spark.archives", "spark.pyspark."))]
    kept += [
        f"spark.pyspark.python {sys.executable}",
        f"spark.executorEnv.{CACHE} {cluster.folder.parent}/copies",
        f"spark.executorEnv.PYTHONPATH {breaks}",
    ]
    (cluster.folder / "own.properties").write_text("\n".join(kept) + "\n")
    shutil.copytree(encoder, cluster.folder / "encoder")
    shutil.copytree(corpus / "labels", cluster.folder / "labels")
    settings = f"models.weak_encoder=file:encoder edos.weak_label_examples=labels {' '.join(TRAINED)}"
    command = blocks(PAGE)["run"].replace("cluster.properties", "own.properties").rstrip()
    return f"{command.replace('--to clean_dialogues', '--to label_weakly')} --set {settings}"


def run_locally(folder: Path, corpus: Path, last: str, *options: str) -> Path:
    """A local lakehouse of the same corpus, up to a stage: what the cluster's tables are held against."""
    given = [
        f"lakehouse.root={folder}/lakehouse",
        f"subtitles.sources=[{zip_of(corpus)}]",
        f"subtitles.turn_examples=[{corpus}/turns/meld, {corpus}/turns/emorynlp]",
        "subtitles.lemmatizer=simplemma",
        *options,
    ]
    command = [sys.executable, "-m", "jobs", "run", "--to", last, "--set", *given]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=LONGEST)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "lakehouse"


@pytest.fixture(scope="module")
def undisturbed(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_locally(tmp_path_factory.mktemp("undisturbed"), corpus, "clean_dialogues")


def assert_same_rows(cluster: Cluster, undisturbed: Path, tables: Iterable[str]) -> None:
    for table in tables:
        here = table_rows(str(undisturbed / table))
        there = table_rows(f"s3://{BUCKET}/lakehouse/{table}", cluster.store)
        assert here == there, f"{table}: {here.total()} rows here, {there.total()} there"
        assert here or table in MAY_BE_EMPTY, table


def test_the_pages_commands_run(cluster: Cluster, corpus: Path, undisturbed: Path) -> None:
    parts = blocks(PAGE)
    properties = {"cluster.properties", "store.properties", "small.properties"}
    assert set(parts) == {"environment", "my.yaml", *properties, "plan", "run", "status", "sql"}
    started = time.monotonic()
    make_environment(cluster)
    prepare(cluster, corpus)
    print(f"prepared after {time.monotonic() - started:.0f} s")

    if not SHORT:
        planned = cluster.said(parts["plan"])
        assert re.search(r"1 +find_subtitles +run +first run", planned), planned[-4000:]

    status, said = cluster.run_and_kill(parts["run"], "ingest_subtitles (first run)", "worker2")
    print(f"run after {time.monotonic() - started:.0f} s")
    assert status == 0, said[-6000:]
    assert "clean_dialogues (first run)" in said

    if not SHORT:
        assert "not yet" not in cluster.said(parts["status"])
    counted = cluster.said(parts["sql"])
    dialogues = int(re.findall(r"^[| ]*(\d+)[| ]*$", counted, re.MULTILINE)[0])
    print(f"all commands after {time.monotonic() - started:.0f} s")
    assert_same_rows(cluster, undisturbed, TABLES)
    assert dialogues == table_rows(str(undisturbed / "subtitles/clean_dialogues")).total() > 0


def test_a_source_that_arrived_by_half_changes_nothing(cluster: Cluster, corpus: Path, undisturbed: Path) -> None:
    """The run is refused before it deletes; with the whole source there again, it goes on."""
    content = zip_of(corpus).read_bytes()
    upload_source(cluster, content[: len(content) // 2])
    refused = cluster.shell(blocks(PAGE)["run"])
    assert refused.returncode == REFUSED, refused.stdout[-4000:] + refused.stderr[-2000:]
    assert_same_rows(cluster, undisturbed, TABLES)
    upload_source(cluster, content)
    cluster.said(blocks(PAGE)["run"])
    assert_same_rows(cluster, undisturbed, TABLES)


@pytest.mark.skipif(SHORT, reason="CLUSTER_LANE=short ends with clean dialogues: run `make cluster` for the rest")
def test_a_model_reaches_the_workers_through_the_store(
    cluster: Cluster, corpus: Path, undisturbed: Path, tmp_path: Path
) -> None:
    """After the commands of the page: a training and its scoring, with no folder that driver and workers share.

    One of the two workers has a full disk, and the first model that is asked meets a broken device.
    """
    cluster.start_worker("worker3", disk=FULL)
    encoder = tiny_encoder(tmp_path / "encoder")
    done = cluster.shell(as_tests_do(cluster, encoder, corpus))
    said = done.stdout
    assert done.returncode == 0, done.stderr[-2000:] + said[-4000:]
    # The executor's own log lies on the disk that is full; the driver says why it has lost it.
    assert re.search("Lost .*executor .*No space left on device", done.stderr), done.stderr[-4000:]
    assert (cluster.folder.parent / "breaks" / "broken").exists()
    assert "score_weakly (first run)" in said
    assert "label_weakly (first run)" in said
    (copy,) = [path for path in (cluster.folder.parent / "copies" / "copies").iterdir() if path.is_dir()]
    assert copy.name.startswith("models-edos-weak-labeler-1-")
    assert any(copy.rglob("*.safetensors"))
    scores = DeltaTable(f"s3://{BUCKET}/lakehouse/edos/weak_scores", storage_options=cluster.store).to_pyarrow_table()
    assert scores.num_rows > 100
    assert scores["error"].null_count == scores.num_rows
    weak = [f"models.weak_encoder=file:{encoder}", f"edos.weak_label_examples={corpus}/labels"]
    run_locally(undisturbed.parent, corpus, "label_weakly", *weak, *TRAINED)
    assert_same_rows(cluster, undisturbed, (*TABLES, *WEAK_TABLES))
    found = bucket_client(cluster).list_objects_v2(Bucket=BUCKET, Prefix="lakehouse/_models/")
    names = [entry["Key"] for entry in found["Contents"]]
    assert any(name.endswith("complete.json") for name in names)
    # The empty entry of the folder itself stays.
    left = [name for name in names if "/checkpoints/" in name and not name.endswith("/")]
    assert not left, "deleted when the training has ended"
