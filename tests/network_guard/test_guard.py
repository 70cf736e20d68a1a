"""The guard itself: this machine may be reached, any other is refused and noted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.network_guard import guarded

LOCAL = """
import socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(("localhost", server.getsockname()[1]), timeout=5).close()
"""
OUTSIDE = {
    "address": "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)",
    "name": "import urllib.request; urllib.request.urlopen('http://example.org', timeout=1)",
    "datagram": "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
    "thread": "import threading, socket; t = threading.Thread(target=socket.gethostbyname, args=('example.org',)); "
    "t.start(); t.join()",
    "child": "import subprocess, sys; subprocess.run([sys.executable, '-c', "
    "\"import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)\"])",
}


def run(code: str, notes: Path) -> str:
    """Run code under the guard; return what it noted."""
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **guarded(notes)}, capture_output=True, check=False)
    return notes.read_text() if notes.exists() else ""


def test_this_machine_may_be_reached(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LOCAL], env={**os.environ, **guarded(tmp_path / "notes")}, check=False)
    assert done.returncode == 0
    assert not (tmp_path / "notes").exists()


@pytest.mark.parametrize("kind", OUTSIDE)
def test_another_machine_is_refused_and_noted(tmp_path: Path, kind: str) -> None:
    noted = run(OUTSIDE[kind], tmp_path / "notes")
    assert "192.0.2.1" in noted or "example.org" in noted
