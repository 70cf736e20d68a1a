"""A run ends, and says why in a line, when nobody is there for its work or nobody answers: part of ``make cluster``."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from etl.pipeline.java_homes import java_home
from tests.clusters.commands import REPOSITORY
from tests.clusters.standalone import FULL, Cluster, standalone
from tests.corpora import write_small_corpus
from tests.ports import silent_server

IDLE = 0.5
"""Minutes without an executor after which a run ends."""
MOST = 600
"""Seconds within which each run ends, on a busy machine."""
HOLDS = """
import sys
from pyspark.java_gateway import launch_gateway
java = launch_gateway().jvm
store = java.org.apache.derby.jdbc.EmbeddedDriver()
store.connect(f"jdbc:derby:;databaseName={sys.argv[1]};create=true", java.java.util.Properties())
print("held", flush=True)
sys.stdin.read()
"""
"""A program that opens a Derby database, as a shell with a Hive metastore does, and keeps it."""
pytestmark = [pytest.mark.slow, pytest.mark.cluster, pytest.mark.timeout(3 * MOST)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_small_corpus(folder)
    return folder


@contextmanager
def cluster(folder: Path, disk: str | None = None) -> Iterator[Cluster]:
    (folder / "submits").mkdir()
    with standalone(folder / "submits", os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}, {}, disk) as one:
        yield one


def last_line(folder: Path, corpus: Path, to: str, *options: str, **variables: str) -> tuple[int, str]:
    """Run up to a stage; return the exit status and the last line on stderr."""
    source = corpus / "opus" / "OpenSubtitles" / "v2018" / "en.zip"
    own = [f"lakehouse.root={folder}/lakehouse", f"subtitles.sources=[{source}]", "subtitles.lemmatizer=simplemma"]
    done = subprocess.run(
        [sys.executable, "-m", "jobs", "run", "--to", to, "--set", *own, *options],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY), "SPARK_LOCAL_IP": "127.0.0.1"} | variables,
        capture_output=True,
        text=True,
        timeout=MOST,
    )
    (line,) = [one for one in done.stderr.splitlines() if "edos-lakehouse: " in one]
    return done.returncode, line[line.index("edos-lakehouse: ") :]


def on(one: Cluster) -> list[str]:
    memory = "spark.conf.spark.executor.memory=512m"
    return [f"spark.master={one.variables['MASTER']}", f"pipeline.idle_minutes={IDLE}", memory]


def test_the_disks_of_all_workers_are_full(corpus: Path, tmp_path: Path) -> None:
    large = tmp_path / "large.bin"
    large.write_bytes(bytes(4 << 20))
    with cluster(tmp_path, FULL) as one:
        status, line = last_line(tmp_path, corpus, "find_subtitles", *on(one), f"spark.conf.spark.files={large}")
        assert one.variables["MASTER"] in line
    assert status == 1
    for words in ("executor ", " on 127.0.0.1:", "No space left on device", "pipeline.idle_minutes", "run again"):
        assert words in line, line


def test_executors_that_are_lost_as_they_come_up(corpus: Path, tmp_path: Path) -> None:
    over = threading.Event()
    killed = 0

    def kills() -> None:
        nonlocal killed
        while not over.wait(0.2):
            killed += one.kill_executors("worker1") + one.kill_executors("worker2")

    with cluster(tmp_path) as one:
        killer = threading.Thread(target=kills)
        killer.start()
        try:
            status, line = last_line(tmp_path, corpus, "find_subtitles", *on(one))
        finally:
            over.set()
            killer.join()
        assert one.variables["MASTER"] in line
    assert killed > 2
    assert status == 1
    for words in ("no executor of", "pipeline.idle_minutes", "the logs of the workers", "run again"):
        assert words in line, line


def test_a_model_hub_that_says_nothing(corpus: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    with silent_server() as address:
        model = "models.turn_segmenter=hf:some/name"
        status, line = last_line(tmp_path, corpus, "score_turns", model, HF_ENDPOINT=f"http://{address}")
    assert time.monotonic() - began < 120
    assert status == 2
    assert "models.turn_segmenter: model hf:some/name: cannot be downloaded" in line
    assert "use pkg: or file: offline" in line


def test_a_model_registry_that_says_nothing(corpus: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    with silent_server() as address:
        model = "models.turn_segmenter=models:/segmenter@champion"
        status, line = last_line(tmp_path, corpus, "score_turns", model, f"mlflow.tracking_uri=http://{address}")
    assert time.monotonic() - began < 120
    assert status == 2
    assert f"mlflow.tracking_uri http://{address} does not answer" in line
    assert "start the server, or name another" in line


def test_a_model_registry_that_is_locked(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "lakehouse").mkdir()
    with closing(sqlite3.connect(tmp_path / "lakehouse" / "mlflow.db", isolation_level=None)) as held:
        held.execute("BEGIN EXCLUSIVE")
        model = "models.turn_segmenter=models:/segmenter@champion"
        status, line = last_line(tmp_path, corpus, "score_turns", model)
    assert status == 1
    assert f"{tmp_path}/lakehouse/mlflow.db is locked by another process" in line
    assert "run again" in line


def test_a_catalog_that_says_nothing(corpus: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    hive = ("lakehouse.catalog=spark_catalog", "spark.conf.spark.sql.catalogImplementation=hive")
    with silent_server() as address:
        uris = f"spark.conf.spark.hadoop.hive.metastore.uris=thrift://{address}"
        status, line = last_line(tmp_path, corpus, "find_subtitles", *hive, uris)
    assert time.monotonic() - began < MOST
    assert status == 1
    assert "the catalog's Hive metastore does not answer" in line
    assert "hive.metastore.uris" in line


def test_a_catalog_that_is_locked(corpus: Path, tmp_path: Path) -> None:
    store = tmp_path / "metastore_db"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(store)],
        cwd=tmp_path,
        env=os.environ | {"JAVA_HOME": str(java_home(None)), "SPARK_LOCAL_IP": "127.0.0.1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        hive = ("lakehouse.catalog=spark_catalog", "spark.conf.spark.sql.catalogImplementation=hive")
        status, line = last_line(tmp_path, corpus, "find_subtitles", *hive)
    finally:
        holder.kill()
        holder.wait()
    assert status == 1
    assert f"metastore {store} is locked by another process" in line
    assert "run again" in line
