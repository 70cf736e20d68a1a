"""Decoding of XML and plain text by a fixed list of codecs.

A file's declaration may name any codec of Python or iconv, some of which take quadratic time or are no text codecs at
all. Only names in the list are looked up, and libxml2 is always given UTF-8.
"""

import codecs
import re
from dataclasses import dataclass
from functools import lru_cache

from charset_normalizer import from_bytes

from udfs.opus.files import UnreadableError
from udfs.opus.languages import language_of

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
    **dict.fromkeys(("bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq"), ("cp1250", "iso8859_2", "cp852")),
    **dict.fromkeys(("bg", "mk", "ru", "uk", "be"), ("cp1251", "koi8_r", "iso8859_5", "cp866", "koi8_u")),
    "sr": ("cp1251", "iso8859_5", "cp1250", "iso8859_2"),
    "el": ("cp1253", "iso8859_7"),
    "tr": ("cp1254",),
    "he": ("cp1255",),
    **dict.fromkeys(("ar", "fa", "ur"), ("cp1256", "iso8859_6")),
    **dict.fromkeys(("et", "lt", "lv"), ("cp1257",)),
    "vi": ("cp1258",),
    "th": ("cp874",),
    "zh_cn": ("gb18030", "big5hkscs"),
    "zh_tw": ("big5hkscs", "gb18030"),
    "zh": ("gb18030", "big5hkscs"),
    "ja": ("cp932", "euc_jp"),
    "ko": ("cp949",),
}
"""Code pages of each language whose page is not that of Western Europe, the commonest first."""
_WESTERN = ("cp1252",)
_ALL_PAGES = tuple(dict.fromkeys([*_WESTERN, *(page for pages in _PAGES.values() for page in pages)]))
_SAMPLE = 60_000
"""Most bytes beyond ASCII that are looked at, with the words around them."""
_LEAST_FIT = 0.9
_MOST_HIGH_IN_ENGLISH = 0.02
_MOST_HIGH_IN_LATIN = 0.6
"""Above these shares of the letters a text is not English (a few names and quotes), or not in Latin letters."""
_LATIN = "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u0333\u1ea0-\u1eff\u00aa\u00ba\u20ab"
_LETTERS = {
    "cp1251": "\u0410-\u044f\u0401\u0451\u0404\u0406\u0407\u0454\u0456\u0457\u0490\u0491\u0402-\u040f\u0452-\u045f",
    "cp1253": "\u0386-\u03ce",
    "cp1255": "\u05d0-\u05ea",
    "cp1256": "\u0621-\u0652\u067e\u0686\u0688\u0691\u0698\u06a9\u06af\u06ba\u06be\u06c1\u06d2\u06cc\u060c\u061b\u061f",
    "cp874": "\u0e01-\u0e5b",
    "cp949": "\uac00-\ud7a3",
    "cp932": "\u3040-\u30ff\u4e00-\u9fff\u3001-\u300f\uff01-\uff5e",
    "euc_jp": "\u3040-\u30ff\u4e00-\u9fff\u3001-\u300f\uff01-\uff5e",
    "gb18030": "\u4e00-\u9fff\u3001-\u300f\uff01-\uff5e\u201c\u201d\u2026",
    "big5hkscs": "\u4e00-\u9fff\u3001-\u300f\uff01-\uff5e\u201c\u201d\u2026",
}
_LETTERS |= dict.fromkeys(("koi8_r", "koi8_u", "iso8859_5", "cp866"), _LETTERS["cp1251"])
_LETTERS |= {"iso8859_7": _LETTERS["cp1253"], "iso8859_6": _LETTERS["cp1256"]}
_MARKS_OF_TEXT = (
    "\u2018-\u201e\u2026\u2013\u2014\u00ab\u00bb"
    "\u00bf\u00a1\u00a0\u266a\u266b\u00b0\u2122\u00a9\u00ae\u20ac\u00a3\u2022"
)


_ONLY_MARKS = re.compile(f"[\0-\x7f{_MARKS_OF_TEXT}]*")
"""Text whose only signs beyond ASCII are no letters, which most pages have at the same places."""


@dataclass(frozen=True)
class Decoded:
    """A plain file's text.

    Attributes:
        text: without a byte order mark.
        codec: Python's name of the encoding.
        confidence: 1 where a mark or the form of the bytes decides; else how well the text fits, from 0 to 1.
        replaced: places where bytes were in no character, each now U+FFFD.
        twice: it was UTF-8 that a tool had read as Windows-1252 and written as UTF-8 again; the text is the first one.
    """

    text: str
    codec: str
    confidence: float
    replaced: int = 0
    twice: bool = False


