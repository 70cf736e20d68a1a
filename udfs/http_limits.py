"""Limits of a whole HTTP request: its time, its bytes, its compression and where it is redirected.

httpx limits each wait for bytes alone, so a server that sends one byte a second is never late. Versions of OpenAI's
client bring httpx under several names; the one of the client at hand is used.
"""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

MOST_BYTES = 16 << 20
"""Of an answer with its headers, which is far more than ``openai_server.MOST_CHARACTERS`` take."""
_NOW = threading.local()


class _Left:
    """What is left of the limits of the request that this thread sends."""

    def __init__(self, seconds: float, most_bytes: int, errors: Any) -> None:
        self.seconds = seconds
        self.until = time.monotonic() + seconds
        self.bytes = most_bytes
        self.most_bytes = most_bytes
        self.errors = errors

    def wait(self, timeout: float | None) -> float:
        """Return how long the next operation may wait; raise ``ReadTimeout`` after the request's time."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise self.errors.ReadTimeout(f"not answered in {self.seconds:g} s")
        return left if timeout is None else min(left, timeout)

    def count(self, data: bytes) -> bytes:
        """Count received bytes; raise ``ReadError`` for too many."""
        self.bytes -= len(data)
        if self.bytes < 0:
            raise self.errors.ReadError(f"an answer of more than {self.most_bytes} bytes")
        return data


class _Stream:
    """A connection of httpcore whose reads and writes keep the limits of the request under way."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left: _Left | None = getattr(_NOW, "left", None)
        if left is None:
            return bytes(self._inner.read(max_bytes, timeout))
        return left.count(self._inner.read(max_bytes, left.wait(timeout)))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        left: _Left | None = getattr(_NOW, "left", None)
        self._inner.write(buffer, timeout if left is None else left.wait(timeout))

    def start_tls(self, *arguments: Any, **options: Any) -> "_Stream":
        return _Stream(self._inner.start_tls(*arguments, **options))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Backend:
    """A network backend of httpcore whose connections are limited."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def connect_tcp(self, *arguments: Any, **options: Any) -> _Stream:
        return _Stream(self._inner.connect_tcp(*arguments, **options))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def limited_client(kind: Callable[..., Any], seconds: float, most_bytes: int = MOST_BYTES, **options: Any) -> Any:
    """Return a client whose requests have a total time and size, are not compressed and stay on their host.

    Args:
        kind: httpx's ``Client``, or a function that makes one.
        seconds: total time of a request, from its first byte to the answer's last.
        most_bytes: of an answer with its headers.
        options: of ``kind``.
    """
    client = kind(headers={"Accept-Encoding": "identity"}, **options)
    httpx = sys.modules[next(one for one in type(client).__mro__ if one.__name__ == "Client").__module__.split(".")[0]]
    pools = [pool for one in (client._transport, *client._mounts.values()) if (pool := getattr(one, "_pool", None))]
    httpcore = sys.modules[type(pools[0]).__module__.split(".")[0]]
    for pool in pools:  # httpx has no argument for httpcore's network_backend
        pool._network_backend = _Backend(pool._network_backend)

    def begin(request: Any) -> None:
        _NOW.left = _Left(seconds, most_bytes, httpcore)

    def check(response: Any) -> None:
        fault = _compressed(response) or _elsewhere(response)
        if fault is not None:
            raise httpx.RemoteProtocolError(fault)

    client.event_hooks = {"request": [begin], "response": [check]}
    return client


def _compressed(response: Any) -> str | None:
    """Return the fault of a compressed answer, which nobody asked for: a small one may unpack to gigabytes."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    plain = encoding in ("", "identity")
    return None if plain else f"an answer compressed by {encoding[:20]}, which was not asked for"


def _elsewhere(response: Any) -> str | None:
    """Return the fault of a redirect to another server, which would get the prompt and perhaps the key."""
    place = response.headers.get("location")
    if not response.is_redirect or place is None:
        return None
    here = response.request.url
    there = here.join(place)
    same = (there.host, there.port, there.scheme) == (here.host, here.port, here.scheme)
    return None if same else f"it redirects to another server, {there.scheme}://{there.host}"[:200]
