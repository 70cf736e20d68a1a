"""Ports of this machine for servers that tests start."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager


def free_port() -> int:
    """Return a port that nothing listens on."""
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def listening(port: int) -> bool:
    """Return whether something listens on a port."""
    with closing(socket.socket()) as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def silent_server() -> Iterator[str]:
    """Yield the address of a server that accepts connections and says nothing."""
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        one.listen(100)  # the system accepts them
        yield f"127.0.0.1:{one.getsockname()[1]}"
