"""Bound the work on one file: any error is its own, and it ends after a time."""

import signal
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from udfs.opus.files import UnreadableError

Result = TypeVar("Result")


def guarded(work: Callable[[], Result], seconds: float, *, cpu: bool = False) -> Result | UnreadableError:
    """Return the result of the work on one file, or its error.

    Errors that no check expects have the reason ``reader_failed`` and the exception's type as detail. Work of more than
    ``seconds`` is stopped with ``too_slow`` at the next step of Python; each step within a library takes time linear in
    the file's bytes, which are capped. Outside the main thread, where Python handles no signals, the time is unlimited.

    Args:
        work: reads or parses the file.
        seconds: the most that it may take; 0: no limit.
        cpu: count the CPU time of the process, so that a busy machine makes no file too slow; for work that waits for
            nothing.
    """
    alarm = _Alarm(seconds, cpu)
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

    def __init__(self, seconds: float, cpu: bool) -> None:
        self._seconds = seconds
        self._cpu = cpu
        self._running = False
        self._usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        self._last_handler: Any = None
        self._last_timer = (0.0, 0.0)
        self._began = 0.0

    def start(self) -> None:
        if self._usable:
            self._began = self._time()
            self._last_handler = signal.signal(self._signal, self._ring)
            self._running = True
            self._last_timer = signal.setitimer(self._timer, self._seconds)

    def stop(self) -> None:
        if not self._running:
            return
        signal.setitimer(self._timer, 0)
        signal.signal(self._signal, self._last_handler)
        self._running = False
        left, interval = self._last_timer
        if left:
            signal.setitimer(self._timer, max(left - (self._time() - self._began), 0.001), interval)

    @property
    def _timer(self) -> int:
        return signal.ITIMER_PROF if self._cpu else signal.ITIMER_REAL

    @property
    def _signal(self) -> signal.Signals:
        return signal.SIGPROF if self._cpu else signal.SIGALRM

    def _time(self) -> float:
        return time.process_time() if self._cpu else time.monotonic()

    def _ring(self, *_: object) -> None:
        raise UnreadableError("too_slow", f"not read within {self._seconds:g} s{' of CPU time' if self._cpu else ''}")
