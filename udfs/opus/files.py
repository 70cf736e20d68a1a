"""Reading and unpacking of single files from local or object stores.

Sizes stated in the input are not trusted: unpacking proceeds in steps and stops at the caps.
"""

import os
import re
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from pyarrow import fs

from conf import places
from udfs.opus.names import name_bytes

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_GZIP_MAGIC = b"\x1f\x8b"
_MOST_GZIP_MEMBERS = 100_000
_FIRST_STEP = 4 << 10
_STEP = 1 << 20


class UnreadableError(ValueError):
    """An error that sends a file to the quarantine, with a one-word ``reason`` and one line of ``detail``."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = one_line(detail)


def one_line(text: str) -> str:
    """Return at most 300 characters of a text in one line, as valid Unicode."""
    return " ".join(text.split())[:300].encode(errors="replace").decode()


@dataclass(frozen=True)
class Caps:
    """Limits of the work on a file.

    Attributes:
        max_bytes: maximum unpacked bytes.
        max_ratio: maximum ratio of unpacked to stored bytes, above 1 MiB unpacked.
        max_seconds: maximum time for reading and parsing.
    """

    max_bytes: int
    max_ratio: float
    max_seconds: float = 60.0

    def check(self, stored: int, unpacked: int) -> None:
        """Raise ``too_large`` or ``ratio`` if ``unpacked`` bytes from ``stored`` bytes exceed a limit."""
        if unpacked > self.max_bytes:
            raise UnreadableError("too_large", f"more than {self.max_bytes} bytes unpacked")
        if unpacked > _STEP and unpacked > self.max_ratio * max(stored, 1):
            raise UnreadableError("ratio", f"{unpacked} bytes and more out of {stored}")


_KINDS = (
    (b"PK\x03\x04", "a zip"),
    (b"PK\x05\x06", "an empty zip"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"MSCF", "a cabinet archive"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"%PDF", "a PDF"),
    (b"{\\rtf", "a text of a word processor (RTF)"),
    (b"\xd0\xcf\x11\xe0", "a document of a word processor"),
    (b"\x1a\x45\xdf\xa3", "a film (Matroska)"),
    (b"\x00\x00\x01\xba", "pictures (VobSub)"),
    (b"PG", "pictures (PGS)"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"SQLite format", "a database"),
    (b"RIFF", "a film or sound"),
    (b"ID3", "sound"),
    (b"OggS", "a film or sound"),
    (b"MZ", "a program"),
    (b"\x7fELF", "a program"),
    (b"\0\x05\x16\x07", "what macOS notes about a file (AppleDouble)"),
    (b"bplist00", "settings of macOS"),
    (b"L\0\0\0\x01\x14\x02\0", "a shortcut of Windows"),
    (b"version https://git-lfs", "a pointer of Git LFS, not the file itself: run git lfs pull"),
)
_LATER = ((4, b"ftyp", "a film (MP4)"), (257, b"ustar", "a tar archive"))
"""Kinds that show behind their beginning."""
_TIMED = re.compile(rb"[0-9]:[0-9]{2}.{1,10}-->|<[Ss][Yy][Nn][Cc]")
_PAGE = re.compile(rb"(?i)\s*(?:<!doctype html|<html|<head>)")


_SHORT = frozenset([b"PG", b"MZ", b"ID3", b"RIFF", b"OggS", b"MSCF"])
"""First bytes that a text may have as well: a file of that kind has a zero byte among its first 64."""


def kind_of(data: bytes) -> str | None:
    """Return the kind of a file that is no text, by its first bytes; None for others."""
    for magic, kind in _KINDS:
        if data.startswith(magic) and (magic not in _SHORT or b"\0" in data[:64]):
            return kind
    return next((kind for at, magic, kind in _LATER if data.startswith(magic, at)), None)


def refuse_other_kinds(data: bytes) -> None:
    """Raise ``not_subtitles`` for the content of a file of another kind, whatever its name says."""
    kind = kind_of(data)
    if kind is None and _PAGE.match(data[:1000].removeprefix(b"\xef\xbb\xbf")) and not _TIMED.search(data):
        kind = "a page of the web"
    if kind is not None:
        raise UnreadableError("not_subtitles", f"the file is {kind}, despite its name; subtitles are text")


def local_path(source: str) -> str:
    """Return the absolute local path of a source outside object stores (``dbfs:/`` is mounted locally)."""
    if source.startswith("dbfs:"):
        path = "/" + source.removeprefix("dbfs:").lstrip("/")
        return path if path.startswith("/Volumes/") else f"/dbfs{path}"
    return places.local_path(source) or source


@lru_cache(maxsize=256)
def filesystem(source: str) -> tuple[fs.FileSystem, str]:
    """Return the file system of a source and the source's path in it.

    Args:
        source: a local path, ``file:``, ``dbfs:``, or a URI of ``pyarrow.fs`` (``s3://``, ``gs://``, ``abfss://``,
            ``hdfs://``), with options such as ``?endpoint_override=``.

    Raises:
        OSError, ValueError, pyarrow.ArrowInvalid: The scheme is unknown or the store is unreachable.
    """
    if not _SCHEME.match(source) or source.startswith(("file:", "dbfs:")):
        return fs.LocalFileSystem(), local_path(source).rstrip("/") or "/"
    uri = re.sub(r"^s3[an]://", "s3://", source)
    address, mark, options = uri.partition("?")
    found, path = fs.FileSystem.from_uri(quote(address, safe=":/@%+,;=~") + mark + options)
    return found, path.rstrip("/")


def container_uri(source: str, path: str) -> str:
    """Return a file's address in the manifest: a plain path, or ``scheme://`` and the store's path.

    In a relative source it is relative, so that a folder with sources and lakehouse can be moved.
    """
    match = _SCHEME.match(source)
    root = os.path.abspath(source)  # noqa: PTH100 - pathlib resolves no ".."
    if match is None and not source.startswith(("/", "dbfs:")) and (path == root or path.startswith(f"{root}/")):
        return f"{source.rstrip('/')}{path[len(root) :]}"
    return f"{match.group(0)}{path}" if match and not source.startswith(("file:", "dbfs:")) else path


def open_container(source: str, container: str) -> IO[bytes]:
    """Open a file of the manifest for random access."""
    found, _ = filesystem(source)
    if isinstance(found, fs.LocalFileSystem):
        return Path(os.fsdecode(name_bytes(container))).open("rb", buffering=0)
    handle: Any = found.open_input_file(_SCHEME.sub("", container, count=1))
    return handle


def read_plain(source: str, container: str, gzipped: bool, caps: Caps) -> bytes:
    """Return the unpacked bytes of a plain or gzipped file.

    Raises:
        UnreadableError: unreadable, empty, truncated_gzip, bad_gzip, too_large, ratio.
    """
    try:
        with open_container(source, container) as file:
            stored = read_up_to(file, caps.max_bytes + 1)
    except OSError as error:
        raise UnreadableError("unreadable", f"{type(error).__name__}: {error.strerror or error}") from error
    return unpack(stored, gzipped, caps)


def read_up_to(file: IO[bytes], length: int) -> bytes:
    """Return the next ``length`` bytes of a file, or fewer at its end; single reads may be short."""
    pieces = []
    left = length
    while left > 0 and (piece := file.read(min(left, 64 * _STEP))):
        pieces.append(piece)
        left -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def unpack(stored: bytes, gzipped: bool, caps: Caps) -> bytes:
    """Return the content, unpacked if it is gzip; raise for a ``.gz`` file with other content."""
    if not stored:
        raise UnreadableError("empty", "0 bytes")
    if stored[:2] == _GZIP_MAGIC:
        data = gunzip(stored, caps)
    elif gzipped:
        kind = kind_of(stored) or "no gzip archive"
        raise UnreadableError("bad_gzip", f"the file is {kind}, despite its name, and begins with {stored[:8]!r}")
    else:
        data = stored
    caps.check(len(stored), len(data))
    if not data:
        raise UnreadableError("empty", "0 bytes unpacked")
    return data


def gunzip(stored: bytes, caps: Caps) -> bytes:
    """Unpack gzip of one or more members within the caps.

    Raises:
        UnreadableError: truncated_gzip, bad_gzip (damaged data or checksum), too_large, ratio.
    """
    unpacked = bytearray()
    data = memoryview(stored)
    at = 0
    members = 0
    while data[at : at + 2] == _GZIP_MAGIC:
        members += 1
        if members > _MOST_GZIP_MEMBERS:
            raise UnreadableError("bad_gzip", f"more than {_MOST_GZIP_MEMBERS} members")
        at = _decompress(data, at, zlib.decompressobj(31), "gzip", caps, unpacked)
    if bytes(data[at:]).strip(b"\0"):
        raise UnreadableError("bad_gzip", f"{len(data) - at} bytes after the end that are not gzip")
    return bytes(unpacked)


def inflate(stored: bytes, caps: Caps) -> bytes:
    """Unpack a zip member's raw deflate stream within the caps.

    Raises:
        UnreadableError: truncated_zip, bad_zip, too_large, ratio.
    """
    unpacked = bytearray()
    _decompress(memoryview(stored), 0, zlib.decompressobj(-15), "zip", caps, unpacked)
    return bytes(unpacked)


def _decompress(data: memoryview, at: int, stream: Any, kind: str, caps: Caps, unpacked: bytearray) -> int:
    """Append the content of the stream at ``at`` to ``unpacked``, at most 1 MiB at a time, and return where it ends.

    It is fed in growing steps, because each stream copies what it was given beyond its end.
    """
    pending = memoryview(b"")
    step = _FIRST_STEP
    try:
        while not stream.eof:
            if not pending:
                pending = data[at : at + step]
                at = at + len(pending)
                step = min(2 * step, _STEP)
            piece = stream.decompress(pending, _STEP)
            pending = stream.unconsumed_tail
            unpacked += piece
            caps.check(len(data), len(unpacked))
            if not piece and not pending and at == len(data):
                break
    except zlib.error as error:
        raise UnreadableError(f"bad_{kind}", str(error)) from error
    if not stream.eof:
        raise UnreadableError(f"truncated_{kind}", f"ends within the data, after {len(unpacked)} bytes unpacked")
    return at - len(stream.unused_data)
