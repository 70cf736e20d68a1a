"""File names as text, whatever their bytes.

Tables and Arrow hold UTF-8 only. A byte that is not UTF-8 becomes U+FFFD and its two hexadecimal digits, such as
``caf\\ufffdE9.xml``; a U+FFFD in the name itself is written as its three bytes, so that no two names become one.
"""

import re

MARK = "\ufffd"
_NOT_PLAIN = re.compile(f"[\udc80-\udcff{MARK}]")
_ESCAPED_BYTES = re.compile(MARK.encode() + rb"([0-9A-F]{2})")


def readable(name: bytes) -> str:
    """Return a name as text that ``name_bytes`` turns into the same bytes."""
    return _NOT_PLAIN.sub(_escape, name.decode("utf-8", "surrogateescape"))


def name_bytes(text: str) -> bytes:
    """Return the bytes of a name that ``readable`` returned."""
    plain = text.encode("utf-8", "surrogateescape")
    return _ESCAPED_BYTES.sub(lambda match: bytes([int(match[1], 16)]), plain)


def valid(text: str) -> str:
    """Return a path from the command line in the writing of ``readable`` if it has bytes that are not UTF-8."""
    return (
        text if text.encode("utf-8", "replace").decode() == text else readable(text.encode("utf-8", "surrogateescape"))
    )


def escaped(text: str) -> str:
    """Return ASCII characters in the writing of bytes that are not UTF-8."""
    return "".join(f"{MARK}{ord(sign):02X}" for sign in text)


def _escape(match: re.Match[str]) -> str:
    sign = match[0]
    return "".join(f"{MARK}{byte:02X}" for byte in sign.encode("utf-8", "surrogateescape"))
