"""The lock of a lakehouse in S3: one run holds it, a killed one loses it, and where there is none a line says so."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from conf.errors import InUseError
from conf.settings import Settings, load_settings
from etl.pipeline import store_lease
from etl.pipeline.store_lease import PLACE, StoreLease, is_locked, opened, run_lease

pytest.importorskip("obstore")
from obstore.store import MemoryStore

ROOT = "s3a://bucket/lake"
NO_CONF: Any = SimpleNamespace(conf=SimpleNamespace(get=lambda key, default: default))
"""A session that names no LogStore."""


class Dead(StoreLease):
    """The lock of a run that stands still, or was killed: it is never written again, nor released."""

    def _keep(self) -> None:
        self._gone = True


def lease(store: Any, kind: type[StoreLease] = StoreLease, beat: float = 0.05, lost: float = 0.6) -> StoreLease:
    return kind(store, ROOT, beat, lost)


def there(store: MemoryStore) -> list[str]:
    return [one["path"] for batch in store.list() for one in batch]


def test_one_run_at_a_time_holds_the_lock_and_releases_it() -> None:
    store = MemoryStore()
    with lease(store).held(0) as require:
        with pytest.raises(InUseError, match=rf"the lakehouse {ROOT} is in use by process {os.getpid()} on ") as error:
            lease(store).held(0).__enter__()
        assert "\n" not in str(error.value)
        assert "pipeline.wait_minutes" in str(error.value)
        require()
        assert there(store) == [PLACE]
    assert there(store) == []
    with lease(store).held(0):
        assert there(store) == [PLACE]


def test_the_lock_of_a_killed_run_is_taken_after_a_while_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_lease, "SILENT_SECONDS", 0.1)
    store = MemoryStore()
    lease(store, Dead).held(0).__enter__()
    began = time.monotonic()
    said: list[str] = []
    with lease(store, lost=0.8).held(0, said.append):
        assert 0.7 < time.monotonic() - began < 30
    (line,) = said
    assert f"is in use by process {os.getpid()} on " in line
    assert "waits for it, at most 0 min, and up to 0.8 s to see whether that run still lives" in line


def test_a_run_that_lives_is_waited_for() -> None:
    store = MemoryStore()
    first = lease(store).held(0)
    first.__enter__()
    threading.Timer(1.0, lambda: first.__exit__(None, None, None)).start()
    began = time.monotonic()
    with lease(store, lost=60).held(1):
        assert 0.9 < time.monotonic() - began < 30


def test_of_several_that_wait_for_a_killed_run_one_takes_its_lock() -> None:
    store = MemoryStore()
    lease(store, Dead).held(0).__enter__()
    taken: list[str] = []

    def wait() -> None:
        try:
            with lease(store).held(0):
                taken.append("taken")
                time.sleep(1.5)
        except InUseError:
            taken.append("refused")

    threads = [threading.Thread(target=wait) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == ["refused", "refused", "refused", "taken"]


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)


def test_a_run_whose_lock_another_has_taken_stops_and_leaves_that_one_alone() -> None:
    store = MemoryStore()
    first = lease(store)
    with pytest.raises(InUseError, match="was lost"), first.held(0) as require:
        store.put(PLACE, b"of another run")
        until(lambda: first._gone)
        require()
    assert there(store) == [PLACE]


class Unreachable:
    """A store that takes one write and then does not answer."""

    def __init__(self) -> None:
        self.writes = 0

    def put(self, place: str, content: bytes, mode: Any, use_multipart: bool) -> dict[str, str]:
        self.writes += 1
        if self.writes == 1:
            return {"e_tag": "1"}
        raise OSError("no route to host")

    def delete(self, place: str) -> None:
        raise OSError("no route to host")


def test_a_store_that_does_not_answer_for_long_loses_the_lock() -> None:
    store = Unreachable()
    first = lease(store, lost=0.3)
    with first.held(0) as require:
        require()
        until(lambda: first._gone)
        assert store.writes > 2
        with pytest.raises(InUseError, match="was lost"):
            require()


@pytest.mark.parametrize(
    ("root", "catalog", "conf", "locked"),
    [
        ("s3://b/lake", None, {}, True),
        ("s3a://b/lake", None, {}, True),
        ("s3a://b/lake", "main", {}, False),
        ("s3a://b/lake", None, {"spark.delta.logStore.s3a.impl": "io.delta.storage.S3DynamoDBLogStore"}, False),
        ("s3://b/lake", None, {"spark.delta.logStore.s3a.impl": "io.delta.storage.S3DynamoDBLogStore"}, True),
        ("s3://b/lake", None, {"spark.delta.logStore.class": "org.example.Locking"}, False),
        ("gs://b/lake", None, {}, False),
        ("abfss://c@a.dfs.core.windows.net/lake", None, {}, False),
        ("/lake", None, {}, False),
        ("lake", None, {}, False),
        ("dbfs:/lake", None, {}, False),
    ],
)
def test_lakehouses_that_need_the_lock(root: str, catalog: str | None, conf: dict[str, str], locked: bool) -> None:
    assert is_locked(root, catalog, conf.get) == locked


def at(root: str) -> Settings:
    return load_settings("local", [], {"lakehouse.root": root})


@pytest.mark.parametrize(
    "error", [ModuleNotFoundError("No module named 'obstore'"), OSError("501 Not Implemented\nfor s3://me:hunter2@b/x")]
)
def test_a_store_that_cannot_be_locked_is_told_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fails(root: str) -> None:
        raise error

    monkeypatch.setattr(store_lease, "opened", fails)
    said: list[str] = []
    with run_lease(NO_CONF, at("s3://me:hunter2@b/lake"), said.append) as require:
        require()
    (line,) = said
    assert line.startswith("s3://***@b/lake cannot be locked (")
    assert "hunter2" not in line
    assert "\n" not in line


def test_an_error_of_the_run_itself_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    monkeypatch.setattr(store_lease, "opened", lambda root: store)
    said: list[str] = []
    with pytest.raises(ZeroDivisionError), run_lease(NO_CONF, at(ROOT), said.append):
        raise ZeroDivisionError
    assert said == []
    assert there(store) == []


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """The name of a bucket of a server that speaks S3, whose address is in the environment."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    (host, port) = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_REGION", "us-east-1")
        boto3.client("s3").create_bucket(Bucket="leases")
        yield "leases"
    server.stop()


def test_a_bucket_decides_between_two_runs(bucket: str) -> None:
    root = f"s3a://{bucket}/a lake/of mine"
    said: list[str] = []
    with run_lease(NO_CONF, at(root), said.append):
        (found,) = [one["path"] for batch in opened(f"s3://{bucket}").list() for one in batch]
        assert found == f"a lake/of mine/{PLACE}"
        second = StoreLease(opened(f"s3://{bucket}/a lake/of mine"), root, 0.2, 60)
        threading.Timer(0.5, lambda: opened(root).put(PLACE, b"written again")).start()
        with pytest.raises(InUseError, match="is in use by another process"):
            second.held(0).__enter__()
    assert said == []
