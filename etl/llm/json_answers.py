"""Read answers that are JSON: fenced or bare, a list or an object, whole or cut off, keys by any of the usual names.

``json_records`` gives the records of an answer, in which each step looks for the fields that it asks for. The text form
of the paper stays the default; an answer is only read as JSON if it is JSON.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MOST_CHARACTERS = 20_000

_FENCE = re.compile(r"(?:```|~~~)[ \t]*(?:json[c5l]?|javascript|js|python)?[ \t]*\n?", re.IGNORECASE)
_QUOTED = re.compile(r"(?<=[\[{,:])(\s*)([\"'])(.{0,2000}?)\2(?=\s*(?:[,:}\]]|\Z))", re.DOTALL)
_START = re.compile(r"[\[{](?=\s*[\"'{\[“])")
_LINE = re.compile(r"\\n|\\(?=[\"'])")
_TRAILING_COMMA = re.compile(r",(?=\s*[\]}])")
_COMMENT = re.compile(r"^[^\S\n]*+//.*$|(?<=[,{\[\]}\"\d])[ \t]*//[^\n\"]{0,400}+$", re.MULTILINE)
_CURLY = str.maketrans({"“": '"', "”": '"', "„": '"'})
_ITEM = re.compile(r"^[^\S\n]*+(?:\(?\d{1,3}[.)]|[-*•])\s+\S", re.MULTILINE)
MOST_STARTS = 20
"""Places of an answer at which JSON is looked for."""

_CONTAINERS = frozenset(
    ["characters", "actors", "utterances", "labels", "emotions", "scores", "top_emotions", "results", "answers"]
)
NAME = ["name", "character", "character_name", "full_name", "actor", "person", "who", "title"]
LABEL = ["emotion", "label", "emotions", "labels", "name"]
WORDS = ["utterance", "text", "words", "line", "quote", "sentence", "content", "message"]
WHY = ["reason", "reasoning", "explanation", "why"]
LEVEL = ["level", "score", "rating", "intensity", "value"]
PROSE = [
    "rewritten",
    "rewritten_utterance",
    "cleaned_context",
    "context",
    "background",
    "text",
    "utterance",
    "content",
    "result",
]
_REMARK = re.compile(r"expl|reason|why|note|remark|comment|change|raison|grund|motiv|razon|thought|removed|step|lang")
"""Within a key, in several languages: of a remark about the answer."""
_UNCHANGED = ["unchanged", "no_change", "no_changes", "no_changes_needed"]


def json_value(answer: str) -> Any:
    """Return the JSON value of an answer, or a list of several; None for an answer that is not JSON.

    A value that does not end is closed after its last complete element. Python's quotes, curly quotes, quotes within
    quotes, comments and trailing commas are accepted.
    """
    answer = answer[:MOST_CHARACTERS]
    if "{" not in answer and "[" not in answer:
        return None
    fence = _FENCE.search(answer)
    before = _START.search(answer, 0, fence.start()) if fence else None
    within = before is not None and fence is not None and _decoded(answer, before.start())[1] > fence.start()
    value = None if fence is None or within else _values(answer[fence.end() :], fenced=True)
    return _values(answer.strip(), fenced=False) if value is None else value


def json_records(answer: str) -> list[Any] | None:
    """Return the records of an answer in JSON, without the objects around them; None for another answer."""
    value = json_value(answer)
    return None if value is None else unwrapped(value)


def field(record: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first value that is not empty under one of the names; case and separators do not count."""
    known = {key_of(name): value for name, value in record.items()}
    return next((known[name] for name in names if known.get(name) not in (None, "", [], {})), None)


def prose_of(value: Any) -> tuple[str, bool]:
    """Return the text of an answer in JSON, and whether it says that the text stays as it is (Emo Pillars 3.4, 3.5)."""
    record = value[0] if isinstance(value, list) and value else value
    if isinstance(record, str):
        return record, False
    if not isinstance(record, Mapping):
        return "", False
    same = (
        field(record, _UNCHANGED) is True or {key_of(key): its for key, its in record.items()}.get("changed") is False
    )
    text = field(record, PROSE)
    if isinstance(text, Mapping):
        return prose_of(text)
    if isinstance(text, list):
        text = " ".join(one for one in text if isinstance(one, str))
    if text is None:
        texts = [one for key, one in record.items() if isinstance(one, str) and not _REMARK.search(key_of(key))]
        text = texts[0] if len(texts) == 1 else ""
    return str(text), same and not str(text).strip()


