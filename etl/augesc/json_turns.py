"""Conversations that a model writes as JSON instead of lines, as chat models do (ours).

The paper asks for lines (AugESC 4.3, Format).

Accepted are a list of turns, an object around one, turns as objects (a field for the speaker and one for the words, or
the speaker's name as the key), as pairs, as lines ``Human: ...``, and bare texts of alternating speakers.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from etl.llm.json_answers import field, json_value, key_of, text_of

SPEAKER = ("role", "speaker", "from", "name", "sender")
WORDS = ("content", "text", "utterance", "message", "value", "body")
TURNS = ("conversation", "dialogue", "dialog", "turns", "messages", "chat", "response")
SEEKER = frozenset(["human", "user", "seeker", "help_seeker", "client", "person", "patient"])
SUPPORTER = frozenset(["ai", "assistant", "supporter", "helper", "counselor", "therapist", "bot", "system"])
_BEGIN = re.compile(r"```|[\[{](?=\s*[\"'{\[“])")
_NAME = re.compile(r"^[^\w\n]*+(?:Human|AI)[ \t*_]*+[:：]", re.MULTILINE)
_NAMED_LINE = re.compile(
    r"\s*[*_\"“]{0,3}(?P<name>[A-Za-z][A-Za-z _-]{0,30}?)[*_]{0,2}\s?[:：][*_]{0,2}\s*(?P<words>.*)", re.DOTALL
)


def role_of(name: Any) -> str | None:
    """Return the role of a speaker's name, seeker or supporter; None for another name."""
    key = key_of(name) if isinstance(name, str) else ""
    return "seeker" if key in SEEKER else "supporter" if key in SUPPORTER else None


def json_turns(answer: str) -> list[tuple[str | None, str]] | None:
    """Return the turns of an answer in JSON; None for an answer in lines.

    A value that is cut off counts up to its last complete turn. Texts of no speaker alternate, if all of them are
    such: the first is the supporter's, who speaks next in the prompt. A remark before the JSON is no turn, but JSON
    inside an utterance is no conversation.

    Returns:
        (role, text) of each turn. A missing role is None, and a missing text is empty.
    """
    begun = _BEGIN.search(answer)
    if begun is None or _NAME.search(answer, 0, begun.start()):
        return None
    value = json_value(answer)
    if value is None:
        return None
    turns = _turns(value)
    if turns[1:] and (turns[-1][0] is None or not turns[-1][1]) and answer.rstrip(" \n`")[-1:] not in "]}":
        turns = turns[:-1]  # it is cut off
    if any(role for role, _ in turns):
        return turns
    if answer[: begun.start()].strip():
        return None
    if _all_texts(value):
        return [(("supporter", "seeker")[place % 2], text) for place, (_, text) in enumerate(turns)]
    return turns


def _turns(value: Any) -> list[tuple[str | None, str]]:
    """Return the turns of a JSON value, through the objects around them."""
    if isinstance(value, Mapping):
        return _of_object(value)
    if isinstance(value, str):
        return [_of_line(value)]
    if not isinstance(value, Sequence):
        return [(None, text_of(value))]
    if len(value) == 2 and all(isinstance(one, str) for one in value) and role_of(value[0]) is not None:
        return [(role_of(value[0]), text_of(value[1]))]
    return [turn for one in value for turn in _turns(one)]


def _of_object(record: Mapping[str, Any]) -> list[tuple[str | None, str]]:
    words = field(record, WORDS)
    speaker = field(record, SPEAKER)
    if isinstance(speaker, str) and (isinstance(words, str) or len(record) == 1):
        return [(role_of(speaker), text_of(words))]
    spoken = [(role_of(str(key)), its) for key, its in record.items()]
    if any(role is not None for role, _ in spoken):
        pairs = [(role, its) for role, its in spoken if role is not None]
        return [(role, text_of(one)) for role, its in pairs for one in (its if isinstance(its, list) else [its])]
    around = field(record, TURNS)
    if isinstance(around, list | Mapping):
        return _turns(around)
    inside = [its for its in record.values() if isinstance(its, list | Mapping) and its]
    if inside:  # such as turn_1, turn_2, or any other name of the list
        return [turn for one in inside for turn in _turns(one)]
    return [_of_line(words)] if isinstance(words, str) else [(None, text_of([*record.values()][:1]))]


def _of_line(text: str) -> tuple[str | None, str]:
    named = _NAMED_LINE.fullmatch(text)
    role = role_of(named["name"]) if named else None
    return (None, text_of(text)) if named is None or role is None else (role, text_of(named["words"]))


def _all_texts(value: Any) -> bool:
    """Return true if a value is a text or a list of texts alone, maybe in an object."""
    if isinstance(value, Mapping) and len(value) == 1:
        value = next(iter(value.values()))
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))
