"""Refuse and note each connection to another machine, in every Python process that has this folder on its path.

Python imports this module at its start. `NOTES` names the file to which each attempt is appended. A process of Java is
not watched: Spark's sessions of the tests are bound to this machine.
"""

import os
import socket
import sys

NOTES = "EDOS_TESTS_CONNECTIONS"
_EVENTS = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}
"""Audit events, each with the place of the address among its arguments."""
_HERE = {"", "localhost", "localhost.localdomain", "::1", "::", "0.0.0.0", socket.gethostname()}


def _is_here(host: object) -> bool:
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
    return text in _HERE or text.startswith("127.")


def _watch(event: str, arguments: tuple) -> None:
    place = _EVENTS.get(event)
    if place is None:
        return
    address = arguments[place]
    if event in ("socket.connect", "socket.sendto"):
        if not isinstance(address, tuple):
            return  # a socket of the file system
        address = address[0]
    if _is_here(address):
        return
    with open(os.environ[NOTES], "a", encoding="utf-8") as notes:  # noqa: PTH123 - at Python's start
        notes.write(f"{event} {address!r} by {' '.join(sys.argv)[:200]}\n")
    raise OSError(f"a test opens no connection to {address!r}")


if os.environ.get(NOTES):
    sys.addaudithook(_watch)
