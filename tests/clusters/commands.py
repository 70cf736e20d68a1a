"""What the tests on clusters share: options, tables and how commands run."""

import json
import sys
from collections import Counter
from pathlib import Path

from deltalake import DeltaTable

from tests.compare_lakehouses import WORK_VERSION, plain_rows

REPOSITORY = Path(__file__).resolve().parents[2]


TABLES = (
    "subtitles/manifest",
    "subtitles/files",
    "subtitles/turn_scores",
    "subtitles/dialogues",
    "subtitles/clean_dialogues",
    "ops/dropped",
    "subtitles/quarantine",
)


SMALL = {
    "training.turn_segmenter.min_pairs": 0,
}


SMALL_OPTIONS = [f"{key}={value}" for key, value in SMALL.items()]


LONGEST = 3_600
"""Seconds of one command: on a busy machine it takes ten times as long as on an idle one."""


def ivy() -> Path:
    """Where Spark keeps fetched jars: beside those of local sessions, so that they are fetched once."""
    return Path(sys.prefix) / "share" / "edos-lakehouse" / "ivy"


def table_rows(uri: str, options: dict[str, str] | None = None) -> Counter[str]:
    """A table's rows, apart from where the sources lie, which is a folder here and a bucket there."""
    rows: Counter[str] = Counter()
    for text, count in plain_rows(DeltaTable(uri, storage_options=options), without=WORK_VERSION).items():
        kept = {name: value for name, value in json.loads(text).items() if name not in ("container", "source")}
        rows[json.dumps(kept)] += count
    return rows
