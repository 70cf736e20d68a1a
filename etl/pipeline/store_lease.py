"""One run at a time works at a lakehouse in S3: a lock that is an object which only one run can make.

In S3 Delta keeps two drivers from writing the same commit only where a LogStore with locks is configured. Elsewhere the
later one of two commits would replace the earlier one, with all its rows. Azure's and Google's stores, and catalogs,
decide such commits themselves.
"""

import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import SparkSession

from conf.errors import InUseError, reason_of
from conf.redaction import without_user_info
from conf.settings import Settings
from etl.pipeline.lease import SILENT_SECONDS, holder, in_use, used_by

SCHEMES = ("s3", "s3a", "s3n")

PLACE = "_leases/run.json"
BEAT_SECONDS = 20.0
"""How often the run that holds the lock writes it again."""
LOST_SECONDS = 90.0
"""A lock that nobody has written again for so long, while somebody watched, is of a run that was killed."""


class StoreLease:
    """The lock of one lakehouse. No clocks are compared: a run that waits watches whether the object changes.

    Args:
        store: of the lakehouse's root, an obstore.
        root: the lakehouse, for messages.
        beat, lost: seconds, as `BEAT_SECONDS` and `LOST_SECONDS`.
    """

    def __init__(self, store: Any, root: str, beat: float = BEAT_SECONDS, lost: float = LOST_SECONDS) -> None:
        self.store = store
        self.root = root
        self.beat = beat
        self.lost = lost
        self._own = {**holder(), "run": uuid.uuid4().hex}
        self._tag: str | None = None
        self._beats = 0
        self._end = threading.Event()
        self._gone = False

    @contextmanager
    def held(self, wait_minutes: float, say: Callable[[str], None] = print) -> Iterator[Callable[[], None]]:
        """Hold the lock inside the block, and yield a function that raises an InUseError once the lock is lost.

        Args:
            wait_minutes: how long to wait for another run. Whether one that holds the lock still lives takes up to
                ``lost`` seconds to learn.
            say: prints what it waits for.

        Raises:
            InUseError: another run holds it.
        """
        self._take(wait_minutes, say)
        beating = threading.Thread(target=self._keep, daemon=True)
        beating.start()
        try:
            yield self.require
        finally:
            self._end.set()
            beating.join()
            if not self._gone:
                with suppress(Exception):  # the next run takes it when it has watched it for a while
                    self.store.delete(PLACE)

    def require(self) -> None:
        """Raise an InUseError where the lock could not be kept, so that another run may have taken it."""
        if self._gone:
            raise InUseError(
                f"the lock of the lakehouse {without_user_info(self.root)} was lost, because it could not be written "
                f"for {self.lost:g} seconds or another run took it: see that no other run works there, and run again"
            )

    def _take(self, wait_minutes: float, say: Callable[[str], None]) -> None:
        from obstore.exceptions import AlreadyExistsError, NotFoundError, PreconditionError

        began = time.monotonic()
        watched: str | None = None
        since = began
        lives = told = False
        while True:
            with suppress(AlreadyExistsError):
                self._write("create")
                return
            now = time.monotonic()
            try:
                there = self.store.get(PLACE)
                (tag, text) = (there.meta["e_tag"], bytes(there.bytes()).decode(errors="replace"))
            except NotFoundError:  # it was released meanwhile
                continue
            if tag != watched:
                (watched, since, lives) = (tag, now, watched is not None)
            elif now - since >= self.lost:
                with suppress(PreconditionError, AlreadyExistsError):
                    self._write({"e_tag": tag})
                    return
            if lives and now - began >= 60 * wait_minutes:
                raise in_use(self.root, None, text)
            if not told and now - began >= SILENT_SECONDS:
                told = True
                say(
                    f"{used_by(self.root, None, text)}: waits for it, at most {wait_minutes:g} min, and up to "
                    f"{self.lost:g} s to see whether that run still lives"
                )
            time.sleep(min(1.0, self.beat / 4))

    def _keep(self) -> None:
        """Write the lock again and again until the block ends or the lock is lost."""
        from obstore.exceptions import AlreadyExistsError, NotFoundError, PreconditionError

        written = time.monotonic()
        while not self._end.wait(self.beat):
            try:
                self._write({"e_tag": self._tag})
                written = time.monotonic()
            except (PreconditionError, AlreadyExistsError, NotFoundError):
                self._gone = True
            except Exception:  # the store does not answer: it may do so the next time
                self._gone = time.monotonic() - written >= self.lost
            if self._gone:
                return

    def _write(self, mode: Any) -> None:
        self._beats += 1
        content = json.dumps({**self._own, "beat": self._beats}).encode()
        self._tag = self.store.put(PLACE, content, mode=mode, use_multipart=False)["e_tag"]


@contextmanager
def run_lease(spark: SparkSession, settings: Settings, say: Callable[[str], None]) -> Iterator[Callable[[], None]]:
    """Hold the lock of a lakehouse in S3 inside the block; yield what raises an InUseError once it is lost.

    Lakehouses elsewhere have none, nor do those whose LogStore locks. Where the store cannot keep one, a line says so.

    Args:
        spark: the session, whose configuration names LogStores.
        settings: ``pipeline.wait_minutes`` says how long to wait for another run.
        say: prints a line.

    Raises:
        InUseError: another run holds it.
    """
    root = settings.lakehouse.root
    with ExitStack() as stack:
        require: Callable[[], None] = _nothing
        if is_locked(root, settings.lakehouse.catalog, lambda key: spark.conf.get(key, None)):
            try:
                lease = StoreLease(opened(root), root)
                require = stack.enter_context(lease.held(settings.pipeline.wait_minutes, say))
            except InUseError:
                raise
            except Exception as error:  # of the package, of the network, or of a store without conditional writes
                place = without_user_info(root)
                say(f"{place} cannot be locked ({reason_of(error)}): make sure that only one run at a time works there")
        yield require


def _nothing() -> None:
    """Do nothing: there is no lock that could be lost."""


def is_locked(root: str, catalog: str | None, conf: Callable[[str], str | None]) -> bool:
    """Return whether a lakehouse needs the lock: it is in S3, in no catalog, and no LogStore of its scheme is named."""
    scheme = urlsplit(root).scheme
    if catalog is not None or scheme not in SCHEMES:
        return False
    return not any(conf(f"spark.delta.logStore.{name}") for name in ("class", f"{scheme}.impl"))


def opened(root: str) -> Any:
    """Return the place of a root in S3, by the variables ``AWS_...`` or the machine's role."""
    from obstore.store import S3Store

    place = urlsplit(root)
    (user, _, bucket) = place.netloc.rpartition("@")
    (key, _, secret) = user.partition(":")
    given: dict[str, Any] = {"access_key_id": unquote(key), "secret_access_key": unquote(secret)} if user else {}
    address = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if address:
        given["endpoint"] = address
    elif not os.environ.get("AWS_REGION") and not os.environ.get("AWS_DEFAULT_REGION"):
        from pyarrow.fs import resolve_s3_region

        with suppress(OSError):
            given["region"] = resolve_s3_region(bucket)
    http: Any = {"allow_http": bool(address and address.startswith("http://")), "timeout": "15s"}
    return S3Store(bucket, prefix=place.path.strip("/") or None, client_options=http, **given)
