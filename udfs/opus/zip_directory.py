"""Central directory of a zip or zip64, read entry by entry: a bad entry is a fault of its member alone."""

import re
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_SIZES_FOLLOW = 0x08
_MOST_WAITING = 1_000
_SHARED = "bad_zip: its bytes are also those of other members"
_MOST_JOINED = 100
_MOST_ENDS = 3_000
"""Signatures of an end record that are looked at, in a comment of at most 64 KiB."""
_ZIP64 = 0xFFFFFFFF
_UTF_8_NAME = 0x800
_MOST_CLAIMED = 1 << 40
_UNSAFE = re.compile(r"(^|/)\.\.(/|$)|^/|\\|^[A-Za-z]:|[\x00-\x1f]|^$")


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
    """Return whether a name is empty or could leave a folder: ``..``, absolute, backslash, control characters."""
    return _UNSAFE.search(name) is not None


def members(file: IO[bytes]) -> Iterator[Member]:
    """Yield the files in a zip or zip64 in the order of its central directory, in bounded memory.

    Archives that were joined are all listed, the last one first. Members that share their bytes with others get a
    fault, so that all of them together unpack to no more than the largest ratio allows for the archive's size.

    Raises:
        zipfile.BadZipFile: The file is no zip or is truncated, or the directory is damaged after the last one yielded.
    """
    size = file.seek(0, 2)
    for _ in range(_MOST_JOINED):
        place = _directory(file, size)
        yield from _apart(file, _listed(file, place, size), size)
        size = place.shift
        if size < _END.size or not _ends_in_archive(file, size):
            return
    raise zipfile.BadZipFile(f"more than {_MOST_JOINED} archives in one file")


def _listed(file: IO[bytes], place: _Directory, size: int) -> Iterator[Member]:
    """Yield the members of one archive, which ends at ``size``."""
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


def _apart(file: IO[bytes], listed: Iterator[Member], size: int) -> Iterator[Member]:
    """Yield members in their order; those that share their bytes with others, or lie about their place, get a fault.

    Members are looked at where one begins before the one before it ends. Of two, one whose local header contradicts the
    directory is at fault; if both are as they claim and share bytes, the second one is. All of them together take no
    more bytes than the archive has.
    """
    left = size
    held: Member | None = None
    waiting: list[Member] = []
    damage: zipfile.BadZipFile | None = None
    more = True
    while more:
        try:
            member = next(listed, None)
        except zipfile.BadZipFile as error:  # the members before it are yielded first
            member = None
            damage = error
        more = member is not None
        if member is not None and held is not None:
            held, member = _judged(file, held, member)
        if member is not None and member.fault is not None and len(waiting) < _MOST_WAITING:
            waiting.append(member)
            continue
        if held is not None and held.fault is None:
            taken = _end(held) - held.offset
            held = replace(held, fault=_SHARED) if taken > left else held
            left -= 0 if held.fault else taken
        yield from map(_without_place, filter(None, (held, *waiting)))
        waiting = []
        held = member
    if damage is not None:
        raise damage


def _judged(file: IO[bytes], held: Member, member: Member) -> tuple[Member, Member]:
    """Return two neighbours, one of them with a fault where the second begins before the first ends."""
    if held.fault is not None or member.fault is not None or member.offset >= _end(held):
        return held, member
    if not _is_in_place(file, held):
        return replace(held, fault=f"bad_zip: another local header or size at {held.offset}"), member
    if not _is_in_place(file, member):
        return held, replace(member, fault=f"bad_zip: another local header or size at {member.offset}")
    return held, replace(member, fault=_SHARED) if _end(member) > held.offset else member


def _end(member: Member) -> int:
    return member.offset + LOCAL_HEADER.size + member.stored_bytes


def _without_place(member: Member) -> Member:
    """Return a member, one with a fault without place and sizes, of which nothing is read."""
    return replace(member, offset=0, stored_bytes=0, bytes=0) if member.fault else member


def _is_in_place(file: IO[bytes], member: Member) -> bool:
    """Return whether the local header at a member's offset has its name, and its size where it states one."""
    back = file.tell()
    file.seek(member.offset)
    header = read_up_to(file, LOCAL_HEADER.size + _LONGEST_COMMENT)
    file.seek(back)
    if header[:4] != b"PK\x03\x04" or len(header) < LOCAL_HEADER.size:
        return False
    _, _, flags, _, _, _, _, stored_bytes, _, name_length, _ = LOCAL_HEADER.unpack_from(header)
    named = _name(header[LOCAL_HEADER.size : LOCAL_HEADER.size + name_length], flags) == member.name
    stated = not flags & _SIZES_FOLLOW and stored_bytes != _ZIP64
    return named and (not stated or stored_bytes == member.stored_bytes)


def _directory(file: IO[bytes], size: int) -> _Directory:
    """Return the place of the entries, found from the record at the end of the zip.

    A comment may hold any bytes, also those of end records: of the records that fit, the outermost counts.
    """
    found = list(_ends(file, size))
    if not found:
        raise zipfile.BadZipFile("File is not a zip file")
    whole = [place for place, exact, fits in found if exact and fits and place.count]
    cut = [place for place, exact, fits in found if not exact and fits and place.count]
    if whole or cut:
        return whole[0] if whole else cut[-1]
    place, exact, _ = next((one for one in found if one[1]), found[-1])
    if place.start < 0:
        raise zipfile.BadZipFile("Bad offset for central directory")
    if place.count == 0 and place.length == 0 and (place.start > 0 or not exact):
        raise zipfile.BadZipFile(f"its end says that it is empty, with {place.start} bytes before it")
    return place


def _ends_in_archive(file: IO[bytes], size: int) -> bool:
    """Return whether the bytes up to ``size`` are an archive of their own."""
    return any(fits and place.count for place, _, fits in _ends(file, size))


def _ends(file: IO[bytes], size: int) -> Iterator[tuple[_Directory, bool, bool]]:
    """Yield what may be the end record, first to last, with whether its comment ends the file and its entries begin."""
    first = max(0, size - _LONGEST_COMMENT - _END.size - _LOCATOR.size - _END64.size)
    file.seek(first)
    tail = read_up_to(file, size - first)
    at = tail.find(b"PK\x05\x06")
    for _ in range(_MOST_ENDS):
        if at < 0 or at + _END.size > len(tail):
            return
        _, _, _, _, count, length, offset, comment = _END.unpack_from(tail, at)
        modulo = 1 << 16
        end = first + at
        at64 = at - _LOCATOR.size - _END64.size
        if (
            at64 >= 0
            and tail[at64 : at64 + 4] == b"PK\x06\x06"
            and tail[at64 + _END64.size :].startswith(b"PK\x06\x07")
        ):
            *_, count, length, offset = _END64.unpack_from(tail, at64)
            modulo = 1 << 64
            end = first + at64
        start = end - length
        begins = False
        if start >= offset and length >= _ENTRY.size:
            file.seek(start)
            begins = file.read(4) == b"PK\x01\x02"
        exact = at + _END.size + comment == len(tail)
        yield _Directory(start, length, start - offset, count, modulo), exact, begins
        at = tail.find(b"PK\x05\x06", at + 1)


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
