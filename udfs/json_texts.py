"""Parser of JSON from outside: every text that is no usable JSON is a fault with a reason."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

MAX_DEPTH: Final = 100
_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_BLANKS: Final = re.compile(r"\s*")


class JsonError(ValueError):
    """An error of one JSON text: not_json, too_deep, not_unicode or repeated_key. As a string it is the text."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def parsed_json(text: str, *, unique: bool = False) -> Any:
    """Return the content of a JSON text.

    Args:
        unique: whether an object that has a key twice, with different values, is refused; else the last value counts.

    Raises:
        JsonError: it is no JSON, is nested deeper than ``MAX_DEPTH``, or has a lone surrogate.
    """
    value = _loaded(text, unique)
    if reason := _fault_of(value, _surrogates_possible(text)):
        raise JsonError(reason, text)
    return value


def list_elements(text: str, *, unique: bool = False) -> Iterator[Any]:
    """Yield the elements of a JSON list, or a ``JsonError`` in place of each one that cannot be used.

    Of a list that is no JSON as a whole, elements count up to the first that cannot be decoded; it and what follows are
    one element that cannot be used. `unique` as of `parsed_json`.
    """
    try:
        values = _loaded(text, unique)
    except JsonError:
        yield from _elements(text, unique)
        return
    doubtful = _surrogates_possible(text)
    for value in values:
        reason = _fault_of(value, doubtful)
        yield JsonError(reason, json.dumps(value)) if reason else value


def _loaded(text: str, unique: bool) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_with_unique_keys if unique else None)
    except RecursionError:
        raise JsonError("too_deep", text) from None
    except _RepeatedKeyError:
        raise JsonError("repeated_key", text) from None
    except ValueError:
        raise JsonError("not_json", text) from None


class _RepeatedKeyError(ValueError):
    pass


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs) and any(found[key] != value for key, value in pairs):
        raise _RepeatedKeyError
    return found


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


def _elements(text: str, unique: bool) -> Iterator[Any]:
    """Yield the elements of a list that is no JSON as a whole, up to the first that is none, which takes the rest."""
    decoder = json.JSONDecoder(object_pairs_hook=_with_unique_keys if unique else None)
    at = text.index("[") + 1
    while True:
        at = _BLANKS.match(text, at).end()  # type: ignore[union-attr]
        try:
            value, end = decoder.raw_decode(text, at)
        except RecursionError:
            yield JsonError("too_deep", text[at:])
            return
        except _RepeatedKeyError:
            yield JsonError("repeated_key", text[at:])
            return
        except ValueError:
            yield JsonError("not_json", text[at:] or "the list does not end")
            return
        reason = _fault_of(value, _surrogates_possible(text[at:end]))
        yield JsonError(reason, text[at:end]) if reason else value
        at = _BLANKS.match(text, end).end()  # type: ignore[union-attr]
        if text[at : at + 1] != ",":
            yield JsonError("not_json", text[at:] or "the list does not end")
            return
        at += 1
