"""Archives from outside: each ends in its members or in a named fault; none vanishes, and no good one is condemned."""

import io
import zipfile

import pytest

from tests.attacks.zips import Entry, zip_of
from udfs.opus.zip_directory import Member, members

END = b"PK\x05\x06" + b"\0" * 18


def _zip(names: int = 3, comment: bytes = b"", first: int = 0) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(first, first + names):
            archive.writestr(f"xml/en/1999/1/{number}.xml", b"<document/>" * (number + 50))
        archive.comment = comment
    return made.getvalue()


def _listed(data: bytes) -> tuple[list[Member], str | None]:
    found: list[Member] = []
    try:
        found.extend(members(io.BytesIO(data)))
    except zipfile.BadZipFile as error:
        return found, str(error)
    return found, None


GOOD = {
    "plain": (_zip(), 3),
    "a signature in the comment": (_zip(comment=b"a PK\x05\x06 b"), 3),
    "the comment begins with a signature": (_zip(comment=b"PK\x05\x06" + b"z" * 30), 3),
    "the comment is an end record": (_zip(comment=END), 3),
    "an end record in the comment": (_zip(comment=b"x" + END + b"yy"), 3),
    "many end records in the comment": (_zip(comment=END * 2_900), 3),
    "many signatures in the comment": (_zip(comment=b"PK\x05\x06" * 16_000), 3),
    "the comment is an archive": (_zip(comment=_zip(2, first=7)), 3),
    "two joined": (_zip() + _zip(2, first=5), 5),
    "three joined": (_zip(1) + _zip(1, first=1) + _zip(1, first=2), 3),
    "bytes before": (b"#!/bin/sh\n" * 9 + _zip(), 3),
    "bytes after": (_zip() + b"junk", 3),
    "empty": (_zip(0), 0),
}


@pytest.mark.parametrize("kind", GOOD)
def test_a_good_archive_gives_its_members(kind: str) -> None:
    data, number = GOOD[kind]
    found, fault = _listed(data)
    assert fault is None
    assert len(found) == number
    assert [member.fault for member in found] == [None] * number


@pytest.mark.parametrize("kind", [kind for kind in GOOD if "joined" in kind or "before" in kind])
def test_offsets_count_from_the_archives_own_start(kind: str) -> None:
    data, _ = GOOD[kind]
    assert all(data[member.offset : member.offset + 4] == b"PK\x03\x04" for member in _listed(data)[0])


BAD = {
    "no zip": b"hello",
    "nothing": b"",
    "cut": _zip()[:-30],
    "an end that says empty": b"x" * 100 + END,
    "members before an empty end": _zip()[: _zip().rfind(b"PK\x05\x06")] + END,
    "the directory is elsewhere": _zip()[:-6] + b"\xff\xff\xff\x7f" + b"\0\0",
    "101 joined": _zip(1) * 101,
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_archive_is_named(kind: str) -> None:
    found, fault = _listed(BAD[kind])
    assert fault is not None or any(member.fault for member in found)


def test_members_that_share_bytes_unpack_to_no_more_than_one_of_them() -> None:
    plain = _zip(1)
    start = plain.index(b"PK\x01\x02")
    end = plain.rindex(b"PK\x05\x06")
    entry = plain[start:end]
    count = 500
    entries = b"".join(entry for _ in range(count))
    record = END[:8] + count.to_bytes(2, "little") * 2 + len(entries).to_bytes(4, "little")
    record += start.to_bytes(4, "little") + b"\0\0"
    found, fault = _listed(plain[:start] + entries + record)
    assert fault is None
    assert len(found) == count
    read = [member for member in found if member.fault is None]
    assert sum(member.stored_bytes for member in read) <= start
    assert {member.fault for member in found[1:]} == {"bad_zip: its bytes are also those of other members"}


LIARS = {
    "its place is within the next member": {"claimed_offset": 700},
    "it takes the bytes of all others": {"claimed_stored": 2_000},
    "its place is that of another": {"claimed_offset": 0},
}


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("kind", LIARS)
def test_a_member_that_lies_about_its_place_condemns_no_other(kind: str, first: bool) -> None:
    def entry(number: int, **claims: int) -> Entry:
        return Entry(b"xml/en/1999/1/%d.xml" % number, b"%d" % number * 600, method=0, **claims)

    good = [entry(number) for number in range(3)]
    liar = entry(7, **LIARS[kind])
    found, fault = _listed(zip_of([liar, *good] if first else [good[0], liar, *good[1:]]))
    assert fault is None
    assert {member.name for member in found if member.fault is None} >= {one.name.decode() for one in good}


def test_members_before_a_damage_of_the_directory_are_listed() -> None:
    data = bytearray(_zip())
    data[data.rindex(b"PK\x01\x02")] = 0
    found, fault = _listed(bytes(data))
    assert [member.name for member in found] == ["xml/en/1999/1/0.xml", "xml/en/1999/1/1.xml"]
    assert fault == "the central directory is damaged after 2 entries"
