"""Invalid files, each with one fault and the reason that a reader should report."""

import gzip
from functools import cache

from etl.demo.markup import HEAD

_WORDS = '  <s id="1">\n    <time id="T1S" value="00:00:01,000" />\n    <w id="1.1">{word}</w>\n  </s>\n'
BOMB_BYTES = 70 << 20


def _document(word: str, doctype: str = "") -> str:
    return f'{HEAD}{doctype}<document id="1">\n{_WORDS.format(word=word)}</document>\n'


def laughs() -> bytes:
    """Return a document with nested entities that would expand to 10^9 words."""
    levels = "".join(f'  <!ENTITY e{level} "{f"&e{level - 1};" * 10}">\n' for level in range(1, 10))
    return _document("&e9;", f'<!DOCTYPE document [\n  <!ENTITY e0 "ha">\n{levels}]>\n').encode()


def outside_entity() -> bytes:
    """Return a document with an entity that refers to a local file."""
    return _document("&x;", '<!DOCTYPE document [<!ENTITY x SYSTEM "file:///etc/hostname">]>\n').encode()


def bomb() -> bytes:
    """Return well-formed XML with 70 MiB of blanks, about 70 KB packed."""
    return f'{HEAD}<document id="1">\n'.encode() + b" " * BOMB_BYTES + b"</document>\n"


@cache
def packed_bomb() -> bytes:
    """Return the gzipped bomb."""
    return gzip.compress(bomb(), compresslevel=9, mtime=0)


def truncated_gzip(content: bytes) -> bytes:
    """Return the first 60% of a gzipped file."""
    packed = gzip.compress(content, compresslevel=9, mtime=0)
    return packed[: len(packed) * 6 // 10]


def broken_files(good: bytes) -> dict[str, tuple[str, bytes]]:
    """Return (reason, stored bytes) by file name; ``good`` is a valid file to damage."""
    page = b"<html><head><title>Not found<body><p>This subtitle is gone.</html>"
    other = f"{HEAD}<playlist><item/></playlist>\n".encode()
    windows = _document("caf\u00e9").encode("windows-1252")
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
        "wrong_encoding.xml.gz": ("bad_encoding", gzip.compress(windows, mtime=0)),
    }


DAMAGED_MEMBER = "OpenSubtitles/xml/en/2001/8900090/damaged.xml"


def broken_members() -> dict[str, tuple[str, bytes]]:
    """Return (reason, content) by member of a zip: an unsafe name, 70 MiB unpacked, and a member to damage."""
    return {
        "OpenSubtitles/xml/en/2001/../../../../escaped.xml": ("unsafe_name", _document("gotcha").encode()),
        "OpenSubtitles/xml/en/2001/8900089/bomb.xml": ("too_large", bomb()),
        DAMAGED_MEMBER: ("crc", _document("spoilt").encode()),
    }
