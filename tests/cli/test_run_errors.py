"""Faults of a run as users read them: one line with the thing, the place and the cure."""

import errno
from pathlib import Path
from types import SimpleNamespace

import pytest

from conf.errors import InputError
from conf.settings import Settings, load_settings
from etl.cli import command_line, run_errors, running
from etl.cli.run_errors import fault_line
from etl.pipeline.runner import StageError

ROOT = "/lake"
MISSING = (
    "An error occurred while calling o321.collectToPython.\n: org.apache.spark.SparkException: Job aborted due to "
    "stage failure: Task 0 in stage 3.0 failed 1 times\nCaused by: org.apache.spark.SparkFileNotFoundException: File "
    "file:/lake/subtitles/files/part-00000-1.c000.snappy.parquet does not exist\nIt is possible the underlying files "
    "have been updated."
)
NO_METASTORE = "HiveException: Unable to instantiate org.apache.hadoop.hive.ql.metadata.SessionHiveMetaStoreClient"
SILENT_METASTORE = (
    "org.apache.hadoop.hive.ql.metadata.HiveException: org.apache.thrift.transport.TTransportException: "
    "java.net.SocketTimeoutException: Read timed out"
)
WORKER = (
    "An exception was thrown from the Python worker. Please see the stack trace below.\n"
    'Traceback (most recent call last):\n  File "x.py", line 3, in f\n    g()\n'
    "ZeroDivisionError: division by zero\n\nJVM stacktrace:\norg.apache.spark.SparkException: Job aborted\n"
)


class Py4JJavaError(Exception):
    """Stands for the bridge's error: its name and text are all that is looked at."""


class Py4JNetworkError(Exception):
    pass


class LostError(Py4JJavaError):
    def __str__(self) -> str:
        raise ConnectionRefusedError(111, "Connection refused")


@pytest.fixture()
def settings() -> Settings:
    return load_settings("local", [], {"lakehouse.root": ROOT})


def chained(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/tmp/x/part-1"), ("no space left", "/tmp/x/part-1")),
        (Py4JJavaError("calling o1.save.\n: java.io.IOException: No space left on device"), ("no space", "free some")),
        (
            Py4JJavaError(
                "o3\n: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4"
                " times, most recent failure: Lost task 0.3 in stage 0.0 (TID 5) (10.0.0.5 executor 1):"
                " java.io.IOException: No space left on device"
            ),
            ("disk of the worker 10.0.0.5 (executor 1)", "spark.local.dir"),
        ),
        (
            Py4JJavaError(
                "o3\n: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4"
                " times, most recent failure: Lost task 0.3 in stage 0.0 (TID 5) (10.0.0.5 executor 1):"
                " ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: exit code 137"
            ),
            ("the last one of the worker 10.0.0.5 (executor 1)", "spark.executor.memory"),
        ),
        (PermissionError(errno.EACCES, "Permission denied", "/lake/edos"), ("cannot write to /lake/edos",)),
        (PermissionError(errno.EACCES, "Permission denied", "/data/x"), ("no permission for /data/x", "readable")),
        (
            Py4JJavaError(
                "o2\n: io.delta.DeltaIOException: [DELTA_CANNOT_CREATE_LOG_PATH] Cannot create file:/sys/l/_delta_log"
            ),
            ("cannot write to /sys/l/_delta_log",),
        ),
        (
            Py4JJavaError(MISSING),
            ("table subtitles.files lacks its file subtitles/files/part-00000-1", "delete /lake/subtitles/files"),
        ),
        (
            Py4JJavaError(
                "o9\n: io.delta.exceptions.DeltaTableFeatureException: [DELTA_UNSUPPORTED_FEATURES_FOR_READ] "
                'Unable to read table file:/lake/edos/seeds because it requires reader table feature "x"'
            ),
            ("table edos.seeds has other columns or features", "package_version"),
        ),
        (
            Py4JJavaError(
                "o7\n: com.fasterxml.jackson.core.JsonParseException: Unexpected character in "
                "/lake/edos/seeds/_delta_log/0.json"
            ),
            ("the log of table edos.seeds is damaged", "delete /lake/edos/seeds"),
        ),
        (Py4JNetworkError("Answer from Java side is empty"), ("Spark's Java process ended", "python -m jobs doctor")),
        (LostError("x"), ("Spark's Java process ended", "run again to continue")),
        (
            Py4JJavaError("o1\n: org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)"),
            ("a worker process ended", "models.batch_size"),
        ),
        (
            Py4JJavaError("o1\n: org.apache.spark.SparkException: Task 0 failed: java.lang.StackOverflowError\n\tat x"),
            ("the stack of Java overflowed in stage shout", "-Xss64m"),
        ),
        (ValueError(WORKER), ("ZeroDivisionError: division by zero",)),
        (
            Py4JJavaError("o1\n: org.apache.spark.SparkException: Job aborted.\n\tat org.x"),
            ("Spark failed: SparkException: Job aborted.",),
        ),
        (Py4JJavaError("nothing"), ("Spark failed without a message",)),
        (ConnectionRefusedError(111, "Connection refused"), ("Connection refused",)),
        (
            chained(
                RuntimeError("x"), ValueError("(sqlite3.DatabaseError) file is not a database\n[SQL: SELECT name]")
            ),
            ("the MLflow store sqlite:////lake/mlflow.db is damaged", "delete it", "trainings make their models again"),
        ),
        (
            RuntimeError("(sqlite3.OperationalError) database is locked\n[SQL: SELECT name]"),
            ("the MLflow store sqlite:////lake/mlflow.db is locked by another process", "wait", "run again"),
        ),
        (
            chained(
                ValueError(NO_METASTORE),
                Py4JJavaError(
                    "o1\nERROR: Another instance of Derby may have already booted the database /d/db.\n\tat x"
                ),
            ),
            ("metastore /d/db is locked by another process in stage shout", "end that one"),
        ),
        (
            ValueError(NO_METASTORE),
            ("the catalog's Hive metastore does not answer", "hive.metastore.uris"),
        ),
        (
            Py4JJavaError(SILENT_METASTORE),
            ("the catalog's Hive metastore does not answer", "hive.metastore.uris"),
        ),
        (StageError("it does not add up: Permission denied"), ("StageError: it does not add up: Permission denied",)),
        (KeyError(), ("KeyError: no message",)),
    ],
)
def test_a_fault_is_told_in_one_line(error: BaseException, words: tuple[str, ...], settings: Settings) -> None:
    line = fault_line(error, settings, "shout")
    assert "\n" not in line
    assert "Py4J" not in line
    assert "o1" not in line
    for word in words:
        assert word in line, line
    assert line.count("shout") <= 2
    assert "  " not in line


