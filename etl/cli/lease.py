"""One run at a time works at a stage of a lakehouse: a lease that ends with its process, however that ends."""

import errno
import fcntl
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import Settings
from etl.pipeline.folders import Folders, located
from etl.pipeline.lakehouse import Lakehouse
from etl.tables.ops import STAGE_RUNS
from udfs.models.stores import is_store

FOLDER = "_leases"
BEAT_SECONDS = 15.0
SILENT_SECONDS = 75.0
"""A lease whose number has not grown for so long, by the clock of the one who waits, belongs to nobody."""
SETTLE_SECONDS = 3.0
_NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK, errno.EINVAL, errno.EOPNOTSUPP}


class Store(Protocol):
    """Small files of a lakehouse's folder; ``etl.pipeline.folders.Folders`` is one."""

    def read_text(self, path: str) -> str | None: ...
    def write_text(self, path: str, text: str) -> Any: ...
    def delete(self, path: str) -> None: ...


def holder() -> dict[str, Any]:
    """Return what a lease says of this process."""
    return {"host": socket.gethostname(), "process": os.getpid()}


@contextmanager
def local_lease(root: str, stage: str, wait_minutes: float) -> Iterator[bool]:
    """Hold a stage's lock in a lakehouse on a disk; the system releases it when this process ends, even by a kill.

    Args:
        root: the lakehouse's folder.
        stage: name of the stage.
        wait_minutes: how long to wait for another run.

    Returns:
        Whether the lock is held: False on a store, or on a file system, without locks.

    Raises:
        InputError: another run holds it.
    """
    if _is_store(root):
        yield False
        return
    folder = _folder(root, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / stage).open("a+", encoding="utf-8") as file:
        until = time.monotonic() + 60 * wait_minutes
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    file.seek(0)
                    raise _in_use(root, stage, file.read()) from None
                time.sleep(min(1.0, max(0.05, until - time.monotonic())))
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    raise
                yield False
                return
        file.seek(0)
        file.truncate()
        file.write(json.dumps(holder()))
        file.flush()
        yield True


@dataclass
class BeatingLease:
    """A lease on a store without locks: a file with an owner and a number that the owner lets grow.

    Attributes:
        store: reads and writes the file.
        root: the lakehouse's folder.
        stage: name of the stage.
        sleep, now: of a clock that never goes back.
    """

    store: Store
    root: str
    stage: str
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic
    owner: str = field(default_factory=lambda: uuid.uuid4().hex)
    _number: int = 0

    @property
    def path(self) -> str:
        return f"{self.root.rstrip('/')}/{FOLDER}/{self.stage}.json"

    def acquire(self, wait_minutes: float) -> None:
        """Take the lease when nobody has it, or its owner is silent.

        Raises:
            InputError: its owner is alive after ``wait_minutes``.
        """
        until = self.now() + 60 * wait_minutes
        seen = self._known()
        since = self.now()
        while seen is not None:
            silent = self.now() - since >= SILENT_SECONDS
            if silent:
                break
            self.sleep(BEAT_SECONDS / 3)
            known = self._known()
            if known != seen:
                if known is not None and self.now() >= until:
                    raise _in_use(self.root, self.stage, json.dumps(known))
                seen = known
                since = self.now()
        self.beat()
        self.sleep(SETTLE_SECONDS)
        if not self.held():  # another one took it at the same time
            self.acquire(wait_minutes)

    def beat(self) -> None:
        """Let the number grow."""
        self._number += 1
        self.store.write_text(self.path, json.dumps({"owner": self.owner, "number": self._number, **holder()}))

    def held(self) -> bool:
        """Return whether the file still names this owner."""
        known = self._known()
        return known is not None and known.get("owner") == self.owner

    def release(self) -> None:
        if self.held():
            self.store.delete(self.path)

    def _known(self) -> dict[str, Any] | None:
        text = self.store.read_text(self.path)
        if text is None:  # stores replace a file by deleting it first
            self.sleep(SETTLE_SECONDS / 3)
            text = self.store.read_text(self.path)
        try:
            known = json.loads(text or "null")
        except ValueError:
            return {"owner": "unreadable"}
        return known if isinstance(known, dict) else None


@contextmanager
def beating(lease: BeatingLease, wait_minutes: float) -> Iterator[None]:
    """Hold a lease of a store inside the block."""
    lease.acquire(wait_minutes)
    stop = threading.Event()

    def run() -> None:
        while not stop.wait(BEAT_SECONDS):
            with suppress(Exception):  # a lost beat is made up by the next one
                if lease.held():
                    lease.beat()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(timeout=BEAT_SECONDS)
        with suppress(Exception):
            lease.release()


@contextmanager
def leased(spark: SparkSession, settings: Settings, stage: str) -> Iterator[None]:
    """Hold the lease of one stage of a lakehouse inside the block. Different stages may run at the same time.

    Raises:
        InputError: another run is at this stage, longer than ``pipeline.wait_minutes``.
    """
    root = settings.lakehouse.root
    minutes = settings.pipeline.wait_minutes
    with local_lease(root, stage, minutes) as locked:
        if locked:
            yield
            return
        with beating(BeatingLease(Folders(spark), located(root), stage), minutes):
            yield


def events(spark: SparkSession, settings: Settings) -> str | None:
    """Return a text that differs after each event that any run commits to ``ops.stage_runs``."""
    root = settings.lakehouse.root
    if settings.lakehouse.catalog is not None or _is_store(root):
        return Lakehouse(spark, settings.lakehouse).identity(STAGE_RUNS)
    log = _folder(root, STAGE_RUNS.name.replace(".", "/"), "_delta_log")
    return max((commit.name for commit in log.glob("*.json")), default="")


def _folder(root: str, *names: str) -> Path:
    """Return a folder of a lakehouse on a disk."""
    return Path(root.removeprefix("file:").replace("//", "/"), *names)


def _is_store(root: str) -> bool:
    return is_store(root) or root.startswith("dbfs:")


def _in_use(root: str, stage: str, text: str) -> InputError:
    try:
        known = json.loads(text)
        who = f"process {known['process']} on {known['host']}"
    except (ValueError, TypeError, KeyError):
        who = "another process"
    return InputError(
        f"{stage} of the lakehouse {root} is in use by {who}: wait until that run has ended, or set "
        "pipeline.wait_minutes"
    )
