"""Parser of JSON from outside: every text that is no usable JSON is a fault with a reason."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

MAX_DEPTH: Final = 100
_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_FIRST_KEY: Final = re.compile(r'\{\s*("(?:[^"\\]|\\.)*+")\s*:')
_MARK: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},]', re.DOTALL)


class JsonError(ValueError):
    """An error of one JSON text: not_json, too_deep, not_unicode or repeated_key. As a string it is the text."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def parsed_json(text: str, *, unique: bool = False) -> Any:
    """Return the content of a JSON text.

    Args:
        text: the text.
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

    A list that is no JSON as a whole is cut into the texts of its elements. One that does not close ends where the next
    element begins that is JSON and has the same first key, on a line of the same indent if each begins a line. What
    follows the list's end is one more element that cannot be used. `unique` as of `parsed_json`.
    """
    try:
        values = _loaded(text, unique)
    except JsonError:
        yield from _Elements(text, unique)
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


class _Elements:
    """The elements of a list that is no JSON as a whole."""

    def __init__(self, text: str, unique: bool) -> None:
        self._text = text
        self._decoder = json.JSONDecoder(object_pairs_hook=_with_unique_keys if unique else None)
        self._left = 20 * len(text) + 5_000_000  # characters that vain attempts may read
        self._sibling: re.Pattern[str] | None = None
        self._keys: frozenset[str] = frozenset()
        self._next = 0  # where the next sibling is, or the text's end

    def __iter__(self) -> Iterator[Any]:
        at = self._text.index("[") + 1
        value: Any = None
        while (at := self._past_blanks(at)) < len(self._text):
            if self._text[at] == "]":
                if not self._text[at + 1 :].strip():
                    return
                end = self._next_sibling(at + 1)
                value = JsonError("not_json", self._text[at:end].strip())
            else:
                value, end = self._element(at)
            yield value
            at = end + 1 if self._text[end : end + 1] == "," else end
        if not isinstance(value, JsonError):
            yield JsonError("not_json", "the list does not end")

    def _element(self, at: int) -> tuple[Any, int]:
        """Return the element that begins here, or a JsonError, and where it ends."""
        reason = "not_json"
        try:
            value, end = self._decoder.raw_decode(self._text, at)
        except RecursionError:
            self._left -= 100_000
            reason = "too_deep"
        except _RepeatedKeyError:
            reason = "repeated_key"
        except json.JSONDecodeError as error:
            self._left -= self._cost(error, at)
        else:
            self._learn(at, value)
            end = self._past_blanks(end)
            if self._text[end : end + 1] in (",", "]", ""):
                text = self._text[at:end]
                fault = _fault_of(value, _surrogates_possible(text))
                return (value if fault is None else JsonError(fault, text.strip())), end
        self._learn(at)
        end = self._end(at, self._next_sibling(at + 1))
        return JsonError(reason, self._text[at:end].strip()), end

    @staticmethod
    def _cost(error: json.JSONDecodeError, at: int) -> int:
        """Return what a vain attempt cost: the characters that it read, and the lines that its error counted."""
        return max(error.pos - at, 1) + error.pos // 50

    def _past_blanks(self, at: int) -> int:
        while at < len(self._text) and self._text[at].isspace():
            at += 1
        return at

    def _end(self, at: int, most: int) -> int:
        """Return where the element that begins here ends: at a comma or the list's bracket, at most here."""
        depth = 0
        for mark in _MARK.finditer(self._text, at, most):
            character = mark.group()
            if character in "]}" and depth == 0:
                return max(mark.start(), at + 1)
            if character == "," and depth == 0:
                return mark.start()
            depth += (character in "[{") - (character in "]}")
        return most

    def _learn(self, at: int, value: Any = None) -> None:
        """Remember how an element of this list begins, its indent if it begins a line, and its keys."""
        if isinstance(value, dict) and not self._keys:
            self._keys = frozenset(value)
        first = _FIRST_KEY.match(self._text, at) if self._sibling is None else None
        if first is not None:
            indent = re.search(r"\n([ \t]*)$", self._text[max(0, at - 200) : at])
            before = "" if indent is None else rf"(?<=\n{indent[1]})"
            self._sibling = re.compile(rf"{before}\{{\s*{re.escape(first[1])}\s*:")

    def _next_sibling(self, at: int) -> int:
        """Return where the next element begins that is JSON and has half of a good one's keys, or the text's end."""
        if self._next < at:
            self._next = self._found_sibling(at)
        return self._next

    def _found_sibling(self, at: int) -> int:
        for found in self._sibling.finditer(self._text, at) if self._sibling is not None else ():
            try:
                value, after = self._decoder.raw_decode(self._text, found.start())
            except RecursionError:
                self._left -= 100_000
            except _RepeatedKeyError:
                self._left -= 1_000
            except json.JSONDecodeError as error:
                self._left -= self._cost(error, found.start())
            else:
                place = self._past_blanks(after)
                alike = 2 * len(self._keys & value.keys()) >= len(self._keys)
                if alike and self._text[place : place + 1] in (",", "]", ""):
                    return found.start()
                self._left -= after - found.start()
            if self._left <= 0:
                break
        return len(self._text)
