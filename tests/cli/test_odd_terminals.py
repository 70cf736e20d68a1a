"""Output to terminals whose encoding lacks letters."""

import io
import sys

import pytest

from etl.cli.redacted_output import redacted_output


@pytest.mark.parametrize(
    ("encoding", "printed"),
    [("ascii", b"caf? ? ?"), ("latin-1", b"caf\xe9 ? ?"), ("utf-8", "café … 你".encode())],
)
def test_a_letter_that_the_terminal_lacks_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, encoding: str, printed: bytes
) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding))
    with redacted_output():
        print("café … 你", end="")
        sys.stdout.flush()
    assert out.getvalue() == printed
