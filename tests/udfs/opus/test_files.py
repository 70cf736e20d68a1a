"""Bytes of files: caps, gzip, zip members by range, names; and what paths say."""

import gzip
import io
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from udfs.opus.archives import RangeReader, ranges, read_member
from udfs.opus.files import Caps, UnreadableError, filesystem, gunzip, read_plain, unpack
from udfs.opus.paths import Folder, language_code, read_folder, read_release, subtitle_id
from udfs.opus.zip_directory import Member, is_unsafe, members

CAPS = Caps(max_bytes=8 << 20, max_ratio=200)
TEXT = b"<document/>" * 50
BOMB = gzip.compress(b"\0" * (128 << 20), 1)


def reason_of(stored: bytes, gzipped: bool = True, caps: Caps = CAPS) -> str:
    with pytest.raises(UnreadableError) as refused:
        unpack(stored, gzipped, caps)
    return refused.value.reason


BAD_BYTES = {
    "empty": (b"", "empty"),
    "gzip_of_nothing": (gzip.compress(b""), "empty"),
    "truncated_gzip": (gzip.compress(TEXT)[:-12], "truncated_gzip"),
    "only_the_magic": (b"\x1f\x8b", "truncated_gzip"),
    "damaged_checksum": (gzip.compress(TEXT)[:-8] + b"\0" * 8, "bad_gzip"),
    "gz_that_is_none": (TEXT, "bad_gzip"),
    "garbage_behind": (gzip.compress(TEXT) + b"garbage", "bad_gzip"),
    "too_large": (gzip.compress(bytes(range(256)) * 65536, 0), "too_large"),
    "ratio": (gzip.compress(b"a" * (4 << 20)), "ratio"),
}


@pytest.mark.parametrize(("stored", "reason"), BAD_BYTES.values(), ids=BAD_BYTES)
def test_bad_bytes_have_their_reason(stored: bytes, reason: str) -> None:
    assert reason_of(stored) == reason


def test_gzip_of_several_members_and_zero_padding() -> None:
    assert gunzip(gzip.compress(b"a") + gzip.compress(b"b") + b"\0" * 512, CAPS) == b"ab"


def test_a_gzip_is_unpacked_whatever_its_name() -> None:
    assert unpack(gzip.compress(TEXT), gzipped=False, caps=CAPS) == TEXT


def test_a_bomb_never_inflates() -> None:
    tracemalloc.start()
    assert reason_of(BOMB, caps=Caps(8 << 20, 1e9)) == "too_large"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20


def test_a_vanished_file_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="unreadable"):
        read_plain(str(tmp_path), str(tmp_path / "gone.xml"), False, CAPS)


