"""An export as a ConvoKit corpus, written by ``python -m etl.extras.convokit EXPORT CORPUS``.

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
    utterances = 0
    speakers: set[str] = set()
    conversations: dict[str, Any] = {}
    with (folder / "utterances.jsonl").open("w", encoding="utf-8") as spoken:
        for row in _rows(files):
            column = next((name for name in LISTS if name in row), None)
            lines = list(_utterances(row, column)) if column else []
            for line in lines:
                spoken.write(_plain(line) + "\n")
                speakers.add(line["speaker"])
            if lines:
                meta = {name: value for name, value in row.items() if name != column}
                conversations[lines[0]["id"]] = {"meta": meta, "vectors": []}
                utterances = utterances + len(lines)
    contents = {
        "conversations": conversations,
        "speakers": {name: {"meta": {}, "vectors": []} for name in sorted(speakers)},
        "corpus": {"made_by": "edos-lakehouse"},
        "index": INDEX,
    }
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(_plain(content) + "\n", encoding="utf-8")
    return len(conversations), utterances


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


def _plain(value: Any) -> str:
    """Return JSON in ASCII: ConvoKit opens its files without naming an encoding."""
    return json.dumps(value)
