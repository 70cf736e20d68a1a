"""Sources that once stopped a run or lost files: each is listed whole, and each file listed is read or quarantined."""

import errno
import gzip
import os
import socket
from pathlib import Path

import pytest
from pyarrow import fs

from tests.attacks.corpora import CAPS, Reading, reading_of, reading_of_source
from tests.attacks.zips import UTF8, Entry, zip_of
from udfs.opus import files, listing
from udfs.opus.files import Caps
from udfs.opus.listing import fingerprint
from udfs.opus.names import name_bytes, readable, valid

XML = (
    b'<?xml version="1.0" encoding="utf-8"?>\n<document id="1"><s id="1"><time id="T1S" value="00:00:01,000" />'
    b'<w id="1.1">So</w><time id="T1E" value="00:00:02,000" /></s><meta></meta></document>'
)


def sound(source: Path, caps: Caps = CAPS) -> Reading:
    """Return the reading of a source in which nothing is lost and nothing is there twice, in one piece or several."""
    reading = reading_of(source, caps)
    pieces = reading_of(source, caps, pieces=8)
    assert (reading.lost, reading.doubled) == (0, 0)
    assert sorted(row["source_path"] for row in pieces.listed) == sorted(row["source_path"] for row in reading.listed)
    fingerprint(str(source), ["en"])
    return reading


def test_a_member_name_that_is_not_utf8_is_read_and_its_neighbours_too(tmp_path: Path) -> None:
    names = (b"xml/en/1999/1/1.xml", b"xml/en/1999/1/caf\xe9.xml", b"xml/en/1999/1/3.xml")
    (tmp_path / "en.zip").write_bytes(zip_of([Entry(name, XML, UTF8) for name in names]))
    reading = sound(tmp_path)
    assert reading.kept == [
        "en.zip!xml/en/1999/1/1.xml",
        "en.zip!xml/en/1999/1/3.xml",
        "en.zip!xml/en/1999/1/caf\ufffdE9.xml",
    ]


def test_two_members_of_one_name_are_two_files(tmp_path: Path) -> None:
    first = XML
    second = XML.replace(b"So", b"Well")
    (tmp_path / "en.zip").write_bytes(zip_of([Entry(b"xml/en/1999/1/1.xml", data) for data in (first, second, second)]))
    reading = sound(tmp_path)
    assert len(reading.kept) == 3
    assert {row["subtitle_id"] for row in reading.listed} == {"1"}


