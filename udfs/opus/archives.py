"""Reading of the members of OPUS zips from large ranges."""

import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from udfs.opus.files import Caps, UnreadableError, inflate, read_up_to
from udfs.opus.zip_directory import LOCAL_HEADER, Member, is_unsafe

_SLACK = 512
STORED = zipfile.ZIP_STORED
DEFLATED = zipfile.ZIP_DEFLATED


@dataclass(frozen=True)
class Range:
    """Neighbouring members read at once: bytes [start, end) hold the sorted members [first, last)."""

    start: int
    end: int
    first: int
    last: int


def ranges(offsets: Sequence[int], ends: Sequence[int], most: int, gap: int = 1 << 20) -> list[Range]:
    """Group members, sorted by offset, into ranges of at most ``most`` bytes; a larger member gets its range.

    Members further apart than ``gap`` bytes are not read together, because other languages may be between them.
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
    """Return an upper bound of a member's end, assuming a local extra field of usual length."""
    return offset + LOCAL_HEADER.size + len(name.encode(errors="replace")) + _SLACK + stored_bytes


class RangeReader:
    """Reads pieces of a file from a range held in memory; pieces outside it are read directly."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._start = 0
        self._data = memoryview(b"")

    def hold(self, start: int, end: int) -> None:
        """Read the range [start, end) into memory."""
        self._data = memoryview(b"")  # frees the last range first
        self._start = start
        self._data = memoryview(self._read(start, end - start))

    def piece(self, start: int, length: int) -> bytes:
        """Return ``length`` bytes from ``start``, or fewer at the end of the file."""
        first = start - self._start
        if first >= 0 and first + length <= len(self._data):
            return bytes(self._data[first : first + length])
        return self._read(start, length)

    def _read(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        return read_up_to(self._file, length)


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
    header = reader.piece(member.offset, LOCAL_HEADER.size)
    if len(header) < LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
        raise UnreadableError("bad_zip", f"no local header at {member.offset}")
    _, _, flags, _, _, _, _, _, _, name_bytes, extra_bytes = LOCAL_HEADER.unpack(header)
    if flags & 0x1:
        raise UnreadableError("encrypted", "the member asks for a password")
    stored = reader.piece(member.offset + LOCAL_HEADER.size + name_bytes + extra_bytes, member.stored_bytes)
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
