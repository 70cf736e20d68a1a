"""OPUS zips: the central directory once, then members out of large ranges; never the whole zip unpacked."""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO

from udfs.opus.files import Caps, UnreadableError, inflate

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_SLACK = 512
_UNSAFE = re.compile(r"(^|/)\.\.(/|$)|^/|\\|^[A-Za-z]:|[\x00-\x1f]")
STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED


@dataclass(frozen=True)
class Member:
    """A zip's member, as its central directory has it (sizes in bytes; ``name`` as written in the zip)."""

    name: str
    offset: int
    stored_bytes: int
    bytes: int
    method: int
    crc: int


def members(file: IO[bytes]) -> Iterator[Member]:
    """Members of a zip in the order of its central directory, folders left out; zip64 too.

    Raises:
        zipfile.BadZipFile: not a zip, or one whose end is lost.
    """
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            name = info.orig_filename
            if not name.endswith("/"):
                yield Member(name, info.header_offset, info.compress_size, info.file_size, info.compress_type, info.CRC)


def is_unsafe(name: str) -> bool:
    """Whether a member's name could lead out of a folder: ``..``, absolute, backslash, control characters."""
    return _UNSAFE.search(name) is not None


def member_name(source_path: str, container: str) -> str:
    """The member's name in ``zip!member`` paths."""
    return source_path.split(PurePosixPath(container).name + "!", 1)[-1]


@dataclass(frozen=True)
class Range:
    """Neighbouring members that one read brings; ``first`` and ``last`` index the sorted members."""

    start: int
    end: int
    first: int
    last: int


def ranges(offsets: Sequence[int], ends: Sequence[int], most: int, gap: int = 1 << 20) -> list[Range]:
    """Group members, sorted by offset, into ranges of at most ``most`` bytes; a larger one stands alone.

    Members further apart than ``gap`` are not read together: other languages may lie between them.
    """
    found: list[Range] = []
    for number, (start, end) in enumerate(zip(offsets, ends, strict=True)):
        last = found[-1] if found else None
        if last and start - last.end <= gap and max(end, last.end) - last.start <= most:
            found[-1] = Range(last.start, max(end, last.end), last.first, number + 1)
        else:
            found.append(Range(start, end, number, number + 1))
    return found


def member_end(offset: int, name: str, stored_bytes: int) -> int:
    """Where a member ends at the latest, given that its local extra field has the usual length."""
    return offset + _LOCAL_HEADER.size + len(name.encode(errors="replace")) + _SLACK + stored_bytes


class RangeReader:
    """Reads pieces of a file out of one range held in memory; pieces outside it are read on their own."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._start = 0
        self._data = memoryview(b"")

    def hold(self, start: int, end: int) -> None:
        """Read the range [start, end), or what the file has of it."""
        self._data = memoryview(b"")
        self._start, self._data = start, memoryview(self._read(start, end - start))

    def piece(self, start: int, length: int) -> bytes:
        """``length`` bytes from ``start``; fewer where the file ends."""
        first = start - self._start
        if first >= 0 and first + length <= len(self._data):
            return bytes(self._data[first : first + length])
        return self._read(start, length)

    def _read(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        pieces, left = [], length
        while left > 0 and (piece := self._file.read(left)):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)


def read_member(reader: RangeReader, member: Member, caps: Caps) -> bytes:
    """Unpack one member and check it against the central directory.

    Raises:
        UnreadableError: unsafe_name, encrypted, bad_zip, truncated_zip, zip_method, too_large, ratio, crc.
    """
    if is_unsafe(member.name):
        raise UnreadableError("unsafe_name", f"member name {member.name!r}")
    caps.check(member.stored_bytes, member.bytes)
    if member.stored_bytes > caps.max_bytes:
        raise UnreadableError("too_large", f"{member.stored_bytes} bytes stored")
    header = reader.piece(member.offset, _LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
        raise UnreadableError("bad_zip", f"no local header at {member.offset}")
    _, _, flags, _, _, _, _, _, _, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(header)
    if flags & 0x1:
        raise UnreadableError("encrypted", "the member asks for a password")
    stored = reader.piece(member.offset + _LOCAL_HEADER.size + name_bytes + extra_bytes, member.stored_bytes)
    if len(stored) < member.stored_bytes:
        raise UnreadableError("truncated_zip", f"{len(stored)} of {member.stored_bytes} stored bytes")
    if member.method == DEFLATED:
        data = inflate(stored, caps)
    elif member.method == STORED:
        data = stored
    else:
        raise UnreadableError("zip_method", f"compression method {member.method}; 0 and 8 are read")
    if len(data) != member.bytes or zlib.crc32(data) != member.crc:
        raise UnreadableError("crc", f"{len(data)} bytes with CRC {zlib.crc32(data):08x}, not {member.crc:08x}")
    return data