@pytest.mark.parametrize("claim", [2**63 - 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("field", ["claimed_bytes", "claimed_stored", "claimed_offset"])
def test_impossible_sizes_and_offsets_cost_their_member_alone(tmp_path: Path, field: str, claim: int) -> None:
    entries = [Entry(f"xml/en/1999/1/{number}.xml".encode(), XML) for number in range(10)]
    entries[4] = Entry(b"xml/en/1999/1/4.xml", XML, **{field: claim})
    (tmp_path / "en.zip").write_bytes(zip_of(entries))
    reading = sound(tmp_path)
    assert len(reading.kept) == 9
    assert reading.refused.keys() == {"en.zip!xml/en/1999/1/4.xml"}
    assert sum(row["bytes"] + row["stored_bytes"] for row in reading.listed) < 1 << 50


@pytest.mark.parametrize("offset", [1, 10**6, 2**32, 2**62])
def test_one_bad_offset_costs_its_member_alone(tmp_path: Path, offset: int) -> None:
    entries = [Entry(f"xml/en/1999/1/{number}.xml".encode(), XML) for number in range(10)]
    entries[0] = Entry(b"xml/en/1999/1/0.xml", XML, claimed_offset=offset)
    (tmp_path / "en.zip").write_bytes(zip_of(entries))
    reading = sound(tmp_path)
    assert len(reading.kept) == 9
    assert reading.refused == {"en.zip!xml/en/1999/1/0.xml": "bad_zip"}


def test_a_damaged_directory_keeps_the_members_before_the_damage(tmp_path: Path) -> None:
    packed = bytearray(zip_of([Entry(f"xml/en/1999/1/{number}.xml".encode(), XML) for number in range(5)]))
    entry = [place for place in range(len(packed)) if packed[place : place + 4] == b"PK\x01\x02"][3]
    packed[entry : entry + 4] = b"\0\0\0\0"
    (tmp_path / "en.zip").write_bytes(packed)
    reading = sound(tmp_path)
    assert len(reading.kept) == 3
    assert reading.refused == {"en.zip": "bad_zip"}


def test_names_on_disk_that_are_not_utf8(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/xml/en/1999/caf\xe9"
    Path(os.fsdecode(folder)).mkdir(parents=True)
    for name, data in (
        (b"1.xml", XML),
        (b"\xff.xml", XML),
        (b"2.xml.gz", gzip.compress(XML)),
        ("\ufffdFF.xml".encode(), XML),
        (b"3.zip", zip_of([Entry(b"a.xml", XML)])),
    ):
        Path(os.fsdecode(folder + b"/" + name)).write_bytes(data)
    reading = sound(tmp_path)
    assert reading.kept == [
        f"xml/en/1999/caf\ufffdE9/{name}"
        for name in ("1.xml", "2.xml.gz", "3.zip!a.xml", "\ufffdEF\ufffdBF\ufffdBDFF.xml", "\ufffdFF.xml")
    ]


def test_what_is_no_file_is_quarantined(tmp_path: Path) -> None:
    (tmp_path / "good.xml").write_bytes(XML)
    os.mkfifo(tmp_path / "pipe.xml")
    os.mkfifo(tmp_path / "pipe.zip")
    os.mkfifo(tmp_path / "notes.txt")
    (tmp_path / "dangling.xml.gz").symlink_to(tmp_path / "gone")
    (tmp_path / "films").symlink_to(tmp_path / "gone")
    (tmp_path / "itself.xml").symlink_to(tmp_path / "itself.xml")
    before = Path.cwd()
    os.chdir(tmp_path)  # a socket's path has at most 108 bytes
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.xml")
        os.chdir(before)
        reading = sound(tmp_path)
    assert reading.kept == ["good.xml"]
    assert reading.refused == {
        "pipe.xml": "not_a_file",
        "pipe.zip": "not_a_file",
        "socket.xml": "not_a_file",
        "dangling.xml.gz": "unreadable",
        "films": "unreadable",
        "itself.xml": "unreadable",
    }


@pytest.mark.parametrize("target", [".", "..", "../..", "../../../.."])
def test_a_link_to_a_folder_above_lists_a_file_once(tmp_path: Path, target: str) -> None:
    folder = tmp_path / "data" / "xml" / "en" / "1999" / "1"
    folder.mkdir(parents=True)
    (folder / "1.xml").write_bytes(XML)
    (folder / "loop").symlink_to(target)
    assert sound(tmp_path / "data").kept == ["xml/en/1999/1/1.xml"]


def test_a_link_to_another_folder_is_followed(tmp_path: Path) -> None:
    for name in ("data", "elsewhere/1999/1", "data/.store/2001/2"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "elsewhere/1999/1/1.xml").write_bytes(XML)
    (tmp_path / "elsewhere/1999/back").symlink_to(tmp_path / "data")
    (tmp_path / "elsewhere/1999/round").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "data/.store/2001/2/2.xml").write_bytes(XML)
    (tmp_path / "data/films").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "data/more").symlink_to(".store/2001")
    assert sound(tmp_path / "data").kept == ["films/1999/1/1.xml", "more/2/2.xml"]


def test_a_zip_beside_or_under_a_folder_that_looks_like_its_members(tmp_path: Path) -> None:
    packed = zip_of([Entry(b"1.xml", XML), Entry(b"a.zip!/2.xml", XML)])
    for folder in ("", "a.zip!"):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "a.zip").write_bytes(packed)
        (tmp_path / folder / "1.xml").write_bytes(XML)
    reading = sound(tmp_path)
    assert len(reading.listed) == len(reading.kept) == 6


