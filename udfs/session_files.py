"""Reader of files with support conversations derived from ESConv; input is untrusted.

- JSON, a list of sessions (``dialog`` of ``speaker`` and ``content``): ESConv and FailedESConv.
- JSON Lines of sessions with ``speaker`` and ``text``: MultiESC (turns merged), PPDPP, and this project's exports.
- Blender's TSV: a line per supporter's turn with the turns before it, which are joined to sessions.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import pyarrow as pa

from udfs.labelled_files import documents_of, texts_of
from udfs.text_files import Row as FileRow

MAX_FIELD: Final = 2_000
MAX_STRATEGY: Final = 60
ROLES: Final = {
    **dict.fromkeys(("seeker", "usr", "user", "speaker", "human", "help-seeker", "client"), "seeker"),
    **dict.fromkeys(
        ("supporter", "sys", "system", "listener", "ai", "assistant", "help-supporter", "counselor"), "supporter"
    ),
}
"""Names of the two roles. In FailedESConv, `speaker` is the seeker, because the listener has the strategies."""

STRATEGIES: Final = (
    "Question",
    "Restatement or Paraphrasing",
    "Reflection of feelings",
    "Self-disclosure",
    "Affirmation and Reassurance",
    "Providing Suggestions",
    "Information",
    "Others",
    "Providing Suggestions or Information",
    "Greeting",
    "Direct Guidance",
)
"""ESConv's eight support strategies; and MultiESC's, which joins two and parts greetings, and one of FailedESConv."""
STRATEGY_NAMES: Final = {name.lower(): name for name in STRATEGIES} | {"questions": "Question", "other": "Others"}
"""Names of strategies in lower case, each with the one that counts."""
TURNS: Final = pa.list_(pa.struct([("role", pa.string()), ("text", pa.string())]))
SCHEMA: Final = pa.schema(
    [(name, pa.string()) for name in ("source", "place", "form", "problem", "emotion", "situation")]
    + [("turns", TURNS), ("strategies", pa.list_(pa.string())), ("empty_turns", pa.int32())]
    + [("fault", pa.string()), ("detail", pa.string())]
)
DDL: Final = (
    "source string, place string, form string, problem string, emotion string, situation string, "
    "turns array<struct<role: string, text: string>>, strategies array<string>, empty_turns int, fault string, "
    "detail string"
)

Row = dict[str, Any]
Turn = dict[str, str]
Said = tuple[str, str, str | None]
"""A role, its words and their strategy."""


def sessions_in(name: str, stream: BinaryIO) -> Iterator[Row]:
    """Yield a row of ``SCHEMA`` for each session in a file; unreadable parts give rows with fault and detail.

    The ending of the file's name determines its format.
    """
    tables = name.lower().removesuffix(".gz").endswith(".tsv")
    rows = _blender_sessions(texts_of(name, stream)) if tables else map(_session, documents_of(name, stream))
    for number, row in enumerate(rows, 1):
        yield {"source": name, "place": f"{name}#{number}", **row}


def _session(row: FileRow) -> Row:
    if row.fault is not None:
        return _fault(f"{row.fault}: {row.detail}")
    document = row.value
    dialog = document.get("dialog") if isinstance(document, dict) else None
    if not isinstance(dialog, list) or not all(isinstance(turn, dict) for turn in dialog):
        return _fault(f"no session with a list dialog: {json.dumps(document)[:200]}")
    turns = [(turn.get("speaker"), turn.get("content", turn.get("text")), strategy_of(turn)) for turn in dialog]
    return {
        "form": "esconv" if any("content" in turn for turn in dialog) else "lines",
        "problem": _field(document.get("problem_type"), lower=True),
        "emotion": _field(document.get("emotion_type"), lower=True),
        "situation": _field(document.get("situation")),
        **_turns(turns),
    }


def strategy_of(turn: Row) -> str | None:
    """Return the support strategy of a turn; None for a turn without one, and an unknown one as it is named.

    ESConv has it in ``annotation``, other forms beside the text, some of them as a list or in brackets.
    """
    annotation = turn.get("annotation")
    value = annotation.get("strategy") if isinstance(annotation, dict) else turn.get("strategy")
    if isinstance(value, list):
        value = value[0] if value else None
    return named_strategy(_field(value))


def named_strategy(name: str | None) -> str | None:
    """Return the strategy that a name stands for, without brackets; one that is not known as it is."""
    plain = "" if name is None else name.strip("[]").strip()[:MAX_STRATEGY]
    return STRATEGY_NAMES.get(plain.lower(), plain) or None


def _turns(utterances: list[tuple[Any, Any, str | None]]) -> Row:
    """Return the non-empty turns with the supporter's strategies, and the number of empty ones.

    An unknown speaker is a fault.
    """
    turns: list[Turn] = []
    strategies: list[str | None] = []
    for speaker, content, strategy in utterances:
        role = role_of(speaker)
        if role is None:
            return {"fault": "unknown_role", "detail": f"speaker {str(speaker)[:80]!r}"}
        text = one_line(content) if isinstance(content, str) else ""
        if text:
            turns.append({"role": role, "text": text})
            strategies.append(strategy if role == "supporter" else None)
    return {"turns": turns, "strategies": strategies, "empty_turns": len(utterances) - len(turns)}


def role_of(speaker: Any) -> str | None:
    """Return seeker or supporter, ignoring case, blanks and full-width letters; None for anyone else."""
    if not isinstance(speaker, str):
        return None
    return ROLES.get(unicodedata.normalize("NFKC", speaker).strip().strip(":").casefold())


def one_line(text: str) -> str:
    """Return a text on one line without control characters, because a line break separates AugESC's utterances."""
    plain = "".join(" " if unicodedata.category(letter) in ("Cc", "Zl", "Zp", "Cs") else letter for letter in text)
    return re.sub(r"\s+", " ", plain).strip()


