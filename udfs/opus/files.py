"""Bytes of one subtitle file, wherever it lies: plain, gzipped, or a member of a zip read by ranges.

Nothing here trusts a size that the input claims: unpacking goes on in steps and stops at the caps.
"""

import gzip
import os
import re
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, unquote

from pyarrow import fs

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_GZIP_MAGIC = b"\x1f\x8b"
_STEP = 1 << 20


class UnreadableError(ValueError):
    """A file that goes to the quarantine: ``reason`` is one word, ``detail`` the evidence in one line."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = " ".join(detail.split())[:300]


@dataclass(frozen=True)
class Caps:
    """What one file may unpack to.

    Attributes:
        max_bytes: unpacked bytes, at most.
        max_ratio: unpacked over stored bytes, at most; from 1 MiB unpacked on (tiny files pack oddly).
    """

    max_bytes: int
    max_ratio: float

    def check(self, stored: int, unpacked: int) -> None:
        """Raise ``too_large`` or ``ratio`` when ``unpacked`` bytes out of ``stored`` are too many."""
        if unpacked > self.max_bytes:
            raise UnreadableError("too_large", f"more than {self.max_bytes} bytes unpacked")
        if unpacked > _STEP and unpacked > self.max_ratio * max(stored, 1):
            raise UnreadableError("ratio", f"{unpacked} bytes and more out of {stored}")


def local_path(source: str) -> str:
    """Absolute local path of a source that is none of an object store (``dbfs:/`` is mounted locally)."""
    if source.startswith("file:"):
        return unquote(re.sub(r"^file:(//[^/]*)?", "", source))
    if source.startswith("dbfs:"):
        path = "/" + source.removeprefix("dbfs:").lstrip("/")
        return path if path.startswith("/Volumes/") else f"/dbfs{path}"
    return os.path.abspath(source)  # noqa: PTH100 - resolve() would follow links


@lru_cache(maxsize=256)
def filesystem(source: str) -> tuple[fs.FileSystem, str]:
    """The file system of a source and the source's path in it.

    Args:
        source: a local path, ``file:``, ``dbfs:``, or a URI that ``pyarrow.fs`` knows (``s3://``, ``gs://``,
            ``abfss://``, ``hdfs://``; options such as ``?endpoint_override=`` are passed on).

    Raises:
        OSError, ValueError, pyarrow.ArrowInvalid: an unknown scheme, or no way to reach it.
    """
    if not _SCHEME.match(source) or source.startswith(("file:", "dbfs:")):
        return fs.LocalFileSystem(), local_path(source).rstrip("/") or "/"
    uri = re.sub(r"^s3[an]://", "s3://", source)
    address, mark, options = uri.partition("?")
    found, path = fs.FileSystem.from_uri(quote(address, safe=":/@%+,;=~") + mark + options)
    return found, path.rstrip("/")


def container_uri(source: str, path: str) -> str:
    """How the manifest writes a file to open: a plain path, or ``scheme://`` and the store's path."""
    match = _SCHEME.match(source)
    return f"{match.group(0)}{path}" if match and not source.startswith(("file:", "dbfs:")) else path


def open_container(source: str, container: str) -> IO[bytes]:
    """Open a file of the manifest for reading at any position."""
    found, _ = filesystem(source)
    if isinstance(found, fs.LocalFileSystem):
        return Path(container).open("rb", buffering=0)
    handle: Any = found.open_input_file(_SCHEME.sub("", container, count=1))
    return handle


def read_plain(source: str, container: str, gzipped: bool, caps: Caps) -> bytes:
    """The unpacked bytes of a plain or gzipped file.

    Raises:
        UnreadableError: unreadable, empty, truncated_gzip, bad_gzip, too_large, ratio.
    """
    try:
        with open_container(source, container) as file:
            stored = _read_all(file, caps.max_bytes + 1)
    except OSError as error:
        raise UnreadableError("unreadable", f"{type(error).__name__}: {error.strerror or error}") from error
    return unpack(stored, gzipped, caps)


def _read_all(file: IO[bytes], most: int) -> bytes:
    pieces, left = [], most
    while left > 0 and (piece := file.read(min(left, 64 * _STEP))):
        pieces.append(piece)
        left -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def unpack(stored: bytes, gzipped: bool, caps: Caps) -> bytes:
    """Unzip when the content says gzip, whatever the name says; refuse a ``.gz`` that is none."""
    if not stored:
        raise UnreadableError("empty", "0 bytes")
    if stored[:2] == _GZIP_MAGIC:
        data = gunzip(stored, caps)
    elif gzipped:
        raise UnreadableError("bad_gzip", f"no gzip magic, starts with {stored[:8]!r}")
    else:
        data = stored
    caps.check(len(stored), len(data))
    if not data:
        raise UnreadableError("empty", "0 bytes unpacked")
    return data


def gunzip(stored: bytes, caps: Caps) -> bytes:
    """Unpack gzip of one or more members, never more than the caps allow.

    Raises:
        UnreadableError: truncated_gzip, bad_gzip (damaged data or checksum), too_large, ratio.
    """
    pieces: list[bytes] = []
    unpacked, rest = 0, stored
    while rest.startswith(_GZIP_MAGIC):
        stream = zlib.decompressobj(wbits=31)
        for piece in _inflated(stream, rest, "bad_gzip"):
            unpacked += len(piece)
            caps.check(len(stored), unpacked)
            pieces.append(piece)
        if not stream.eof:
            raise UnreadableError("truncated_gzip", f"ends within the data, after {unpacked} bytes unpacked")
        rest = stream.unused_data
    if rest.strip(b"\0"):
        raise UnreadableError("bad_gzip", f"{len(rest)} bytes after the end that are no gzip")
    return b"".join(pieces)


def inflate(stored: bytes, caps: Caps) -> bytes:
    """Unpack a zip member's raw deflate stream within the caps (truncated_zip, bad_zip)."""
    stream = zlib.decompressobj(wbits=-15)
    pieces: list[bytes] = []
    unpacked = 0
    for piece in _inflated(stream, stored, "bad_zip"):
        unpacked += len(piece)
        caps.check(len(stored), unpacked)
        pieces.append(piece)
    if not stream.eof:
        raise UnreadableError("truncated_zip", f"ends within the data, after {unpacked} bytes unpacked")
    return b"".join(pieces)


def _inflated(stream: Any, stored: bytes, reason: str) -> Any:
    """Yield what ``stored`` unpacks to, at most 1 MiB at a time."""
    rest = stored
    try:
        while not stream.eof:
            piece = stream.decompress(rest, _STEP)
            rest = stream.unconsumed_tail
            if piece:
                yield piece
            elif not rest:
                return
    except zlib.error as error:
        raise UnreadableError(reason, str(error)) from error


def gzip_bytes(data: bytes) -> bytes:
    """Gzip without a time stamp, so that the same data give the same bytes (demo corpus, benchmarks)."""
    return gzip.compress(data, mtime=0)
