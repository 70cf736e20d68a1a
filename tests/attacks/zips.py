"""Zips written byte by byte, with whatever the central directory should claim."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

UTF8 = 0x800
ZIP64 = 0xFFFFFFFF


@dataclass(frozen=True)
class Entry:
    """A member, and what the central directory says of it where that is not the truth."""

    name: bytes
    data: bytes
    flags: int = 0
    method: int = 8
    claimed_bytes: int | None = None
    claimed_stored: int | None = None
    claimed_offset: int | None = None
    claimed_crc: int | None = None


def zip_of(entries: Sequence[Entry], before: bytes = b"", after: bytes = b"") -> bytes:
    """Return a zip of the entries, with bytes before the first member and after the end record."""
    packed = bytearray(before)
    directory = bytearray()
    for entry in entries:
        offset = len(packed)
        crc = zlib.crc32(entry.data)
        stored = _deflated(entry.data) if entry.method == 8 else entry.data
        sizes = (len(stored), len(entry.data))
        packed += (
            struct.pack(
                "<4s5H3L2H", b"PK\x03\x04", 20, entry.flags, entry.method, 0, 33, crc, *sizes, len(entry.name), 0
            )
            + entry.name
            + stored
        )
        directory += _listed(entry, crc, *sizes, offset)
    end = struct.pack(
        "<4s4H2LH", b"PK\x05\x06", 0, 0, len(entries) & 0xFFFF, len(entries) & 0xFFFF, len(directory), len(packed), 0
    )
    return bytes(packed + directory + end) + after


def _listed(entry: Entry, crc: int, stored: int, unpacked: int, offset: int) -> bytes:
    """Return an entry of the central directory; sizes of 2**32 - 1 and more are written as zip64 does."""
    claims = [
        real if claim is None else claim
        for real, claim in (
            (unpacked, entry.claimed_bytes),
            (stored, entry.claimed_stored),
            (offset, entry.claimed_offset),
        )
    ]
    large = b"".join(struct.pack("<Q", claim) for claim in claims if claim >= ZIP64)
    extra = struct.pack("<2H", 1, len(large)) + large if large else b""
    short = [min(claim, ZIP64) for claim in claims]
    crc = crc if entry.claimed_crc is None else entry.claimed_crc
    fixed = struct.pack(
        "<4s4B4HL2L5H2L",
        b"PK\x01\x02",
        45,
        3,
        45,
        0,
        entry.flags,
        entry.method,
        0,
        33,
        crc,
        short[1],
        short[0],
        len(entry.name),
        len(extra),
        0,
        0,
        0,
        0,
        short[2],
    )
    return fixed + entry.name + extra


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()
