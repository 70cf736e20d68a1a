"""Files broken on purpose, each in one way, with the reason a reader should give."""

import gzip
from functools import cache

_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_WORDS = '  <s id="1">\n    <time id="T1S" value="00:00:01,000" />\n    <w id="1.1">{word}</w>\n  </s>\n'
BOMB_BYTES = 70 << 20


def _document(word: str) -> str:
    return f'{_HEAD}<document id="1">\n{_WORDS.format(word=word)}</document>\n'


def laughs() -> bytes:
    """Nested entities that would grow to 10^9 words, declared in a DOCTYPE."""
    levels = "".join(
        f'  <!ENTITY e{level} "{f"&e{level - 1};" * 10}">\n' if level else '  <!ENTITY e0 "ha">\n'
        for level in range(10)
    )
    body = f'<document id="1">\n{_WORDS.format(word="&e9;")}</document>\n'
    return f"{_HEAD}<!DOCTYPE document [\n{levels}]>\n{body}".encode()


def outside_entity() -> bytes:
    """An entity that asks for a file of the machine."""
    body = f'<document id="1">\n{_WORDS.format(word="&x;")}</document>\n'
    return f'{_HEAD}<!DOCTYPE document [<!ENTITY x SYSTEM "file:///etc/hostname">]>\n{body}'.encode()


def bomb() -> bytes:
    """Well-formed XML of 70 MiB of blanks, some 70 KB packed."""
    return f'{_HEAD}<document id="1">\n'.encode() + b" " * BOMB_BYTES + b"</document>\n"


def wrong_encoding() -> bytes:
    """Declared UTF-8, written as windows-1252."""
    return _document("caf\u00e9").encode("windows-1252")


@cache
def packed_bomb() -> bytes:
    """The bomb, gzipped."""
    return gzip.compress(bomb(), compresslevel=9, mtime=0)


def truncated_gzip(content: bytes) -> bytes:
    """The first 60% of a gzipped file, as a broken transfer leaves it."""
    packed = gzip.compress(content, compresslevel=9, mtime=0)
    return packed[: len(packed) * 6 // 10]


def broken_files(good: bytes) -> dict[str, tuple[str, bytes]]:
    """File ending and fault to (reason, bytes as stored); ``good`` is a sound file to break."""
    page = b"<html><head><title>Not found<body><p>This subtitle is gone.</html>"
    other = f"{_HEAD}<playlist><item/></playlist>\n".encode()
    cues = b"1\r\n00:00:01,000 --> 00:00:02,000\r\nHello there.\r\n"
    return {
        "web_page.xml.gz": ("not_xml", gzip.compress(page, mtime=0)),
        "srt.xml": ("not_xml", cues),
        "cut_off.xml": ("not_xml", good[: len(good) // 2]),
        "other_root.xml.gz": ("no_sentences", gzip.compress(other, mtime=0)),
        "truncated.xml.gz": ("truncated_gzip", truncated_gzip(good)),
        "not_gzip.xml.gz": ("bad_gzip", b"PK\x03\x04 this is no gzip file"),
        "empty.xml.gz": ("empty", b""),
        "empty.xml": ("empty", b""),
        "laughs.xml.gz": ("doctype", gzip.compress(laughs(), mtime=0)),
        "outside_entity.xml": ("doctype", outside_entity()),
        "bomb.xml.gz": ("ratio", packed_bomb()),
        "wrong_encoding.xml.gz": ("bad_encoding", gzip.compress(wrong_encoding(), mtime=0)),
    }


DAMAGED_MEMBER = "OpenSubtitles/xml/en/2001/8900090/damaged.xml"


def broken_members() -> dict[str, tuple[str, bytes]]:
    """Member of a zip to (reason, content).

    One would be written outside its folder if somebody unpacked it, one unpacks to 70 MiB, and one is to be
    spoilt in the zip (``DAMAGED_MEMBER``).
    """
    return {
        "OpenSubtitles/xml/en/2001/../../../../escaped.xml": ("unsafe_name", _document("gotcha").encode()),
        "OpenSubtitles/xml/en/2001/8900089/bomb.xml": ("too_large", bomb()),
        DAMAGED_MEMBER: ("crc", _document("spoilt").encode()),
    }
