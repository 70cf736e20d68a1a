"""Lines of text files, each also .gz, from outside: bad bytes, broken archives and endless lines are faults."""

import codecs
import gzip
import io
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, NamedTuple, TextIO

MAX_FILE: Final = 16 << 30
"""Greatest number of unpacked characters of a file."""
MAX_ROW: Final = 1 << 24
"""Greatest number of characters of a row."""
MAX_DETAIL: Final = 200

_LATIN: Final = re.compile(rb"[A-Za-z][\x80-\xff]|[\x80-\xff][A-Za-z]")
"""A letter of Windows-1252 in a word, or a mark beside it."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
UNSEEN: Final = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")


class Row(NamedTuple):
    """A row of a file, or a fault.

    Attributes:
        line: the number of its first line, or of its element in a JSON list, from 1; 0 for the whole file.
        value: cells by column, a JSON document, or a line; None with a fault.
        fault: why it cannot be read, as one word; None if it can.
        detail: the evidence.
    """

    line: int
    value: Any
    fault: str | None = None
    detail: str = ""


class FileError(ValueError):
    """An error that ends the reading of a file, with a one-word reason."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def shown(text: str, most: int = MAX_DETAIL) -> str:
    """Return a text as evidence: on one line, cut, and without characters that UTF-8 cannot encode."""
    return _SURROGATE.sub("\ufffd", " ".join(text[: 2 * most].split())[:most])


def plain_name(text: str) -> str:
    """Return a name without outer blanks and unseen characters, with one blank for each run of any kind of blanks."""
    return " ".join(UNSEEN.sub("", text).split())


def is_unicode(text: str) -> bool:
    """Return whether a text has no lone surrogates, which undecodable bytes are read as."""
    return _SURROGATE.search(text) is None


def fault_of(text: str) -> str | None:
    """Return why a line cannot be used, as one word; None if it can."""
    if len(text) > MAX_ROW:
        return "too_long"
    return None if is_unicode(text) else "not_unicode"


class _Unpacked(io.RawIOBase):
    """The content of a .gz file. What is before a damage is given before the error."""

    def __init__(self, stream: BinaryIO) -> None:
        self._content = gzip.GzipFile(fileobj=stream)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._content.read1(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def opened(stream: BinaryIO, newline: str, table: bool = False) -> TextIO:
    """Return a file's text: unpacked if it is gzip, without a byte order mark, with bad bytes as lone surrogates.

    Args:
        stream: its content, which tells whether it is packed, whatever the file's name says.
        newline: as ``open`` takes it.
        table: whether it may be in UTF-16 or Windows-1252, as spreadsheets save tables; others are in UTF-8.
    """
    plain: Any = stream
    content = io.BufferedReader(plain)
    if content.peek(2).startswith(b"\x1f\x8b"):
        plain = _Unpacked(content)
        content = io.BufferedReader(plain)
    codec = _codec_of_table(content) if table else "utf-8"
    return io.TextIOWrapper(content, encoding=codec, errors="surrogateescape", newline=newline)


def _codec_of_table(content: io.BufferedReader) -> str:
    start = content.peek()
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise FileError("no_text", "an Excel workbook or a zip: save its sheet as CSV")
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    text = start.decode("utf-8", "ignore")
    return "cp1252" if text.isascii() and _LATIN.search(start) else "utf-8"


def lines_of(text: TextIO) -> Iterator[str]:
    """Yield lines with their ends; one longer than ``MAX_ROW`` is cut to one character more."""
    read = 0
    first = True
    while line := text.readline(MAX_ROW + 1):
        read += len(line)
        if len(line) > MAX_ROW and not line.endswith("\n"):
            while (rest := text.readline(MAX_ROW)) and read <= MAX_FILE:
                read += len(rest)
                if rest.endswith(("\n", "\r")):
                    break
        if read > MAX_FILE:
            raise FileError("too_large", f"more than {MAX_FILE >> 30} GiB unpacked")
        if first:
            if line.startswith(("\udcff\udcfe", "\udcfe\udcff")):
                raise FileError("not_utf8", "the file is UTF-16: save it as UTF-8")
            line = line.removeprefix("\ufeff")
            first = False
        yield line