def _values(text: str, fenced: bool) -> Any:
    found: list[Any] = []
    place = 0
    outside = ""
    whole = True
    for _ in range(MOST_STARTS):
        start = _START.search(text, place)
        if start is None:
            break
        value, end = _decoded(text, start.start(), requoted=whole)
        if value is None:
            whole = False
            outside += text[place : start.end()]
            place = start.end()
            continue
        outside += text[place : start.start()]
        found.append(value)
        place = end
    outside += text[place:]
    if not found or (not fenced and not _is_answer(found, outside)):
        return None
    if len(found) == 1:
        return found[0]
    return [one for value in found for one in (value if isinstance(value, list) else [value])]


def _is_answer(found: Sequence[Any], outside: str) -> bool:
    """Return whether the JSON of a text is its answer: objects, or a list that stands beside no other list."""
    if any(isinstance(value, dict) or any(isinstance(one, dict) for one in value) for value in found):
        return True
    return len(found) == 1 and len(found[0]) > 1 and len(_ITEM.findall(outside)) < 2


def _decoded(text: str, start: int, requoted: bool = False) -> tuple[Any, int]:
    """Return the list or object that begins at a place, and its end; without one, None and the start.

    Args:
        requoted: whether quotes within quotes are looked for, which takes time.
    """
    end, closed = _end_of(text, start)
    for part in _readings(text[start:end], requoted):
        if not closed:
            part = _closed(part)
        for read in (lambda one: json.loads(one, strict=False), ast.literal_eval):
            try:
                value = read(part)
            except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
                continue
            if isinstance(value, dict | list) and value and not isinstance(value, set):
                return value, end
    return None, start


def _readings(text: str, requoted: bool) -> Iterator[str]:
    """Yield a text as it stands, then as JSON that its author may have meant; later ones take more time."""
    yield text
    lenient = _TRAILING_COMMA.sub("", _COMMENT.sub("", text.translate(_CURLY)))
    yield lenient
    if requoted:
        yield _QUOTED.sub(lambda one: one[1] + json.dumps(_LINE.sub(" ", one[3])), lenient)


def _end_of(text: str, start: int) -> tuple[int, bool]:
    """Return the end of the list or object that begins at a place, and whether it is closed."""
    depth = 0
    for mark in _MARK.finditer(text, start):
        character = mark.group()
        if character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
            if depth == 0:
                return mark.end(), True
    return len(text), False


_MARK = re.compile(r'"(?:[^"\\]|\\.?)*+(?:"|\Z)|[\[\]{},]', re.DOTALL)


def _closed(text: str) -> str:
    """Return a cut-off list or object up to its last complete element, closed."""
    stack: list[str] = []
    best = text
    for mark in _MARK.finditer(text):
        character = mark.group()
        if character in "[{":
            stack.append("]" if character == "[" else "}")
        elif character in "]}" and stack:
            stack.pop()
            best = text[: mark.end()] + "".join(reversed(stack))
        elif character == "," and stack:
            best = text[: mark.start()] + "".join(reversed(stack))
    return best


def unwrapped(value: Any) -> list[Any]:
    """Return the records of a JSON value, without the objects around them."""
    for _ in range(3):
        if not isinstance(value, dict):
            break
        if len(value) > 1 and all(_NUMBERED.fullmatch(key_of(key)) for key in value):
            return list(value.values())
        inner = [
            its for key, its in value.items() if key_of(key) in _CONTAINERS and isinstance(its, list | dict) and its
        ]
        inner = inner or [its for its in value.values() if len(value) == 1 and _has_records(its)]
        lists = sum(isinstance(its, list) for its in value.values())
        if (
            len(inner) != 1
            or lists > 1
            or (isinstance(inner[0], list) and not all(isinstance(one, dict | str) for one in inner[0]))
        ):
            break
        if any(isinstance(its, str | float | int) and key_of(key) in {*WORDS, *LEVEL} for key, its in value.items()):
            break
        value = inner[0]
    return value if isinstance(value, list) else [value]


_NUMBERED = re.compile(r"(?:[a-z]+_?)?\d{1,3}")
"""A key that only numbers a record, such as "1" and "character_1"."""


def _has_records(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict) for one in value)


def key_of(name: Any) -> str:
    """Return a key in lower case with underscores."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(name))
    return re.sub(r"[\W_]+", "_", words).strip("_").lower()


def text_of(value: Any) -> str:
    """Return a value as text on one line; a list by commas, nothing for an object."""
    if isinstance(value, list):
        return ", ".join(text_of(one) for one in value)
    return "" if value is None or isinstance(value, Mapping) else " ".join(str(value).split())
