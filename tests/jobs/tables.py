"""Reading a lakehouse without Spark, to hold two of them against each other."""

from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable

from jobs import all_stages

# What a run is called and when it was, and which version its trainings got: not what is in the data.
UNCOMPARED = {"run_id", "slice", "model", "source"}
OF_A_TRAINING = {"subtitles/turn_scores", "subtitles/dialogues"}
"""Tables whose ``work_version`` holds the identity of a model that the run trained."""
TABLES = (
    "subtitles/manifest",
    "subtitles/files",
    "subtitles/quarantine",
    "subtitles/chosen_uploads",
    "subtitles/lemmas",
    "subtitles/turn_scores",
    "subtitles/dialogues",
    "subtitles/clean_dialogues",
    "ops/dropped",
    "edos/weak_labels",
    "edos/initial",
    "edos/answers",
    "edos/assignments",
    "edos/annotations",
    "edos/crowd_labels",
    "edos/seeds",
    "edos/training_dialogues",
    "edos/dialogues",
)


def table(root: Path, name: str) -> list[dict[str, Any]]:
    """The table's rows as they are."""
    rows: list[dict[str, Any]] = DeltaTable(str(root / name)).to_pyarrow_table().to_pylist()
    return rows


def rows_of(root: Path, table: str) -> list[dict[str, Any]]:
    """The table's rows, floats rounded to 1e-4, in an order of their own."""
    read: pa.Table = pa.table(DeltaTable(str(root / table)).to_pyarrow_table())
    uncompared = UNCOMPARED | {"work_version"} if table in OF_A_TRAINING else UNCOMPARED
    kept = read.select([name for name in read.column_names if name not in uncompared])
    # What ran on request in one of them stands in its ledger too.
    asked_for = {stage.name for stage in all_stages() if stage.manual}
    rows = (row for row in kept.to_pylist() if row.get("stage") not in asked_for)
    return sorted((_rounded(row) for row in rows), key=repr)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return value


def versions(root: Path) -> dict[str, int]:
    """Each table's Delta version."""
    logs = sorted(root.glob("*/*/_delta_log"))
    return {str(log.parent.relative_to(root)): DeltaTable(str(log.parent)).version() for log in logs}
