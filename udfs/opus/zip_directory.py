"""Central directory of a zip or zip64, read entry by entry: a bad entry is a fault of its member alone."""

import re
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from udfs.opus.files import read_up_to
from udfs.opus.names import readable

_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s4B4HL2L5H2L")
_LONGEST_COMMENT = (1 << 16) - 1
_LONGEST_ENTRY = _ENTRY.size + 3 * _LONGEST_COMMENT
_STEP = 1 << 20
_ZIP64 = 0xFFFFFFFF
_UTF_8_NAME = 0x800
_MOST_CLAIMED = 1 << 40
_UNSAFE = re.compile(r"(^|/)\.\.(/|$)|^/|\\|^[A-Za-z]:|[\x00-\x1f]")


@dataclass(frozen=True)
class Member:
    """A zip's member as listed in the central directory, with sizes in bytes.

    Attributes:
        fault: why it cannot be read, as ``reason: detail``; its sizes are then 0.
    """

    name: str
    offset: int
    stored_bytes: int
    bytes: int
    method: int
    crc: int
    fault: str | None = None


@dataclass(frozen=True)
class _Directory:
    """Where the entries lie, what is to be added to their offsets, and how many there should be (modulo)."""

    start: int
    length: int
    shift: int
    count: int
    modulo: int


def is_unsafe(name: str) -> bool:
    """Return whether a member's name could leave a folder: ``..``, absolute, backslash, control characters."""
    return _UNSAFE.search(name) is not None


def members(file: IO[bytes]) -> Iterator[Member]:
    """Yield the files in a zip or zip64 in the order of its central directory, in bounded memory.

    Raises:
        zipfile.BadZipFile: The file is no zip or is truncated, or the directory is damaged after the last one yielded.
    """
    size = file.seek(0, 2)
    place = _directory(file, size)
    file.seek(place.start)
    data = b""
    at = 0
    left = place.length
    count = 0
    while True:
        if len(data) - at < _LONGEST_ENTRY and left:
            piece = read_up_to(file, min(left, _STEP))
            left = left - len(piece) if piece else 0
            data = data[at:] + piece
            at = 0
        if at == len(data):
            break
        if len(data) - at < _ENTRY.size or data[at : at + 4] != b"PK\x01\x02":
            raise zipfile.BadZipFile(f"the central directory is damaged after {count} entries")
        fields = _ENTRY.unpack_from(data, at)
        name_at = at + _ENTRY.size
        extra_at = at + _ENTRY.size + fields[12]
        end = extra_at + fields[13]
        at = end + fields[14]
        count = count + 1
        name = _name(data[name_at:extra_at], fields[5])
        if not name.endswith("/"):
            yield _member(name, fields, data[extra_at:end], place.shift, size)
    if count % place.modulo != place.count:
        raise zipfile.BadZipFile(f"the central directory has {count} entries, not {place.count} as its end says")


def _directory(file: IO[bytes], size: int) -> _Directory:
    """Return the place of the entries, found from the record at the end of the zip."""
    first = max(0, size - _LONGEST_COMMENT - _END.size - _LOCATOR.size - _END64.size)
    file.seek(first)
    tail = read_up_to(file, size - first)
    at = len(tail) - _END.size
    if at < 0 or tail[at : at + 4] != b"PK\x05\x06" or tail[-2:] != b"\0\0":
        at = tail.rfind(b"PK\x05\x06", 0, max(0, at) + 4)
    if at < 0:
        raise zipfile.BadZipFile("File is not a zip file")
    _, _, _, _, count, length, offset, _ = _END.unpack_from(tail, at)
    modulo = 1 << 16
    end = first + at
    at64 = at - _LOCATOR.size - _END64.size
    if at64 >= 0 and tail[at64 : at64 + 4] == b"PK\x06\x06" and tail[at64 + _END64.size :].startswith(b"PK\x06\x07"):
        *_, count, length, offset = _END64.unpack_from(tail, at64)
        modulo = 1 << 64
        end = first + at64
    start = end - length
    if start < 0:
        raise zipfile.BadZipFile("Bad offset for central directory")
    return _Directory(start, length, start - offset, count, modulo)


def _name(stored: bytes, flags: int) -> str:
    return readable(stored) if flags & _UTF_8_NAME else stored.decode("cp437")


def _member(name: str, fields: tuple[int, ...], extra: bytes, shift: int, size: int) -> Member:
    """Return a member, or one with a fault if what the directory claims cannot be."""
    method = fields[6]
    crc = fields[9]
    stored_bytes = fields[10]
    unpacked = fields[11]
    offset = fields[18]
    claims = _with_zip64((unpacked, stored_bytes, offset), extra)
    fault = None
    if claims is None:
        fault = "bad_zip: the zip64 field is cut off"
    else:
        unpacked = claims[0]
        stored_bytes = claims[1]
        offset = claims[2] + shift
        if offset < 0 or offset + stored_bytes > size:
            fault = f"bad_zip: {stored_bytes} bytes at {offset} are not within the zip of {size} bytes"
        elif unpacked > _MOST_CLAIMED:
            fault = f"too_large: {unpacked} bytes unpacked, as the zip claims"
    if is_unsafe(name):
        fault = f"unsafe_name: member name {name[:200]!r}"
    return (
        Member(name, 0, 0, 0, method, crc, fault)
        if fault
        else Member(name, offset, stored_bytes, unpacked, method, crc)
    )


def _with_zip64(claims: tuple[int, int, int], extra: bytes) -> tuple[int, ...] | None:
    """Return unpacked bytes, stored bytes and offset, with the large ones from the extra field; None without them."""
    wanted = sum(claim == _ZIP64 for claim in claims)
    at = 0
    while wanted and at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        at += 4
        if kind == 1:
            if length < 8 * wanted or at + 8 * wanted > len(extra):
                return None
            large = iter(struct.unpack_from(f"<{wanted}Q", extra, at))
            return tuple(next(large) if claim == _ZIP64 else claim for claim in claims)
        at += length
    return claims
