"""Dialogues in files with a row for each turn, read as a stream: neighbouring rows of one id are a dialogue."""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

import pyarrow as pa

from udfs.labelled_files import rows_of
from udfs.text_files import shown

MAX_TURNS: Final = 10_000
"""Most turns of a dialogue; one with more is a fault, so that a file of one id needs no unbounded memory."""
DIALOGUES: Final = pa.schema(
    [
        ("unit", pa.string()),
        ("dialogue_id", pa.string()),
        ("file", pa.string()),
        ("line", pa.int64()),
        ("texts", pa.list_(pa.string())),
        ("labels", pa.list_(pa.string())),
        ("confidences", pa.list_(pa.float32())),
        ("units", pa.int64()),
        ("fault", pa.string()),
        ("detail", pa.string()),
    ]
)
DIALOGUES_DDL: Final = (
    "unit string, dialogue_id string, file string, line bigint, texts array<string>, labels array<string>, "
    "confidences array<float>, units bigint, fault string, detail string"
)
_FLOAT_ID: Final = re.compile(r"(\d+)\.0+")


@dataclass
class _Dialogue:
    """The rows of a dialogue so far; ``fault`` and ``detail`` say why it cannot be used."""

    dialogue_id: str
    line: int
    units: int = 0
    texts: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    fault: str | None = None
    detail: str = ""

    def spoil(self, fault: str, detail: str) -> None:
        """Note the first fault."""
        if self.fault is None:
            self.fault, self.detail = fault, detail


def dialogues_in(
    name: str, stream: BinaryIO, *, columns: Mapping[str, Mapping[str, str]], labels: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Yield the dialogues of a file as rows of ``DIALOGUES``, and its faults.

    A dialogue with a row that cannot be used is a fault as a whole, because the turns around the gap do not answer
    each other. So is one with an unreadable row between two of its own.

    Args:
        name: the file's name; its ending determines the format.
        columns: by file, the columns of dialogue_id and text, and where it has them of label and confidence.

    Returns:
        For a dialogue: unit ``dialogue``, its id, file and first line, texts, labels and confidences (empty where
        the file has none), units (its rows), fault. For an unreadable row or file: unit ``row`` or ``file``, its line.
    """
    own = columns[name]
    known = frozenset(labels)
    dialogue: _Dialogue | None = None
    torn: str | None = None
    for row in rows_of(name, stream, tuple(own.values())):
        fault, detail = row.fault, row.detail
        given = {} if row.value is None else {role: row.value.get(column) or "" for role, column in own.items()}
        dialogue_id = _id(given.get("dialogue_id", ""))
        if fault is None and not dialogue_id:
            fault, detail = "no_dialogue", shown(given.get("text", ""))
        if fault is not None:
            torn = f"{name}:{row.line}"
            yield _row("row" if row.line else "file", name, row.line, int(row.line > 0), fault, detail)
            continue
        if dialogue is None or dialogue.dialogue_id != dialogue_id:
            if dialogue is not None:
                yield _finished(name, dialogue)
            dialogue = _Dialogue(dialogue_id, row.line)
        elif torn is not None:
            dialogue.spoil("torn", f"{torn} between its rows cannot be read")
        torn = None
        _add(dialogue, given, known)
    if dialogue is not None:
        yield _finished(name, dialogue)


def _id(text: str) -> str:
    """Return an id without blanks, and without the decimals that a number with missing values around it gets."""
    text = text.strip()
    found = _FLOAT_ID.fullmatch(text)
    return found[1] if found else text


def _add(dialogue: _Dialogue, given: Mapping[str, str], labels: Collection[str]) -> None:
    """Add a row to its dialogue, or note why it cannot be used."""
    dialogue.units += 1
    text = " ".join(given["text"].split())
    if not text:
        dialogue.spoil("no_text", f"turn {dialogue.units} has no text")
    if dialogue.units > MAX_TURNS:
        dialogue.spoil("too_long", f"more than {MAX_TURNS:,} turns")
    if "label" in given:
        label = given["label"].strip().lower()
        confidence = _confidence(given["confidence"])
        if label not in labels:
            dialogue.spoil("outside_taxonomy", shown(label) or "no label")
        if confidence is None:
            dialogue.spoil("no_confidence", shown(given["confidence"]) or "no confidence")
        if dialogue.fault is None:
            dialogue.labels.append(label)
            dialogue.confidences.append(confidence or 0.0)
    if dialogue.fault is None:
        dialogue.texts.append(text)


def _confidence(text: str) -> float | None:
    """Return a number from 0 to 1; None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= 1 else None


def _finished(name: str, dialogue: _Dialogue) -> dict[str, Any]:
    """Return a dialogue as a row, without its turns if it has a fault."""
    if dialogue.fault is not None:
        detail = f"{dialogue.dialogue_id}: {dialogue.detail}"
        return _row("dialogue", name, dialogue.line, dialogue.units, dialogue.fault, detail)
    return {
        **_row("dialogue", name, dialogue.line, dialogue.units, None, ""),
        "dialogue_id": dialogue.dialogue_id,
        "texts": dialogue.texts,
        "labels": dialogue.labels,
        "confidences": dialogue.confidences,
    }


def _row(unit: str, name: str, line: int, units: int, fault: str | None, detail: str) -> dict[str, Any]:
    return {"unit": unit, "file": name, "line": line, "units": units, "fault": fault, "detail": detail}
