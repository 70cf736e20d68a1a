"""Read which sentences an arbiter's answer names: numbers, ranges, JSON, verdicts, sentences of prose. Ours."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from etl.llm.json_answers import json_value

UNKNOWN = "unknown_sentence"
UNCLEAR = "unclear_answer"
CONTRADICTION = "contradiction"
CUT_OFF = "cut_off"
FAULTS = (UNKNOWN, UNCLEAR, CONTRADICTION, CUT_OFF)
"""Why an answer decides nothing: it names a sentence that was not asked about, no sentence, one as both, or ends early.
"""
MOST_CHARACTERS = 5_000

_WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_AFTER_SENTENCE = re.compile(rf"(?<=sentence )({'|'.join(_WORDS)})\b", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|`[^`\n]*`")
_HEADING = re.compile(
    r"(?:\bfinal\s+|\bmy\s+|\bthe\s+)?\banswers?(?:\s+is|\s+are)?\s*[*_]*\s*(?::|=|->|\bis\b)\s*[*_]*", re.IGNORECASE
)
_NUMBER = r"(?<![\d.])\d{1,3}(?![\d%]|\.\d)"
_RANGE = re.compile(rf"({_NUMBER})[ \t]*(?:[-–—]|\.\.+|\bto\b|\bthrough\b)[ \t]*({_NUMBER})", re.IGNORECASE)
_NUMBERS = re.compile(_NUMBER)
_BARE = re.compile(
    rf"(?:(?:sentences?|numbers?|lines?)\b|{_NUMBER}|\b(?:and|to|through)\b|[\s,;:&+/|#*_()\[\]{{}}$.–—-]|\\boxed)+",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\W*(?:none(?:\s+of\s+(?:them|these|those|the\s+sentences|the\s+above))?|no\s+(?:sentences?|one|change)|nothing|no"
    r"|null|nil|n/a|\[\s*\]|\{\s*\}|∅)\W*",
    re.IGNORECASE,
)
_NONE_IN_PROSE = re.compile(
    r"\b(?:none\b|no\s+(?:sentences?|other\s+person|change|one)\b|not\s+any\b"
    r"|(?:the\s+)?same\s+(?:person|speaker)\b.*\b(?:all|every|throughout)\b|one\s+person\s+goes\s+on)",
    re.IGNORECASE,
)
_ALL = re.compile(r"\b(?:all(?:\s+of)?(?:\s+(?:them|these|those|the))?|each|every|both)\b", re.IGNORECASE)
_LISTED = re.compile(r"^\s*[-*•]?\s*(\d{1,3})\s*[.)]\s+(\d{1,3})\s*[.,]?\s*$")
_VERDICT = re.compile(
    r"(?<![\d.])(?P<number>\d{1,3})\W{0,6}(?P<verdict>yes|no|true|false|new|same|different|another|changes?|continues?|opens?)\b",
    re.IGNORECASE,
)
_CLOSED = frozenset(("no", "false", "same", "continue", "continues", "0", "none", "not"))
_CLAUSE = re.compile(r"[;\n]|[.!?](?=\s|$)|,?\s\b(?:but|while|whereas|however|and\s+not)\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|no|never|neither|nor|none)\b|n['’]t\b", re.IGNORECASE)
_SAME = re.compile(r"\b(?:same|continues?|goes\s+on|unchanged)\b", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:cannot|can['’]?t|could|might|may|maybe|perhaps|possibly|probably|unclear|unsure|not\s+(?:sure|clear|certain))\b",
    re.IGNORECASE,
)
_EXCEPT = re.compile(r"\b(?:except|excluding|but\s+not|other\s+than|apart\s+from)\b", re.IGNORECASE)
_NUMBER_KEYS = ("sentence", "number", "id", "index", "no", "line")
_OPENED_KEYS = re.compile(
    r"open|new|other|another|chang|different|answer|sentences|numbers|result|turns?$", re.IGNORECASE
)
_CLOSED_KEYS = re.compile(r"same|clos|contin|not|no$|unchanged", re.IGNORECASE)


def opened_by(answer: str, asked: Sequence[int], cut_off: bool = False) -> tuple[list[int] | None, str | None]:
    """Return the numbers of the sentences that open a turn by an answer, in order, and why it says none of it.

    Args:
        answer: without thoughts.
        asked: the numbers that were asked about.
        cut_off: whether generation stopped at the token limit.

    Returns:
        The numbers and None, or None and one of ``FAULTS``.
    """
    answer = _AFTER_SENTENCE.sub(lambda word: str(_WORDS.index(word[0].lower()) + 1), answer[:MOST_CHARACTERS])
    opened, closed = _read(answer, asked, cut_off)
    if opened is None:
        return None, CUT_OFF if cut_off else UNCLEAR
    if (opened | closed) - set(asked):
        return None, UNKNOWN
    if opened & closed:
        return None, CONTRADICTION
    return sorted(opened), None


Said = tuple[set[int] | None, set[int]]
"""The numbers that open a turn, None where nothing is said, and those that are said to open none."""


def _read(answer: str, asked: Sequence[int], cut_off: bool) -> Said:
    value = json_value(answer) if re.search(r"[\[{]\s*[\"'{]", answer) else None
    if value is not None:
        return _of_json(value, asked)
    headings = list(_HEADING.finditer(answer))
    for text in ([answer[headings[-1].end() :]] if headings else []) + [answer]:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        whole = len(lines) > 1 or not cut_off
        if not lines:
            continue
        listed = [_LISTED.match(line) for line in lines]
        if whole and all(listed) and [int(one[1]) for one in listed if one] == [*range(1, len(lines) + 1)]:
            return {int(one[2]) for one in listed if one}, set()
        first = lines[0].strip("`'\"“”* ")
        if whole and _NONE.fullmatch(first):
            return set(), set()
        if whole and all(map(_bare, lines)):
            return _numbers("\n".join(lines)), set()
        if whole and _bare(first):
            return _numbers(first), set()
    if cut_off:
        return None, set()
    return _of_prose(answer, asked)


def _numbers(text: str) -> set[int]:
    found = {int(one) for one in _NUMBERS.findall(text)}
    for span in _RANGE.finditer(text):
        found |= set(range(int(span[1]), int(span[2]) + 1))
    return found


def _of_json(value: Any, asked: Sequence[int]) -> Said:
    """Return what JSON says: a list of numbers, numbers with verdicts, or lists under keys that tell them apart."""
    if isinstance(value, list):
        if all(isinstance(one, Mapping) for one in value):
            return _of_records(value)
        return _of_values(value)
    if not isinstance(value, Mapping):
        return None, set()
    by_number = {_as_number(key): its for key, its in value.items()}
    if None not in by_number:
        return _of_verdicts([(int(number or 0), its) for number, its in by_number.items()])
    if any(str(key).lower() in _NUMBER_KEYS and not isinstance(its, list) for key, its in value.items()):
        return _of_records([value])
    opened: set[int] | None = None
    closed: set[int] = set()
    for key, its in value.items():
        if isinstance(its, Mapping) or (isinstance(its, list) and any(isinstance(one, Mapping) for one in its)):
            inner, outer = _of_json(its, asked)
            opened = inner if opened is None else opened | (inner or set())
            closed |= outer
            continue
        found = _of_values(its if isinstance(its, list) else [its])[0]
        if found is None:
            continue
        if _CLOSED_KEYS.search(str(key)):
            closed |= found
        elif _OPENED_KEYS.search(str(key)) or len(value) == 1:
            opened = (opened or set()) | found
    return opened, closed


def _of_values(values: Sequence[Any]) -> Said:
    numbers = [_as_number(one) for one in values]
    if None not in numbers:
        return {int(one or 0) for one in numbers}, set()
    if len(values) == 1 and (values[0] is None or _NONE.fullmatch(str(values[0]))):
        return set(), set()
    texts = [str(one) for one in values]
    return ({one for text in texts for one in _numbers(text)}, set()) if all(map(_bare, texts)) else (None, set())


def _bare(text: str) -> bool:
    return _BARE.fullmatch(text) is not None and bool(_numbers(text))


def _of_records(records: Sequence[Mapping[str, Any]]) -> Said:
    said = []
    for record in records:
        keys = {str(key).lower(): its for key, its in record.items()}
        number = next((_as_number(keys[name]) for name in _NUMBER_KEYS if name in keys), None)
        others = [its for name, its in keys.items() if name not in _NUMBER_KEYS and _verdict(its) is not None]
        if number is None:
            return None, set()
        said.append((number, others[0] if others else True))
    return _of_verdicts(said)


def _of_verdicts(said: Sequence[tuple[int, Any]]) -> Said:
    verdicts = [(number, _verdict(its)) for number, its in said]
    if not verdicts or any(verdict is None for _, verdict in verdicts):
        return None, set()
    opened = {number for number, verdict in verdicts if verdict}
    return opened, {number for number, verdict in verdicts if not verdict}


def _verdict(value: Any) -> bool | None:
    """Return whether a verdict says that a turn opens; None if it is none."""
    if isinstance(value, bool):
        return value
    words = re.findall(r"\w+", str(value).lower())[:4]
    if not words:
        return None
    if any(word in _CLOSED for word in words):
        return False
    known = {"yes", "true", "1", "new", "different", "another", "other", "open", "opens", "change", "changes"}
    return True if known & set(words) else None


def _as_number(value: Any) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    found = re.fullmatch(r"\W*(?:sentence|number|line|s|no)?[\W_]*(\d{1,3})\W*", str(value), re.IGNORECASE)
    return int(found[1]) if found else None


def _of_prose(answer: str, asked: Sequence[int]) -> Said:
    """Return what sentences of prose say: numbers, closed ones where their clause has a negation."""
    text = _QUOTED.sub(" ", answer)
    verdicts = [(int(one["number"]), one["verdict"]) for one in _VERDICT.finditer(text)]
    if len(verdicts) > 1 or (verdicts and len(asked) == 1):
        return _of_verdicts(verdicts)
    lines = [line for line in text.splitlines() if line.strip()]
    repeated = [re.match(r"\s*[-*•]?\s*(\d{1,3})[.)]\s*\S", line) for line in lines]
    if len(lines) > 1 and all(repeated):  # the sentences again, those that open a turn
        return {int(one[1]) for one in repeated if one}, set()
    words = text.strip().strip("*_.!'\" ").lower()
    if len(asked) == 1 and re.match(r"(?:yes|no)\b", words):
        return (set(asked), set()) if words.startswith("yes") else (set(), set(asked))
    opened: set[int] = set()
    closed: set[int] = set()
    named = False
    for clause in _CLAUSE.split(re.sub(r"(?m)^\s*(\d{1,3})[.)]\s+", r"\1 ", text)):
        kept, *left_out = _EXCEPT.split(clause or "", maxsplit=1)
        outside = _numbers(left_out[0]) if left_out else set()
        inside = _numbers(kept)
        if inside and _UNSURE.search(kept):
            return None, set()
        # "Not the same person" opens a turn.
        negative = (_NEGATION.search(kept) is None) == (_SAME.search(kept) is not None)
        everything = _ALL.search(kept) is not None and not inside
        if everything and (outside or not negative):
            inside = set(asked) - outside
        named = named or bool(inside or outside)
        if negative:
            closed |= inside
            opened |= outside
        else:
            opened |= inside
            closed |= outside
    if named:
        return opened, closed
    return (set(), set()) if _NONE_IN_PROSE.search(text) else (None, set())
