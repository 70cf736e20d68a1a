"""Parser of JSON from outside: every text that is no usable JSON is a fault with a reason."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

MAX_DEPTH: Final = 100
_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MARK: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},]', re.DOTALL)


class JsonError(ValueError):
    """An error of one JSON text: ``not_json``, ``too_deep`` or ``not_unicode``. As a string it is the text."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def parsed_json(text: str) -> Any:
    """Return the content of a JSON text.

    Raises:
        JsonError: it is no JSON, is nested deeper than ``MAX_DEPTH``, or has a lone surrogate.
    """
    value = _loaded(text)
    if reason := _fault_of(value, _surrogates_possible(text)):
        raise JsonError(reason, text)
    return value


def list_elements(text: str) -> Iterator[Any]:
    """Yield the elements of a JSON list, or a ``JsonError`` in place of each one that cannot be used.

    A list that is no JSON as a whole is cut into the texts of its elements. One that does not end, or goes on after
    its end, yields the rest as its last element.
    """
    try:
        values = _loaded(text)
    except JsonError:
        for part in _parts(text):
            try:
                yield parsed_json(part)
            except JsonError as fault:
                yield fault
        return
    doubtful = _surrogates_possible(text)
    for value in values:
        reason = _fault_of(value, doubtful)
        yield JsonError(reason, json.dumps(value)) if reason else value


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise JsonError("too_deep", text) from None
    except ValueError:
        raise JsonError("not_json", text) from None


def _surrogates_possible(text: str) -> bool:
    return _SURROGATE.search(text) is not None or _ESCAPED_SURROGATE.search(text) is not None


def _fault_of(value: Any, doubtful: bool) -> str | None:
    if _is_deep(value):
        return "too_deep"
    if doubtful:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return "not_unicode"
    return None


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for outer in level for inner in _inner(outer)]
        if not level:
            return False
    return True


def _inner(value: Any) -> list[Any]:
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [inner for inner in values if isinstance(inner, dict | list)]


def _parts(text: str) -> Iterator[str]:
    """Yield the texts of a list's elements."""
    start = text.index("[") + 1
    depth = 0
    for mark in _MARK.finditer(text, start - 1):
        character = mark.group()
        if character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        if (character == "," and depth == 1) or depth == 0:
            if (part := text[start : mark.start()].strip()) or character == ",":
                yield part
            start = mark.end()
        if depth == 0:
            break
    if (rest := text[start:].strip()) or depth:
        yield rest