def zip_bytes(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def one_member(stored: bytes, **changed: object) -> bytes:
    (member,) = members(io.BytesIO(stored))
    return read_member(RangeReader(io.BytesIO(stored)), Member(**{**vars(member), **changed}), CAPS)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zip_members_are_read_by_range(method: int) -> None:
    files = {f"xml/en/1999/{number}/{number}.xml": TEXT * number for number in range(1, 6)}
    archive = io.BytesIO(zip_bytes(files, method))
    reader = RangeReader(archive)
    found = list(members(archive))
    reader.hold(found[0].offset, found[2].offset)
    assert {member.name: read_member(reader, member, CAPS) for member in found} == files


class Unseekable(io.RawIOBase):
    """A stream that cannot go back: zipfile then writes data descriptors behind the members."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.data += data
        return len(data)


def test_data_descriptors_and_zip64() -> None:
    stream = Unseekable()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.xml", "w", force_zip64=True) as file,
    ):
        file.write(TEXT)
    assert one_member(bytes(stream.data)) == TEXT


def test_bad_members_have_their_reason() -> None:
    good = zip_bytes({"a.xml": TEXT})
    encrypted = bytearray(good)
    encrypted[6] |= 1
    cases: list[tuple[bytes, dict[str, object], str]] = [
        (good, {"crc": 1}, "crc"),
        (good, {"bytes": 3}, "crc"),
        (good, {"offset": 9}, "bad_zip"),
        (good, {"method": 12}, "zip_method"),
        (good, {"name": "../a.xml"}, "unsafe_name"),
        (good, {"bytes": 1 << 40}, "too_large"),
        (bytes(encrypted), {}, "encrypted"),
        (zip_bytes({"a.xml": b"a" * (4 << 20)}), {"bytes": 100}, "ratio"),
        (good, {"stored_bytes": len(good) * 2}, "truncated_zip"),
    ]
    for stored, changed, reason in cases:
        with pytest.raises(UnreadableError) as refused:
            one_member(stored, **changed)
        assert refused.value.reason == reason, (changed, reason)
    with pytest.raises(zipfile.BadZipFile):
        list(members(io.BytesIO(good[: len(good) // 2])))


def test_neighbours_share_a_range_and_gaps_part_them() -> None:
    spans = ranges([0, 100, 200, 5_000_000], [100, 200, 300, 5_000_100], most=250)
    assert [(span.start, span.end, span.first, span.last) for span in spans] == [
        (0, 200, 0, 2),
        (200, 300, 2, 3),
        (5_000_000, 5_000_100, 3, 4),
    ]


@pytest.mark.parametrize("name", ["../a.xml", "a/../../b.xml", "/etc/a.xml", "a\\b.xml", "C:a.xml", "a\0.xml"])
def test_unsafe_names(name: str) -> None:
    assert is_unsafe(name)
    assert not is_unsafe("xml/en/1999/1/a..b.xml")


FOLDERS = {
    "opus_zip": ("/d/en.zip", "OpenSubtitles/xml/en/1999/133093", Folder("en", 1999, "133093")),
    "tree": ("/d/opensubtitles2018_xml", "xml/pt_br/666/1999570676", Folder("pt_br", 666, "1999570676")),
    "source_is_the_language": ("/d/xml/en", "1999/133093", Folder("en", 1999, "133093")),
    "source_is_the_year": ("/d/xml/zh_cn/1999", "133093", Folder("zh_cn", 1999, "133093")),
    "no_xml_folder": ("/d", "de/2001/42", Folder("de", 2001, "42")),
    "unplaced": ("/d/sample", "xml_unplaced", Folder(None, None, None)),
    "xml_above_the_data": ("/home/xml/Corpora", "en/2001/42", Folder("en", 2001, "42")),
    "no_language": ("/d", "2001/42", Folder(None, 2001, "42")),
}


@pytest.mark.parametrize(("above", "inside", "expected"), FOLDERS.values(), ids=FOLDERS)
def test_what_folders_say(above: str, inside: str, expected: Folder) -> None:
    assert read_folder(above, inside) == expected


def test_release_language_and_id() -> None:
    releases = {
        "s3://opus/OpenSubtitles/v2018/xml": "v2018",
        "/data/OpenSubtitles2016": "v2016",
        "/d/opensubtitles2018_xml": "v2018",
        "/d/OpenSubtitles-v2024": "v2024",
        "/films/2018": "v0",
    }
    assert {source: read_release(source, "", "v0") for source in releases} == releases
    assert read_release("/OpenSubtitles2018", "v2016/xml/en", "v0") == "v2016"
    assert [language_code(name) for name in ("English", "Portuguese (BR)", "de", "Klingon speech", None)] == [
        "en",
        "pt_br",
        "de",
        None,
        None,
    ]
    assert [subtitle_id(path) for path in ("xml/en/7.xml.gz", "7.XML", "..\\7.xml")] == ["7", "7", "7"]


def test_file_and_dbfs_uris_are_local_paths() -> None:
    assert filesystem("file:///tmp/a%20b")[1] == "/tmp/a b"
    assert filesystem("dbfs:/Volumes/main/raw")[1] == "/Volumes/main/raw"
    assert filesystem("dbfs:/raw/")[1] == "/dbfs/raw"
