"""The tables and files that a training reads, as MLflow's inputs of its run."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from mlflow.entities import Dataset, DatasetInput, InputTag

from conf.redaction import redacted
from conf.settings import LakehouseSettings
from etl.pipeline.tables import in_set

TAG = "data."
"""Before a table's name in the tags of a run; their values are ``<table id>:<version>``."""
_CONTEXT = [InputTag("mlflow.data.context", "training")]


def delta_inputs(tags: Mapping[str, str], lakehouse: LakehouseSettings | None) -> list[DatasetInput]:
    """Return one input for each table in the tags of a training, with the version that was read.

    Args:
        tags: of the run; those of other names, and tables that are off, are left out.
        lakehouse: where the tables are; None if that is not known.
    """
    named = {key.removeprefix(TAG): value for key, value in tags.items() if key.startswith(TAG)}
    return [
        DatasetInput(Dataset(name, _digest(identity), "delta_table", _source(name, identity, lakehouse)), _CONTEXT)
        for name, identity in sorted(named.items())
        if ":" in identity
    ]


def file_input(name: str, digest: str, rows: int) -> DatasetInput:
    """Return rows that were read from files as an input of a run."""
    found = Dataset(name, digest[:16], "local", json.dumps({"uri": name}), profile=json.dumps({"num_rows": rows}))
    return DatasetInput(found, _CONTEXT)


def rows_digest(rows: Sequence[Any]) -> str:
    """Return the sha256 of JSON-serializable rows, independent of their order."""
    lines = sorted(json.dumps(row, ensure_ascii=False) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _digest(identity: str) -> str:
    """Return version and the start of the table's id; MLflow allows 36 characters."""
    table_id, _, version = identity.rpartition(":")
    return f"v{version}-{table_id[:8]}"


def _source(name: str, identity: str, lakehouse: LakehouseSettings | None) -> str:
    """Return the JSON that ``mlflow.data.delta_dataset_source`` reads back."""
    source: dict[str, str | int | bool | None] = {"delta_table_version": int(identity.rpartition(":")[2])}
    name = name if lakehouse is None else in_set(name, lakehouse.set)
    if lakehouse is not None and lakehouse.catalog:
        source |= {"delta_table_name": f"{lakehouse.catalog}.{lakehouse.schema_prefix}{name}"}
    elif lakehouse is not None:
        source |= {"path": f"{lakehouse.root.rstrip('/')}/{name.replace('.', '/')}"}
    return redacted(json.dumps(source))
