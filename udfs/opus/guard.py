"""Bound the work on one file: any error is its own, and it ends after a time."""

import signal
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from udfs.opus.files import UnreadableError

Result = TypeVar("Result")


def guarded(work: Callable[[], Result], seconds: float) -> Result | UnreadableError:
    """Return the result of the work on one file, or its error.

    Errors that no check expects have the reason ``reader_failed`` and the exception's type as detail. Work of more than
    ``seconds`` is stopped with ``too_slow`` at the next step of Python; each step within a library takes time linear in
    the file's bytes, which are capped. Outside the main thread, where Python handles no signals, the time is unlimited.
    """
    alarm = _Alarm(seconds)
    try:
        try:
            alarm.start()
            return work()
        finally:
            alarm.stop()
    except UnreadableError as error:
        return error
    except Exception as error:
        return UnreadableError("reader_failed", f"{type(error).__name__}: {error}")
    finally:
        alarm.stop()  # an alarm may have interrupted the first call


class _Alarm:
    """A timer that raises ``too_slow`` in the main thread, and then gives the signal back to its last owner."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._running = False
        self._usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        self._last_handler: Any = None
        self._last_timer = (0.0, 0.0)
        self._began = 0.0

    def start(self) -> None:
        if self._usable:
            self._began = time.monotonic()
            self._last_handler = signal.signal(signal.SIGALRM, self._ring)
            self._running = True
            self._last_timer = signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def stop(self) -> None:
        if not self._running:
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._last_handler)
        self._running = False
        left, interval = self._last_timer
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - self._began), 0.001), interval)

    def _ring(self, *_: object) -> None:
        raise UnreadableError("too_slow", f"not read within {self._seconds:g} s")
