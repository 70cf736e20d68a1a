"""Rows of files for ``mapInArrow``: each file is opened and read by one task."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyarrow as pa

from conf.errors import InputError
from udfs.json_texts import JsonError, parsed_json
from udfs.labelled_files import texts_of

LINES: Final = pa.schema([("value", pa.string()), ("fault", pa.string())])
LINES_DDL: Final = "value string, fault string"


def json_lines_in(name: str, stream: BinaryIO) -> Iterator[dict[str, Any]]:
    """Yield a row of ``LINES`` for each line of a JSON Lines file that is not blank, with its text as it is.

    A line without usable JSON, or a file that cannot be read, has a fault, and its evidence as the value.
    """
    for row in texts_of(name, stream):
        if row.fault is not None:
            yield {"value": f"{name}: {row.detail}" if row.line == 0 else row.detail, "fault": row.fault}
        elif row.value.strip():
            yield {"value": row.value, "fault": _fault_of(row.value)}


def _fault_of(text: str) -> str | None:
    try:
        parsed_json(text)
    except JsonError as fault:
        return fault.reason
    return None


@dataclass(frozen=True)
class FileMapper:
    """A function for ``mapInArrow`` from rows of path and name to the rows of these files.

    Attributes:
        rows: generator of a file's rows, from its name and content.
    """

    rows: Callable[[str, BinaryIO], Iterator[dict[str, Any]]]
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path, name in zip(batch.column("path").to_pylist(), batch.column("name").to_pylist(), strict=True):
                if not Path(path).is_file():
                    raise InputError(f"{path} does not exist on a worker: put it where all machines can read it")
                with Path(path).open("rb") as stream:
                    rows = self.rows(name, stream)
                    while some := list(islice(rows, 1_000)):
                        yield pa.RecordBatch.from_pylist(some, schema=self.schema)
