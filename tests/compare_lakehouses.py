"""Compare two lakehouses table by table and row by row, apart from the framework's columns.

    python -m tests.compare_lakehouses ONE OTHER

Prints a line for each table; the exit status is 1 where any rows differ.
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

FRAMEWORK = {
    "run_id",
    "slice",
    "slices",
    "started",
    "seconds",
    "task_seconds",
    "package_version",
    "model",
    "source_tag",
    "tag",
}
"""Columns that name a run, a version of a trained model or a copy of a file, not data."""
WORK_VERSION = "work_version"
"""Follows from the version of a trained model too: equal in two lakehouses only if both were given the model."""
LOG = "ops/stage_runs"
RENAMED = {"expand_again": "expand_labels_round2"}


def tables(root: Path) -> dict[str, Path]:
    """Return the Delta tables under a root by their relative path."""
    logs = root.glob("*/*/_delta_log")
    return {log.parent.relative_to(root).as_posix(): log.parent for log in sorted(logs)}


def rows(path: Path) -> Counter[str]:
    """Return a table's rows as JSON with their counts; floats are rounded to 4 decimals."""
    return plain_rows(DeltaTable(str(path)), without=WORK_VERSION)


def plain_rows(table: DeltaTable, without: str = "") -> Counter[str]:
    """Return an open table's rows as `rows` does, apart from the column ``without``."""
    found = table.to_pyarrow_table().to_pylist()
    kept = ({name: value for name, value in row.items() if name != without} for row in found)
    return Counter(json.dumps(plain(row), sort_keys=True, default=str) for row in kept)


def plain(value: Any) -> Any:
    """Return a value without the framework's columns, floats rounded to 4 decimals."""
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items() if key not in FRAMEWORK}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return round(value, 4)
    return RENAMED.get(value, value) if isinstance(value, str) else value


def compare(one: Path, other: Path) -> bool:
    """Print the tables' differences; return whether there are none."""
    first = tables(one)
    second = tables(other)
    same = True
    for name in sorted(first.keys() | second.keys()):
        if name == LOG:
            continue
        left, right = (rows(found[name]) if name in found else Counter() for found in (first, second))
        only_left = left - right
        only_right = right - left
        verdict = "equal" if not only_left and not only_right else "DIFFERENT"
        same &= verdict == "equal"
        print(f"{verdict:9s} {name:36s} {left.total():8,} rows, {right.total():8,} rows")
        for row in [*list(only_left)[:2], *list(only_right)[:2]]:
            print(f"          {row[:300]}")
    return same


if __name__ == "__main__":
    sys.exit(0 if compare(Path(sys.argv[1]), Path(sys.argv[2])) else 1)
