"""The demo's path to clean dialogues over Spark Connect: the same rows as without, and no Java in the driver.

``make connect`` takes pyspark 4, which brings the server's jar; for pyspark 3.5 it is fetched where that is possible.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from etl.pipeline.session import DELTA
from tests.clusters.commands import LONGEST, REPOSITORY, SMALL_OPTIONS, TABLES, ivy, table_rows
from tests.corpora import write_small_corpus
from tests.ports import free_port, listening

PYTHON = os.environ.get("SPARK4_PYTHON") or sys.executable
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
pytestmark = [pytest.mark.slow, pytest.mark.connect, pytest.mark.timeout(3 * LONGEST)]

SMALL = ("spark.shuffle_partitions=2", "spark.short_session=true")


def printed(expression: str, imports: str) -> str:
    """Evaluate an expression with the Python of this test, and return what it prints."""
    code = f"{imports}; print({expression})"
    done = subprocess.run([PYTHON, "-c", code], cwd=REPOSITORY, capture_output=True, text=True)
    if "No module named 'grpc'" in done.stderr:
        pytest.skip("grpcio is not installed beside the pyspark of this test: run `make connect`")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server on two cores, in a process of its own; gives its address."""
    version = printed("pyspark.__version__", "import pyspark, grpc")
    home = printed("_find_spark_home()", "from pyspark.find_spark_home import _find_spark_home")
    folder = tmp_path_factory.mktemp("server")
    port = free_port()
    jars = printed("class_path()", "from etl.pipeline.jars import class_path")
    conf = DELTA | {
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.extraClassPath": jars,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.jars.ivy": str(ivy()),
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.master": "local[2]",
    }
    options = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    fetched = ["--packages", f"org.apache.spark:spark-connect_2.12:{version}"] if version < "4" else []
    command = [str(Path(home, "bin", "spark-submit")), "--class", SERVER, *fetched, *options]
    # The server's workers have the libraries of this Python; our packages are sent by the driver.
    variables = os.environ | {"PYSPARK_PYTHON": PYTHON, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": home}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen([*command, "spark-internal"], stdout=log, stderr=log, env=variables, cwd=folder)
    try:
        wait_for_server(process, port, folder / "server.log")
        yield f"sc://localhost:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)


def wait_for_server(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until a server listens; skip where its jar cannot be had."""
    while process.poll() is None:
        if listening(port):
            return
        time.sleep(0.5)
    said = log.read_text()
    if "unresolved dependency: org.apache.spark#spark-connect" in said:
        pytest.skip("no jar of Spark Connect's server for pyspark 3.5 here: `make connect` takes pyspark 4")
    raise AssertionError(said[-4000:])


def run_to_clean_dialogues(corpus: Path, root: Path, *settings: str) -> str:
    options = [
        f"lakehouse.root={root}",
        f"subtitles.sources=[{corpus}/opus/OpenSubtitles/v2018/en.zip]",
        f"subtitles.turn_examples=[{corpus}/turns/meld]",
        "subtitles.lemmatizer=simplemma",
        *SMALL_OPTIONS,
        *settings,
    ]
    done = subprocess.run(
        [PYTHON, "-m", "jobs", "run", "--traceback", "--to", "clean_dialogues", "--set", *options],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stderr[-6000:] + done.stdout[-3000:]
    return done.stdout


def test_the_rows_are_those_of_a_session_with_java(server: str, tmp_path: Path) -> None:
    started = time.monotonic()
    write_small_corpus(tmp_path / "corpus")
    said = run_to_clean_dialogues(tmp_path / "corpus", tmp_path / "connect", f"spark.master={server}")
    assert "clean_dialogues (first run)" in said
    print(f"over Connect after {time.monotonic() - started:.0f} s")
    run_to_clean_dialogues(tmp_path / "corpus", tmp_path / "local", *SMALL)
    print(f"without after {time.monotonic() - started:.0f} s")
    for table in TABLES:
        over = table_rows(str(tmp_path / "connect" / table))
        without = table_rows(str(tmp_path / "local" / table))
        assert over == without, f"{table}: {over.total()} rows over Connect, {without.total()} without"
    assert table_rows(str(tmp_path / "connect" / "subtitles/clean_dialogues")).total() > 0
