"""Several requests at once to a served language model, with their pace and times.

The protocol of its server is a `ServedModel`: ``udfs.openai_server`` has OpenAI's.
"""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Protocol

from conf.llm_settings import DecodingSettings, ServerSettings
from udfs.llm_requests import Answer, Request, UnavailableError


class ServedModel(Protocol):
    """A model behind a server, in the protocol that the server speaks; threads ask it together."""

    def check(self) -> None:
        """Check that the server has the model.

        Raises:
            InputError: The server is unreachable, refuses the key, or has other models only.
        """

    def answer(self, request: Request, decoding: DecodingSettings) -> Answer:
        """Return the answer to a request, without its time; or, as its error, why the server gave none to this one.

        Raises:
            RuntimeError: The server is unreachable or refuses all requests, after the retries.
        """


class ServerGenerator:
    """Asks a served model for several answers at once.

    Each request sends its seed, but a server need not give equal answers to equal seeds.

    Args:
        model: the model, in its server's protocol.
        workers: number of workers that share the rate limit.
    """

    def __init__(self, model: ServedModel, settings: ServerSettings, workers: int = 1) -> None:
        self.model = model
        self._concurrency = settings.concurrency
        limit = settings.requests_per_minute
        self._pace = Pace(60 * workers / limit if limit else 0)

    def check(self) -> None:
        """Check that the server has the model; errors as of `ServedModel.check`."""
        self.model.check()

    def answers(self, requests: Sequence[Request], decoding: DecodingSettings) -> list[Answer]:
        """Return the answers to the requests, in order.

        Raises:
            UnavailableError: The server is unreachable or refuses requests, after the retries.
        """
        with ThreadPoolExecutor(self._concurrency) as pool:
            futures = [pool.submit(self._timed, request, decoding) for request in requests]
            wait(futures, return_when=FIRST_EXCEPTION)
            # What the server has answered is paid for: only requests that were not sent are given up.
            pool.shutdown(wait=True, cancel_futures=True)
        failed = next((error for future in futures if not future.cancelled() and (error := future.exception())), None)
        if failed is None:
            return [future.result() for future in futures]
        done = [None if future.cancelled() or future.exception() else future.result() for future in futures]
        raise UnavailableError(str(failed), done) from None

    def _timed(self, request: Request, decoding: DecodingSettings) -> Answer:
        self._pace.wait()
        began = time.monotonic()
        answer = self.model.answer(request, decoding)
        return answer._replace(seconds=round(time.monotonic() - began, 4))


class Pace:
    """Rate limit: lets threads pass one by one, at least ``interval`` seconds apart."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        if self._interval <= 0:
            return
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._interval
        time.sleep(max(0.0, turn - now))
