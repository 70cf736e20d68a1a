"""Decoding of XML and plain text by a fixed list of codecs.

A file's declaration may name any codec of Python or iconv, some of which take quadratic time or are no text codecs at
all. Only names in the list are looked up, and libxml2 is always given UTF-8.
"""

import codecs
import re

from udfs.opus.files import UnreadableError

_DECLARED = re.compile(rb"""<\?xml[ \t\r\n][^<>]{0,200}?[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["']([^"'<>]{0,100})""")
_UTF_8 = "utf-8"
_UTF_16 = "utf-16"
_CODECS = {
    **dict.fromkeys(("utf-8", "utf8", "us-ascii", "ascii", "ansi_x3.4-1968"), _UTF_8),
    **dict.fromkeys(("iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1"), "latin-1"),
    **{f"iso-8859-{part}": f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16)},
    **{f"{prefix}{page}": f"cp{page}" for page in (874, *range(1250, 1259)) for prefix in ("windows-", "cp")},
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "tis-620": "tis-620",
    "gb2312": "gbk",
    "gbk": "gbk",
    "cp936": "gbk",
    "gb18030": "gb18030",
    "big5": "big5",
    "big5-hkscs": "big5hkscs",
    "shift_jis": "shift_jis",
    "sjis": "shift_jis",
    "cp932": "cp932",
    "windows-31j": "cp932",
    "euc-jp": "euc_jp",
    "euc-kr": "euc_kr",
    "cp949": "cp949",
}
"""Codecs by the names in XML declarations: text codecs without state that take linear time."""
_MARKS = (
    (codecs.BOM_UTF32_LE, None),
    (codecs.BOM_UTF32_BE, None),
    (codecs.BOM_UTF8, _UTF_8),
    (codecs.BOM_UTF16_LE, _UTF_16),
    (codecs.BOM_UTF16_BE, _UTF_16),
    ("<?".encode("utf-16-le"), "utf-16-le"),
    ("<?".encode("utf-16-be"), "utf-16-be"),
)


_PAGES = {
    **dict.fromkeys(("bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq"), "cp1250"),
    **dict.fromkeys(("bg", "mk", "ru", "sr", "uk"), "cp1251"),
    "el": "cp1253",
    "tr": "cp1254",
    "he": "cp1255",
    **dict.fromkeys(("ar", "fa", "ur"), "cp1256"),
    **dict.fromkeys(("et", "lt", "lv"), "cp1257"),
    "vi": "cp1258",
    "th": "cp874",
    "zh_cn": "gb18030",
    "zh_tw": "big5hkscs",
    "ja": "cp932",
    "ko": "cp949",
}
"""Windows' code page of each language whose page is not that of Western Europe."""


def as_text(data: bytes, language: str | None) -> tuple[str, str]:
    """Return a plain file's text, and its codec: by its byte order mark, UTF-8, or the code page of its language.

    Raises:
        UnreadableError: bad_encoding: the bytes are in none of them, or are no text.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark) and mark[:1] != b"<":
            return _decoded(data, codec, "UTF-32").decode().removeprefix("\ufeff"), codec or ""
    if b"\0" in data[:4096]:
        raise UnreadableError("bad_encoding", "zero bytes, and no byte order mark; save the file in UTF-8")
    try:
        return data.decode(), _UTF_8
    except UnicodeDecodeError:
        codec = _PAGES.get((language or "").lower(), "cp1252")
    return _decoded(data, codec, codec).decode(), codec


def as_utf8(data: bytes) -> bytes:
    """Return an XML file in UTF-8, without a byte order mark; a file in UTF-8 is not checked.

    Raises:
        UnreadableError: bad_encoding: the encoding is not in the list, or the bytes are not in it.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            if codec == _UTF_8:
                return data.removeprefix(mark)
            return _decoded(data, codec, "UTF-32")
    declared = _DECLARED.match(data)
    if declared is None:
        return data
    codec = _CODECS.get(declared[1].decode("latin-1").strip().lower())
    return data if codec == _UTF_8 else _decoded(data, codec, repr(declared[1])[1:])


def _decoded(data: bytes, codec: str | None, name: str) -> bytes:
    if codec is None:
        raise UnreadableError("bad_encoding", f"encoding {name} is not read; save the file in UTF-8")
    try:
        return data.decode(codec).encode()
    except UnicodeError as error:
        raise UnreadableError(
            "bad_encoding", f"not in {codec}, the file's encoding by its name or mark: {error}"
        ) from error
