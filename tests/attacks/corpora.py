"""Sources read as ``find_subtitles`` and ``ingest_subtitles`` read them, without Spark."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.benchmarks.reading import MANIFEST, SCHEMA
from udfs.opus.batches import parsed_batches
from udfs.opus.files import Caps
from udfs.opus.listing import UNREAD, list_piece, pieces_of
from udfs.opus.paths import with_families

CAPS = Caps(max_bytes=8 << 20, max_ratio=200)
Row = dict[str, Any]


@dataclass(frozen=True)
class Reading:
    """The manifest of a source, and its rows of ``subtitles.files`` with (reason, detail)."""

    listed: list[Row]
    read: list[Row]

    @property
    def kept(self) -> list[str]:
        return sorted(row["source_path"] for row in self.read if row["reason"] is None)

    @property
    def refused(self) -> dict[str, str]:
        return {row["source_path"]: row["reason"] for row in self.read if row["reason"] is not None}

    @property
    def lost(self) -> int:
        """Files of the manifest without a row."""
        return (self._paths(self.listed) - self._paths(self.read)).total()

    @property
    def doubled(self) -> int:
        """Rows beyond one for each file, and rows of a path that the manifest has twice."""
        twice = sum(count - 1 for count in self._paths(self.listed).values())
        return (self._paths(self.read) - self._paths(self.listed)).total() + twice

    @staticmethod
    def _paths(rows: list[Row]) -> Counter[str]:
        return Counter(row["source_path"] for row in rows)


def reading_of(source: Path, caps: Caps = CAPS, pieces: int = 1, languages: Sequence[str] = ("en",)) -> Reading:
    """List and read a local source."""
    return reading_of_source(str(source), caps, pieces, languages)


def reading_of_source(source: str, caps: Caps = CAPS, pieces: int = 1, languages: Sequence[str] = ("en",)) -> Reading:
    """List and read a source as the settings name it."""
    asked = with_families(languages)
    found = [
        dict(zip(MANIFEST, row, strict=True))
        for piece in pieces_of(source, asked, pieces)
        for row in list_piece(piece, asked, "v2018")
    ]
    meant = [row for row in found if not (row["fault"] or "").startswith(UNREAD)]
    listed = [row for row in meant if row["fault"] or row["language"] in (None, *asked) or not languages]
    given = pa.RecordBatch.from_pylist(listed, MANIFEST_SCHEMA)
    batches = parsed_batches(iter([given]), SCHEMA, caps, True, 64 << 20, languages)
    read = [row for batch in batches for row in batch.to_pylist()]
    return Reading(listed, read)


_KINDS = {"gzipped": pa.bool_(), "method": pa.int32(), "directory_year": pa.int32()}
_LONG = ("offset", "stored_bytes", "bytes", "crc")
MANIFEST_SCHEMA = pa.schema(
    [(name, pa.int64() if name in _LONG else _KINDS.get(name, pa.string())) for name in MANIFEST]
)
