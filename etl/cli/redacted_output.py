"""Standard output and error of a command, in which secrets are hidden."""

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from conf.redaction import redacted


class RedactedStream:
    """A text stream that hides the secrets in each text that is written to it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(redacted(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def redacted_output() -> Iterator[None]:
    """Hide secrets in everything that this process prints inside the block.

    A letter that the terminal's encoding does not have is printed as a question mark: films are not ASCII.
    """
    known: Any = sys.stdout, sys.stderr
    for stream in known:
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")
    sys.stdout, sys.stderr = map(RedactedStream, known)  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.stdout, sys.stderr = known
