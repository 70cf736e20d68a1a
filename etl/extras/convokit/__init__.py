"""An export as a ConvoKit corpus, read and written as a stream: ``python -m etl.extras.convokit EXPORT CORPUS``.

Its files: ``utterances.jsonl``, ``conversations.json``, ``speakers.json``, ``corpus.json``, ``index.json``.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conf.errors import InputError

UNKNOWN = "unknown"
"""The speaker of every turn of a film: subtitles do not say who speaks."""
ROWS_AT_ONCE = 1_000
LISTS = {"turns": ("text", None), "dialog": ("content", "speaker")}
"""The columns with turns, and the fields of their text and speaker: of EDOS and AugESC."""
INDEX = {
    "utterances-index": {},
    "speakers-index": {},
    "conversations-index": {},
    "overall-index": {},
    "version": 1,
    "vectors": [],
}


def write_convokit(export: Path, out: Path) -> tuple[int, int]:
    """Write the Parquet files of an export as a ConvoKit corpus, and return its conversations and utterances.

    A turn is an utterance; its label, its confidence and the conversation's other columns are metadata.

    Args:
        export: folder that ``export_dataset`` or ``augesc_export`` wrote, on this machine.
        out: new folder of the corpus; it is there only when the corpus is whole.

    Raises:
        InputError: the export has no Parquet files or no texts, or ``out`` is there.
    """
    files = sorted(export.glob("parquet/*.parquet"))
    if not files:
        raise InputError(f"{export} has no Parquet files: run export_dataset first, or name an export")
    if out.exists():
        raise InputError(f"{out} is there: name a new folder")
    fresh = out.with_name(f"{out.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    counts = _write(files, fresh)
    fresh.rename(out)
    return counts


def _write(files: list[Path], folder: Path) -> tuple[int, int]:
    conversations = utterances = 0
    speakers: set[str] = set()
    with (
        (folder / "utterances.jsonl").open("w", encoding="utf-8") as spoken,
        _Objects(folder / "conversations.json") as talks,
    ):
        for row in _rows(files):
            column = next((name for name in LISTS if name in row), None)
            lines = list(_utterances(row, column)) if column else []
            if not lines:
                continue
            for line in lines:
                spoken.write(_plain(line) + "\n")
                speakers.add(line["speaker"])
            meta = {name: value for name, value in row.items() if name != column}
            talks.add(lines[0]["id"], {"meta": meta, "vectors": []})
            conversations = conversations + 1
            utterances = utterances + len(lines)
    with _Objects(folder / "speakers.json") as people:
        for name in sorted(speakers):
            people.add(name, {"meta": {}, "vectors": []})
    for name, content in (("corpus.json", {"made_by": "edos-lakehouse"}), ("index.json", INDEX)):
        (folder / name).write_text(json.dumps(content) + "\n", encoding="utf-8")
    return conversations, utterances


def _rows(files: list[Path]) -> Iterator[dict[str, Any]]:
    """Yield the rows of Parquet files with their split, a few at a time."""
    import pyarrow.parquet as pq

    for path in files:
        split = path.name.partition("-")[0]
        with pq.ParquetFile(path) as table:
            for batch in table.iter_batches(ROWS_AT_ONCE):
                for row in batch.to_pylist():
                    yield {**row, "split": split}


def _utterances(row: Mapping[str, Any], column: str) -> Iterator[dict[str, Any]]:
    """Yield the utterances of a row; the id of its first is the conversation's, as ConvoKit asks.

    Raises:
        InputError: the export has references in place of texts.
    """
    text, speaker = LISTS[column]
    name = row["dialogue_id"]
    last = None
    for place, turn in enumerate(row[column] or ()):
        if text not in turn:
            raise InputError("the export has references in place of texts: run restore-text first")
        yield {
            "id": f"{name}_{place}",
            "conversation_id": f"{name}_0",
            "text": turn[text] or "",
            "speaker": (turn[speaker] if speaker else None) or UNKNOWN,
            "reply-to": last,
            "timestamp": place,
            "meta": {key: value for key, value in turn.items() if key not in (text, speaker)},
            "vectors": [],
        }
        last = f"{name}_{place}"


class _Objects:
    """A file with one JSON object, whose members are written one after the other."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")
        self._next = "{"

    def __enter__(self) -> "_Objects":
        return self

    def add(self, name: str, value: Mapping[str, Any]) -> None:
        self._file.write(f"{self._next}\n{_plain(name)}: {_plain(value)}")
        self._next = ","

    def __exit__(self, *_: object) -> None:
        with self._file:
            self._file.write("\n}\n" if self._next == "," else "{}\n")


def _plain(value: Any) -> str:
    """Return JSON in ASCII: ConvoKit opens its files without naming an encoding."""
    return json.dumps(value)