_UTTERANCE = re.compile(r"\s*(?:[\d.]+ )?([01]) (\d{1,4}) ?(.*)", re.DOTALL)
_STRATEGY = re.compile(r"\[([A-Z][\w\- ]{2,40})\] ?")


def _blender_sessions(lines: Iterator[FileRow]) -> Iterator[Row]:
    """Yield the sessions of Blender's TSV; each line is a window of ``flag speaker number [Strategy] text`` and EOS.

    A line continues the session of the previous one if its last number is higher and their common utterances agree.
    No line has the seeker's utterances after the supporter's last turn, and no session names its problem.
    """
    known: dict[int, Said] = {}
    for row in lines:
        line = row.value if row.fault is None else f"{row.fault}: {row.detail}"
        if not line.strip():
            continue
        found = _utterances(line) if row.fault is None else {}
        continues = known and found and max(found) > max(known)
        if not (continues and all(known.get(at, one)[:2] == one[:2] for at, one in found.items())):
            yield from _whole(known)
            known = {}
        known |= found
        if not found:
            yield _fault(f"no utterances: {line}")
    yield from _whole(known)


def _utterances(line: str) -> dict[int, Said]:
    found: dict[int, Said] = {}
    for piece in line.rstrip("\r").split(" EOS "):
        match = _UTTERANCE.fullmatch(piece)
        if match is None:
            return {}
        named = None if match[1] == "0" else _STRATEGY.search(match[3])
        text = match[3] if named is None else _STRATEGY.sub("", match[3], count=1)
        strategy = None if named is None else named_strategy(named[1])
        found[int(match[2])] = (("seeker", "supporter")[int(match[1])], text.strip(), strategy)
    return found


def _whole(known: dict[int, Said]) -> Iterator[Row]:
    if not known:
        return
    missing = sorted(set(range(max(known) + 1)) - set(known))
    if missing:
        yield {"fault": "missing_turns", "detail": f"{len(missing)} of {max(known) + 1} turns are in no line"}
    else:
        yield {"form": "rolling", **_turns([known[at] for at in sorted(known)])}


def _fault(detail: str) -> Row:
    return {"fault": "not_readable", "detail": one_line(detail[:MAX_FIELD])[:500]}


def _field(value: Any, lower: bool = False) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    plain = one_line(value[:MAX_FIELD])
    return plain.casefold() if lower else plain