def test_a_name_in_both_a_folder_and_a_zip_stays_two_files(tmp_path: Path) -> None:
    (tmp_path / "a.zip!xml").mkdir()
    (tmp_path / "a.zip!xml" / "1.xml").write_bytes(XML)
    (tmp_path / "a.zip").write_bytes(zip_of([Entry(b"xml/1.xml", XML)]))
    reading = sound(tmp_path)
    assert len(reading.kept) == 2


def test_a_folder_that_may_not_be_read_is_quarantined_and_a_broken_disk_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("good/1.xml", "closed/2.xml"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(XML)
    scan = os.scandir
    code = errno.EACCES

    def refusing(path: bytes) -> object:
        if path.endswith(b"closed"):
            raise OSError(code, os.strerror(code))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    reading = sound(tmp_path)
    assert (reading.kept, reading.refused) == (["good/1.xml"], {"closed": "listing_failed"})
    with pytest.raises(PermissionError, match="Permission denied"):
        reading_of(tmp_path / "closed", pieces=8)
    code = errno.EIO
    with pytest.raises(OSError, match="error"):
        reading_of(tmp_path)


def test_names_of_any_bytes_have_one_writing_each() -> None:
    names = [
        b"a.xml",
        b"\xff",
        b"\xc3\xa9",
        b"\xc3",
        "\ufffdFF".encode(),
        "\ufffd".encode(),
        b"\xef\xbf",
        b"\xed\xa0\x80",
        b"%FF",
    ]
    written = [readable(name) for name in names]
    assert len(set(written)) == len(names)
    assert [name_bytes(text) for text in written] == names
    assert valid(os.fsdecode(b"/data/\xff")) == "/data/\ufffdFF"
    assert valid("/data/\u00e9\ufffd") == "/data/\u00e9\ufffd"


def test_a_source_whose_own_name_is_not_utf8(tmp_path: Path) -> None:
    source = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    (source / "xml/en/1999/1").mkdir(parents=True)
    (source / "xml/en/1999/1/1.xml").write_bytes(XML)
    assert sound(Path(valid(str(source)))).kept == ["xml/en/1999/1/1.xml"]


def test_any_error_of_the_listing_costs_its_file_or_the_rest_of_its_zip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = listing.read_folder

    def failing(above: str, inside: str) -> object:
        if "bad" in inside:
            raise RecursionError("deep")
        return reading(above, inside)

    monkeypatch.setattr(listing, "read_folder", failing)
    for name in ("good/1.xml", "bad/2.xml", "good/3.xml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(XML)
    (tmp_path / "a.zip").write_bytes(zip_of([Entry(name, XML) for name in (b"good/1.xml", b"bad/2.xml", b"3.xml")]))
    found = reading_of(tmp_path)
    assert (found.lost, found.doubled) == (0, 0)
    assert found.kept == ["a.zip!good/1.xml", "good/1.xml", "good/3.xml"]
    assert found.refused == {"bad/2.xml": "listing_failed", "a.zip": "listing_failed"}


@pytest.mark.parametrize("pieces", [1, 8])
def test_a_store_is_listed_as_a_local_folder_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pieces: int) -> None:
    for name in ("xml/en/1999/1/1.xml", "xml/en/2000/2/2.xml", "xml/de/2000/2/4.xml", ".hidden/3.xml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(XML)
    (tmp_path / "a.zip").write_bytes(zip_of([Entry(b"xml/en/1/1/5.xml", XML), Entry(b"6.xml", XML, claimed_crc=1)]))
    (tmp_path / "b.zip").write_bytes(b"PK")
    store = fs.SubTreeFileSystem(str(tmp_path.parent), fs.LocalFileSystem())
    for module in (listing, files):
        monkeypatch.setattr(module, "filesystem", lambda source: (store, source.removeprefix("mock://")))
    stored = reading_of_source(f"mock://{tmp_path.name}", CAPS, pieces)
    monkeypatch.undo()
    local = reading_of(tmp_path, CAPS, pieces)
    assert (stored.lost, stored.doubled, len(stored.kept)) == (0, 0, 3)
    assert (stored.kept, stored.refused) == (local.kept, local.refused)
    assert [row["tag"] for row in stored.listed] == [row["tag"] for row in local.listed]
