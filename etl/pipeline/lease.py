"""One run at a time works at a stage of a lakehouse on a disk: a lock that ends with its process, however that ends.

In S3 one run at a time works at a lakehouse (`etl.pipeline.store_lease`). In other stores, in volumes of Databricks and
in catalogs there are no locks. There two runs at one stage make each batch once, because Delta skips a commit that
carries an identity it knows; the second run's work is lost. A scheduler that starts one run at a time avoids that.
"""

import errno
import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from conf.errors import InUseError
from conf.places import local_path
from conf.redaction import without_user_info
from conf.settings import Settings
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.tables import in_set
from etl.pipeline.tables.ops import STAGE_RUNS
from udfs.models.stores import is_store

FOLDER = "_leases"
SILENT_SECONDS = 1.5
"""Seconds that a run waits for another one before it prints a line about it."""
_NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK, errno.EINVAL, errno.EOPNOTSUPP}


def holder() -> dict[str, Any]:
    """Return what a lease says of this process."""
    since = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return {"host": socket.gethostname(), "process": os.getpid(), "since": since}


@contextmanager
def local_lease(root: str, stage: str, wait_minutes: float, say: Callable[[str], None] = print) -> Iterator[bool]:
    """Hold a stage's lock in a lakehouse on a disk; the system releases it when this process ends, even by a kill.

    Args:
        root: the lakehouse's folder.
        stage: name of the stage.
        wait_minutes: how long to wait for another run.
        say: prints what it waits for.

    Returns:
        Whether the lock is held: False on a store, or on a file system, without locks.

    Raises:
        InUseError: another run holds it.
    """
    if _is_store(root):
        yield False
        return
    folder = _folder(root, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / stage).open("a+", encoding="utf-8", errors="replace") as file:
        began = time.monotonic()
        until = began + 60 * wait_minutes
        told = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                file.seek(0)
                if time.monotonic() >= until:
                    raise in_use(root, stage, file.read()) from None
                if not told and time.monotonic() - began >= SILENT_SECONDS:
                    told = True
                    say(f"{used_by(root, stage, file.read())}: waits for it, at most {wait_minutes:g} min")
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


@contextmanager
def leased(settings: Settings, stage: str, say: Callable[[str], None] = print) -> Iterator[None]:
    """Hold the lock of one stage of a lakehouse inside the block. Different stages, and sets, may run at the same time.

    ``say`` prints what it waits for.

    Raises:
        InUseError: another run is at this stage, longer than ``pipeline.wait_minutes``.
    """
    own = settings.lakehouse.set
    name = f"{own}.{stage}" if own else stage
    with local_lease(settings.lakehouse.root, name, settings.pipeline.wait_minutes, say):
        yield


def events(spark: SparkSession, settings: Settings) -> str | None:
    """Return a text that differs after each event that any run commits to ``ops.stage_runs``."""
    root = settings.lakehouse.root
    if settings.lakehouse.catalog is not None or _is_store(root):
        return Lakehouse(spark, settings.lakehouse).identity(STAGE_RUNS)
    log = _folder(root, in_set(STAGE_RUNS.name, settings.lakehouse.set).replace(".", "/"), "_delta_log")
    return max((commit.name for commit in log.glob("*.json")), default="")


def _folder(root: str, *names: str) -> Path:
    """Return a folder of a lakehouse on a disk."""
    return Path(local_path(root) or root, *names)


def _is_store(root: str) -> bool:
    """Return whether a root is in a store, or in a folder that stands for one, in which a lock means nothing."""
    return is_store(root) or root.startswith(("dbfs:", "/dbfs/", "/Volumes/"))


def used_by(root: str, stage: str | None, text: str) -> str:
    """Return in words who has taken a lock, and since when.

    Args:
        root: the lakehouse.
        stage: at which the other run works; None: at the whole lakehouse.
        text: what the other run wrote into its lock, as of `holder`.
    """
    try:
        known = json.loads(text)
        who = f"process {known['process']} on {known['host']}"
        who += f" since {known['since']}" if "since" in known else ""
    except (ValueError, TypeError, KeyError):
        who = "another process"
    what = "the lakehouse" if stage is None else f"{stage} of the lakehouse"
    return f"{what} {without_user_info(root)} is in use by {who}"


def in_use(root: str, stage: str | None, text: str) -> InUseError:
    """Return the error of a run that finds a lock taken; the arguments are those of `used_by`."""
    return InUseError(f"{used_by(root, stage, text)}: wait until that run has ended, or set pipeline.wait_minutes")