def test_words_of_our_own_from_a_worker_stay(settings: Settings) -> None:
    ours = "RuntimeError: the server http://x is unreachable (No space left on device)"
    assert fault_line(ValueError(WORKER.replace("ZeroDivisionError: division by zero", ours)), settings) == ours
    ours = "conf.errors.InputError: model x: train it first"
    told = fault_line(ValueError(WORKER.replace("ZeroDivisionError: division by zero", ours)), settings)
    assert told == "model x: train it first"


def test_the_fullest_disk_is_named(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setattr(run_errors, "_free", lambda path: 0.0 if path == ROOT else 1e12)
    line = fault_line(RuntimeError("No space left on device"), settings)
    assert line.startswith("no space left on the disk of /lake (lakehouse.root): free some")


def test_a_run_ends_with_status_1_and_the_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from etl.pipeline import session

    def lost(*_: object) -> None:
        raise Py4JNetworkError("Answer from Java side is empty")

    local = SimpleNamespace(sparkContext=SimpleNamespace(master="local[1]"))
    monkeypatch.setattr(session, "spark_session", lambda settings: local)
    monkeypatch.setattr(session, "close_session", lost)

    def runs(spark: object, settings: object, stages: object, begun: list[str], again: bool) -> None:
        begun.append("x")
        lost()

    monkeypatch.setattr(running, "run_stages", runs)
    assert command_line.main(["run", "--set", f"lakehouse.root={tmp_path}"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("edos-lakehouse: Spark's Java process ended in stage x")
    assert told.count("\n") == 1
    assert command_line.main(["run", "--traceback", "--set", f"lakehouse.root={tmp_path}"]) == 1
    assert "Traceback" in capsys.readouterr().err

    def bad(*_: object) -> None:
        raise InputError("bad input")

    monkeypatch.setattr(running, "run_stages", bad)
    assert command_line.main(["run", "--set", f"lakehouse.root={tmp_path}"]) == 2
    assert capsys.readouterr().err == "edos-lakehouse: bad input\n"


@pytest.mark.parametrize("left", [b"hello, this is no database" * 100, b"SQLite format 3\0" + b"\x10\0\1\1" * 256])
def test_a_damaged_mlflow_store_is_told_by_its_place(tmp_path: Path, left: bytes) -> None:
    from etl.pipeline.model_loader import resolve

    store = tmp_path / "mlflow.db"
    store.write_bytes(left)
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path)})
    with pytest.raises(Exception) as error:
        resolve("models:/edos-turn-segmenter@champion", tmp_path / "models", f"sqlite:///{store}", False, None)
    line = fault_line(error.value, settings, "score_turns")
    assert line.startswith(f"the MLflow store sqlite:///{store} is damaged in stage score_turns: restore it, or delete")
