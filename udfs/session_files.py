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
ROLES: Final = {
    **dict.fromkeys(("seeker", "usr", "user", "speaker", "human", "help-seeker", "client"), "seeker"),
    **dict.fromkeys(
        ("supporter", "sys", "system", "listener", "ai", "assistant", "help-supporter", "counselor"), "supporter"
    ),
}
"""Names of the two roles. In FailedESConv, `speaker` is the seeker, because the listener has the strategies."""

TURNS: Final = pa.list_(pa.struct([("role", pa.string()), ("text", pa.string())]))
SCHEMA: Final = pa.schema(
    [(name, pa.string()) for name in ("source", "place", "form", "problem", "emotion", "situation")]
    + [("turns", TURNS), ("empty_turns", pa.int32()), ("fault", pa.string()), ("detail", pa.string())]
)
DDL: Final = (
    "source string, place string, form string, problem string, emotion string, situation string, "
    "turns array<struct<role: string, text: string>>, empty_turns int, fault string, detail string"
)

Row = dict[str, Any]
Turn = dict[str, str]


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
    turns = [(turn.get("speaker"), turn.get("content", turn.get("text"))) for turn in dialog]
    return {
        "form": "esconv" if any("content" in turn for turn in dialog) else "lines",
        "problem": _field(document.get("problem_type"), lower=True),
        "emotion": _field(document.get("emotion_type"), lower=True),
        "situation": _field(document.get("situation")),
        **_turns(turns),
    }


def _turns(utterances: list[tuple[Any, Any]]) -> Row:
    """Return the non-empty turns and the number of empty ones; an unknown speaker is a fault."""
    turns: list[Turn] = []
    for speaker, content in utterances:
        role = role_of(speaker)
        if role is None:
            return {"fault": "unknown_role", "detail": f"speaker {str(speaker)[:80]!r}"}
        text = one_line(content) if isinstance(content, str) else ""
        if text:
            turns.append({"role": role, "text": text})
    return {"turns": turns, "empty_turns": len(utterances) - len(turns)}


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
_STRATEGY = re.compile(r"\[[A-Z][\w\- ]{2,40}\] ?")


def _blender_sessions(lines: Iterator[FileRow]) -> Iterator[Row]:
    """Yield the sessions of Blender's TSV; each line is a window of ``flag speaker number [Strategy] text`` and EOS.

    A line continues the session of the previous one if its last number is higher and their common utterances agree.
    No line has the seeker's utterances after the supporter's last turn, and no session names its problem.
    """
    known: dict[int, tuple[str, str]] = {}
    for row in lines:
        line = row.value if row.fault is None else f"{row.fault}: {row.detail}"
        if not line.strip():
            continue
        found = _utterances(line) if row.fault is None else {}
        continues = known and found and max(found) > max(known)
        if not (continues and all(known.get(at, one) == one for at, one in found.items())):
            yield from _whole(known)
            known = {}
        known |= found
        if not found:
            yield _fault(f"no utterances: {line}")
    yield from _whole(known)


def _utterances(line: str) -> dict[int, tuple[str, str]]:
    found: dict[int, tuple[str, str]] = {}
    for piece in line.rstrip("\r").split(" EOS "):
        match = _UTTERANCE.fullmatch(piece)
        if match is None:
            return {}
        text = match[3] if match[1] == "0" else _STRATEGY.sub("", match[3], count=1)
        found[int(match[2])] = (("seeker", "supporter")[int(match[1])], text.strip())
    return found


def _whole(known: dict[int, tuple[str, str]]) -> Iterator[Row]:
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
