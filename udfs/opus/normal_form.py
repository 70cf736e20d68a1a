"""The normal form of text: one line end, composed letters, plain blanks, and no sign that nobody sees.

Subtitles come from many tools: their lines end in ``\\r\\r\\n`` or U+2028, files joined end to end have byte
order marks in the middle, web pages leave no-break blanks, and macOS writes an accent as a sign of its own.
"""

import re
import sys
import unicodedata
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_compute: Any = pc
_LINE_ENDS = re.compile("(?<!\r)\r+\n|[\n\r\x0b\x0c\u2028\u2029]")
_BLANKS = dict.fromkeys([0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x2800, 0x3000, 0x3164, 0x0009], " ")
_UNSEEN = dict.fromkeys(
    [
        *range(0x09),
        *range(0x0E, 0x20),
        0x7F,
        0xAD,  # soft hyphen
        0x034F,
        0x061C,
        0x180E,
        0x200B,
        0x200E,
        0x200F,
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        0xFEFF,
        *range(0xFFF9, 0xFFFD),
        0xFFFE,
        0xFFFF,
        *range(0xE000, 0xE100),  # private use: fonts' own signs
    ]
)
_WINDOWS = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}
"""Control codes that nobody writes: the signs of Windows-1252 that were decoded as Latin-1."""
_SIGNS = _BLANKS | _UNSEEN | _WINDOWS
_JOINER = re.compile("([^\u200c\u200d]?)[\u200c\u200d]+")
_JOINED_SCRIPTS = re.compile("[\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\u0900-\u0dff\u1780-\u17ff]")
"""Scripts in which a zero-width joiner or non-joiner is spelling: Arabic's, those of India and Khmer."""
_PLAIN = "\x20-\x7e\n\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0373\u0375-\u037d\u0384-\u05ff"
_ODD = f"[^{_PLAIN}]"
_TO_LOOK_AT = re.compile(_ODD)
_ASCII = bytes(range(0x7F))
_BYTES_TO_LOOK_AT = re.compile(rb"[\x7f\xcc\xcd\xd8-\xe1\xe3-\xff]|\xc2[\x80-\xa0\xad]|\xe2(?!\x80[\x90-\xa7]|\x99)")
"""In UTF-8; without the dashes, quotation marks and notes of U+2010 to U+2027 and U+2640 to U+267F."""


def normal_form(text: str) -> str:
    """Return a text in normal form (NFC); each line of the result is one line of the file, as editors count them.

    A zero-width joiner or non-joiner stays after a letter of a script that spells with it, such as Persian's.
    """
    text = _LINE_ENDS.sub("\n", text)
    if _TO_LOOK_AT.search(text) is None:
        return text
    text = text.translate(_SIGNS)
    if "\u200c" in text or "\u200d" in text:
        text = _JOINER.sub(lambda match: match[0][:2] if _JOINED_SCRIPTS.match(match[1]) else match[1], text)
    return unicodedata.normalize("NFC", text)


def to_look_at(texts: pa.StringArray) -> list[int]:
    """Return the numbers of the texts that may not be in normal form; most files have none, which costs little."""
    packed = texts.buffers()[2]
    data = b"" if packed is None else packed.to_pybytes()
    if (data.isascii() and b"\x7f" not in data) or _BYTES_TO_LOOK_AT.search(data.translate(None, _ASCII)) is None:
        return []
    return [int(row) for row in _compute.indices_nonzero(_compute.match_substring_regex(texts, _ODD)).to_pylist()]


@lru_cache(maxsize=1)
def marks() -> str:
    """Return the combining marks of Unicode as ranges of a regular expression's class.

    Python counts them as no part of a word, so that Hindi's vowel signs and Thai's tone marks would part words.
    """
    ranges: list[list[int]] = []
    for code in range(0x300, min(sys.maxunicode, 0x1F000)):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(chr(first) if first == last else f"{chr(first)}-{chr(last)}" for first, last in ranges)
