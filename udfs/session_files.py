"""Reading support conversations as ESConv's users pass them on: four forms of file, from people we do not know.

- JSON, a list of sessions, as ESConv itself (``dialog`` of ``speaker`` and ``content``): FailedESConv too.
- JSON Lines of sessions with ``speaker`` and ``text``: MultiESC (turns merged), PPDPP, and exports of our own.
- Blender's TSV: one line for each supporter's turn, with the turns before it, pieced together to sessions.
"""

import gzip
import io
import json
import re
import unicodedata
import zlib
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

MAX_BYTES: Final = 256 << 20
MAX_FIELD: Final = 2_000
ROLES: Final = {
    **dict.fromkeys(("seeker", "usr", "user", "speaker", "human", "help-seeker", "client"), "seeker"),
    **dict.fromkeys(
        ("supporter", "sys", "system", "listener", "ai", "assistant", "help-supporter", "counselor"), "supporter"
    ),
}
"""What the forms call the two people. In FailedESConv `speaker` is who seeks help: the listener has the strategies."""

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


def sessions_in(name: str, content: bytes) -> Iterator[Row]:
    """Rows of ``SCHEMA``, one for each session; what cannot be read is a row with fault and detail.

    Args:
        name: of the file; its ending tells the form.
        content: the whole file.
    """
    text, fault = _unpacked(name, content)
    rows = [_fault(fault)] if fault else _rows(name.lower().removesuffix(".gz"), text)
    for number, row in enumerate(rows, 1):
        yield {"source": name, "place": f"{name}#{number}", **row}


def _unpacked(name: str, content: bytes) -> tuple[str, str]:
    """The text of a file, or why there is none."""
    try:
        if name.lower().endswith(".gz"):
            with gzip.open(io.BytesIO(content)) as packed:
                content = packed.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        return "", f"no gzip: {error}"
    if len(content) > MAX_BYTES:
        return "", f"the file has more than {MAX_BYTES >> 20} MiB"
    return content.decode("utf-8", errors="replace").lstrip("\ufeff"), ""


def _rows(name: str, text: str) -> Iterator[Row]:
    if name.endswith(".tsv"):
        yield from _of_rolling_lines(text)
        return
    whole = _parsed(text)
    if isinstance(whole, list):
        yield from map(_of_document, whole)
        return
    for line in text.split("\n"):
        if line.strip():
            document = _parsed(line)
            yield _of_document(document) if document is not None else _fault(f"no JSON: {line}")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _of_document(document: Any) -> Row:
    dialog = document.get("dialog") if isinstance(document, dict) else None
    if not isinstance(dialog, list) or not all(isinstance(turn, dict) for turn in dialog):
        return _fault(f"no session with a list dialog: {json.dumps(document)[:200]}")
    said = [(turn.get("speaker"), turn.get("content", turn.get("text"))) for turn in dialog]
    return {
        "form": "esconv" if any("content" in turn for turn in dialog) else "lines",
        "problem": _field(document.get("problem_type"), lower=True),
        "emotion": _field(document.get("emotion_type"), lower=True),
        "situation": _field(document.get("situation")),
        **_turns(said),
    }


def _turns(said: list[tuple[Any, Any]]) -> Row:
    """The turns with words in them, and how many have none; a speaker who is neither of the two is a fault."""
    turns: list[Turn] = []
    for speaker, content in said:
        role = role_of(speaker)
        if role is None:
            return {"fault": "unknown_role", "detail": f"speaker {str(speaker)[:80]!r}"}
        text = one_line(content) if isinstance(content, str) else ""
        if text:
            turns.append({"role": role, "text": text})
    return {"turns": turns, "empty_turns": len(said) - len(turns)}


def role_of(speaker: Any) -> str | None:
    """Seeker or supporter, however it is written: case, blanks and wide letters aside; None for anyone else."""
    if not isinstance(speaker, str):
        return None
    return ROLES.get(unicodedata.normalize("NFKC", speaker).strip().strip(":").casefold())


def one_line(text: str) -> str:
    """A text on one line, without control characters: in AugESC's format a line break begins an utterance."""
    plain = "".join(" " if unicodedata.category(letter) in ("Cc", "Zl", "Zp", "Cs") else letter for letter in text)
    return re.sub(r"\s+", " ", plain).strip()


_UTTERANCE = re.compile(r"\s*(?:[\d.]+ )?([01]) (\d{1,4}) ?(.*)", re.DOTALL)
_STRATEGY = re.compile(r"\[[A-Z][\w\- ]{2,40}\] ?")


def _of_rolling_lines(text: str) -> Iterator[Row]:
    """Sessions of Blender's TSV: utterances ``flag speaker number [Strategy] text`` parted by EOS, a window a line.

    A line goes on with the session of the line before when its last number is higher and what both say agrees. What
    the seeker said after the supporter's last turn is in no line: these sessions end early. They name no problem.
    """
    known: dict[int, tuple[str, str]] = {}
    for line in text.split("\n"):
        if not line.strip():
            continue
        said = _utterances(line)
        if not said:
            yield from _whole(known)
            known = {}
            yield _fault(f"no utterances: {line}")
            continue
        goes_on = known and max(said) > max(known) and all(known.get(at, one) == one for at, one in said.items())
        if not goes_on:
            yield from _whole(known)
            known = {}
        known |= said
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


def read_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For ``mapInArrow`` over Spark's binaryFile source: path and content in, rows of ``SCHEMA`` out."""
    for batch in batches:
        for path, content in zip(batch.column("path").to_pylist(), batch.column("content").to_pylist(), strict=True):
            rows = list(sessions_in(path.rsplit("/", 1)[-1], content))
            for start in range(0, len(rows), 1_000):
                yield pa.RecordBatch.from_pylist(rows[start : start + 1_000], schema=SCHEMA)