def as_text(data: bytes, language: str | None) -> Decoded:
    """Decode a plain file by its byte order mark, as UTF-8 with damaged places, or by the code page that fits best.

    Args:
        language: its language, if its name tells: the pages of that language are tried first.

    Raises:
        UnreadableError: bad_encoding: the bytes are in no known encoding, or are no text.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark) and mark[:1] != b"<":
            if codec is None:
                raise UnreadableError("bad_encoding", "encoding UTF-32 is not read; save the file in UTF-8")
            return _once(_replaced(data, codec, 1.0))
    if b"\0" in data:
        wide = _wide_codec(data)
        if wide is not None:
            return _replaced(data, wide, 0.9)
        data = data.rstrip(b"\0")
        if not data:
            raise UnreadableError("bad_encoding", "nothing but zero bytes: the copy is damaged; get the file again")
        if 100 * data.count(b"\0") > len(data):
            raise UnreadableError("bad_encoding", "zero bytes, and no byte order mark; save the file in UTF-8")
    if (shifted := _utf7(data)) is not None:
        return shifted
    try:
        return _once(Decoded(data.decode(), _UTF_8, 1.0))
    except UnicodeDecodeError:
        damaged = _damaged_utf8(data)
    return damaged or _by_page(data, language)


_SHIFTED = re.compile(rb"\+[A-Za-z0-9+/]{3,}(?:-|(?![A-Za-z0-9+/=]))")
_UTF7_MARK = re.compile(rb"\+/v[89+/]-?")


def _utf7(data: bytes) -> Decoded | None:
    """Return the text of UTF-7, which is ASCII with letters beyond it as ``+AOk-``; None for other files."""
    found = _SHIFTED.findall(data) if data.isascii() and b"+" in data else []
    if not found:
        return None
    try:
        signs = b"-".join([*found, b""]).decode("utf-7")
        text = data.decode("utf-7")
    except UnicodeDecodeError:
        return None
    beyond = [sign for sign in signs if not sign.isascii()]
    likely = all(sign < "\u0250" or "\u2010" <= sign <= "\u2044" for sign in beyond) or len(found) > 2
    if _UTF7_MARK.match(data) is None and not (likely and len(beyond) >= len(found)):
        return None
    return Decoded(text.removeprefix("\ufeff"), "utf-7", 0.9)


_AS_WINDOWS = {ord(bytes([code]).decode("cp1252", "ignore") or chr(code)): code for code in range(0x80, 0x100)}
_TWICE = re.compile(
    "[\u00c2-\u00f4][" + "".join(chr(sign) for sign, code in sorted(_AS_WINDOWS.items()) if code < 0xC0) + "]"
)
_MOST_ODD_LINES = 0.1


def _once(decoded: Decoded) -> Decoded:
    """Return a text as it was before it was encoded twice (``itâ€™s``), or the same.

    That is so where at least nine of ten lines beyond ASCII are UTF-8 once more, which other text is by chance only.
    """
    if _TWICE.search(decoded.text) is None:
        return decoded
    lines = decoded.text.split("\n")
    beyond = changed = 0
    for place, line in enumerate(lines):
        if not line.isascii():
            beyond += 1
            try:
                codes = bytes(_AS_WINDOWS.get(ord(sign), ord(sign)) for sign in line)
                lines[place] = codes.decode()
                changed += 1
            except ValueError:
                continue
    if changed < (1 - _MOST_ODD_LINES) * beyond:
        return decoded
    return Decoded("\n".join(lines), decoded.codec, decoded.confidence, decoded.replaced, twice=True)


def _replaced(data: bytes, codec: str, confidence: float) -> Decoded:
    text = data.decode(codec, "replace").removeprefix("\ufeff")
    replaced = text.count("\ufffd")
    return Decoded(text, codec, round(confidence * (1 - replaced / max(len(text), 1)), 4), replaced)


def _wide_codec(data: bytes) -> str | None:
    """Return the form of UTF-16 that has ``-->`` or, as Latin text, zero in most other bytes; None for neither."""
    arrow = data.find("-->".encode("utf-16-le")[:-1])
    if arrow >= 0:
        return "utf-16-be" if arrow % 2 else "utf-16-le"
    half = max(len(data) // 2, 1)
    odd = data[1::2].count(0) / half
    even = data[::2].count(0) / half
    if max(odd, even) < 0.3 or min(odd, even) > 0.02:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


_ONLY_LEADS = frozenset({0xC2, 0xC3, 0xE2})
"""Bytes that begin most characters beyond ASCII, and that end hardly a word in a code page."""


def _damaged_utf8(data: bytes) -> Decoded | None:
    """Return a text in UTF-8 of which a few bytes are damaged, or the last is cut; None for text of a code page.

    In a code page, bytes form a character of UTF-8 by chance only: there more are damaged than whole.
    """
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd") - data.count(b"\xef\xbf\xbd")
    whole = sum(1 for byte in data if byte >= 0xC2) - bad
    tail = data[-3:].lstrip(bytes(range(128)))
    is_cut = bad == 1 and tail and (tail[0] in _ONLY_LEADS if whole <= 0 else tail[0] >= 0xC2)
    if bad > whole and not (is_cut and data[: -len(tail)].isascii()):
        return None
    return Decoded(text, _UTF_8, round(1 - bad / (bad + max(whole, 0) + 1), 4), bad)


def _by_page(data: bytes, language: str | None) -> Decoded:
    """Decode by a page of the language in which nearly all is letters, else by the page that a detector finds."""
    hinted = _pages_of(language)
    sample = _sample(data)
    if _ONLY_MARKS.fullmatch(sample.decode("cp1252", "replace")):
        return _by_codec(data, "cp1252", 0.9)
    fits = {page: _fit(sample, page) for page in hinted}
    if language == "en" and _share_of_high(data) > _MOST_HIGH_IN_ENGLISH:
        fits = {}
    best = max(fits, key=lambda page: fits[page], default=None)
    if best is not None and fits[best] >= _LEAST_FIT:
        return _by_codec(data, best, fits[best])
    found = from_bytes(sample, cp_isolation=list(_ALL_PAGES), threshold=0.4, language_threshold=0.05).best()
    if found is not None and _fit(sample, found.encoding) > 0:
        # Pages of Latin letters differ in few: the language of the text, read in any of them, tells which one it is.
        spoken, _ = language_of(sample.decode(found.encoding, "replace"))
        by_language = {page: _fit(sample, page) for page in _pages_of(spoken)}
        page = max(by_language, key=lambda page: by_language[page], default=None)
        if page is not None and by_language[page] >= _LEAST_FIT:
            return _by_codec(data, page, by_language[page])
        return _by_codec(data, found.encoding, min(1 - found.chaos, _fit(sample, found.encoding)))
    if best is not None and fits[best] > 0.5:
        return _by_codec(data, best, fits[best])
    raise UnreadableError("bad_encoding", "the bytes are text in no known encoding; save the file in UTF-8")


def _pages_of(language: str | None) -> tuple[str, ...]:
    return _PAGES.get((language or "").lower(), _WESTERN if language else ())


def _by_codec(data: bytes, page: str, confidence: float) -> Decoded:
    text = data.decode(page, "replace")
    return Decoded(text, page, round(confidence, 4), text.count("\ufffd"))


def _share_of_high(data: bytes) -> float:
    """Return the share of bytes beyond ASCII that are letters of Western Europe among the letters of a text."""
    high = sum(1 for byte in data[:_SAMPLE] if byte >= 0xC0)
    return high / max(sum(1 for byte in data[:_SAMPLE] if byte >= 0x41), 1)


def _sample(data: bytes) -> bytes:
    """Return the lines of a file that hold bytes beyond ASCII, up to ``_SAMPLE`` bytes of them."""
    lines = []
    size = 0
    for line in data.splitlines():
        if not line.isascii():
            lines.append(line)
            size += len(line)
            if size > _SAMPLE:
                break
    return b"\n".join(lines)


def _fit(sample: bytes, page: str) -> float:
    """Return the share of the characters beyond ASCII that are letters of a page's languages, or marks of text.

    A small letter before a capital in one word, and letters of two scripts in one, count against it: they show a text
    of another page.
    """
    text = sample.decode(page, "replace")
    others = [sign for sign in text if sign > "\x7f"]
    if not others or (page not in _LETTERS and len(others) > _MOST_HIGH_IN_LATIN * sum(map(str.isalpha, text))):
        return 0.0
    fitting = len(_expected(page).findall(text)) - 2 * len(_MIXED.findall(text))
    return max(fitting, 0) / len(others)


@lru_cache
def _expected(page: str) -> re.Pattern[str]:
    return re.compile(f"[{_LETTERS.get(page, _LATIN)}{_MARKS_OF_TEXT}]")


_MIXED = re.compile(
    "[a-z\u00df-\u00f6\u00f8-\u00ff\u0430-\u045f\u03ac-\u03ce](?=[\u00c0-\u00d6\u00d8-\u00de\u0400-\u042f\u0391-\u03a9])"
    "|[A-Za-z](?=[\u0391-\u04ff\u05d0-\u05ea])|[\u0391-\u04ff\u05d0-\u05ea](?=[A-Za-z])"
)


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
