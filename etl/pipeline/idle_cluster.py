"""End a session whose tasks wait for executors that never come: lost at once again and again, or never started."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from etl.pipeline.spark_api import cancel_tasks, is_connect, is_local, lost_executor, master, running_tasks

LOOK_SECONDS = 5.0


class NoExecutorError(RuntimeError):
    """Tasks waited for an executor for too long: exit status 1."""


@contextmanager
def ending_without_executors(spark: SparkSession, minutes: float) -> Iterator[None]:
    """Cancel the jobs of the block when no executor has worked on the tasks that wait for so many minutes.

    A standalone cluster starts executors for ever that end at once, such as on a worker without space. Nothing is
    looked at in a local session, whose tasks run in the driver, and over Spark Connect.

    Raises:
        NoExecutorError: that has happened; the message names the executor that was lost last, and why.
    """
    if is_connect(spark) or is_local(spark):
        yield
        return
    stop = threading.Event()
    given_up: list[str] = []

    def watch() -> None:
        at_work = time.monotonic()
        while not stop.wait(LOOK_SECONDS):
            try:
                running = running_tasks(spark)
                if running.at_work or running.done == running.tasks:
                    at_work = time.monotonic()
                elif time.monotonic() - at_work >= 60 * minutes:
                    given_up.append(_told(minutes, master(spark, "waiting"), lost_executor(spark)))
                    cancel_tasks(spark)
                    return
            except Exception:  # the session is going down, or its Java names are closed
                continue

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except Exception as error:
        if given_up:
            raise NoExecutorError(given_up[0]) from error
        raise
    finally:
        stop.set()
        watcher.join(timeout=2)


def _told(minutes: float, master: str, lost: str | None) -> str:
    why = f"the last one that was lost is {lost}" if lost else "it has none free, or they end before they register"
    return (
        f"no executor of {master} has worked on the waiting tasks for {minutes:g} minutes (pipeline.idle_minutes): "
        f"{why}; the logs of the workers say more: mend it, and run again to continue"
    )
