"""What a training passes to its processes, and they pass back, by a folder: rows as Parquet, all else as JSON."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from pyarrow import parquet

from conf.errors import InputError
from udfs.models.classifiers.training import TrainResult
from udfs.models.language.language_model import LanguageResult

JOB, RESULT, MODEL, FAILED = "job.json", "result.json", "model", "failed"
SHARD_ROWS = 100_000
Row = TypeVar("Row")


def write_job(job: Mapping[str, Any], folder: Path) -> None:
    """Write what the processes need to know beside the rows, for `read_job`."""
    (folder / JOB).write_text(json.dumps(job), encoding="utf-8")


def read_job(folder: Path) -> dict[str, Any]:
    """What `write_job` wrote, as JSON holds it.

    Raises:
        InputError: this machine does not see the folder.
    """
    try:
        return dict(json.loads((folder / JOB).read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(
            f"{folder} cannot be read here ({error.strerror}): set models.folder to a shared folder"
        ) from None


def write_rows(rows: Sequence[Sequence[Any]], schema: pa.Schema, folder: Path, shard_rows: int = SHARD_ROWS) -> None:
    """Write rows, a value a column of `schema`, to `folder` as Parquet files, named in the rows' order."""
    folder.mkdir(parents=True)
    for number, first in enumerate(range(0, len(rows), shard_rows)):
        columns = list(zip(*rows[first : first + shard_rows], strict=True))
        parquet.write_table(pa.table(columns, schema=schema), folder / f"{number:05d}.parquet")


def read_rows(folder: Path, schema: pa.Schema, row: Callable[..., Row]) -> list[Row]:
    """What `row` makes of the values of each row that `write_rows` wrote, in the same order."""
    rows: list[Row] = []
    for shard in sorted(folder.glob("*.parquet")):
        table = parquet.read_table(shard, schema=schema)
        rows += map(row, *(column.to_pylist() for column in table.columns))
    return rows


@contextmanager
def noted(folder: Path) -> Iterator[None]:
    """What goes wrong inside leaves its reason in `folder`, for `failure`: torchrun tells nobody."""
    try:
        yield
    except Exception as error:
        kind = "input" if isinstance(error, InputError) else "failure"
        name = f"{FAILED}-{kind}-{os.environ.get('RANK', '0')}.txt"
        (folder / name).write_text(str(error) if kind == "input" else f"{type(error).__name__}: {error}", "utf-8")
        raise


def failure(folder: Path) -> Exception:
    """Why the training in `folder` failed, in one line: bad input first, then the lowest rank's reason."""
    for kind, error in (("input", InputError), ("failure", RuntimeError)):
        for note in sorted(folder.glob(f"{FAILED}-{kind}-*.txt")):
            line = next(iter(note.read_text("utf-8").strip().splitlines()), "no reason given")[:500]
            return error(line if error is InputError else f"a training process failed: {line}")
    return RuntimeError(
        f"the training's processes left no word in {folder}: see their logs, and that all machines share models.folder"
    )


def write_facts(folder: Path, result: TrainResult | LanguageResult) -> None:
    """What came of a training, for `read_facts`: the last that is written."""
    facts = {"metrics": result.metrics, "best_epoch": result.best_epoch, "seconds": result.seconds}
    facts["history"] = [asdict(epoch) for epoch in result.history]
    begun = folder / f"{RESULT}.begun"
    begun.write_text(json.dumps(facts), encoding="utf-8")
    begun.replace(folder / RESULT)


def finished(folder: Path) -> bool:
    """Whether all was written and no process tells of a failure: what goes wrong afterwards changes nothing."""
    return (folder / RESULT).exists() and not any(folder.glob(f"{FAILED}-*.txt"))


def read_facts(folder: Path) -> dict[str, Any]:
    """Metrics, best epoch, seconds and history, as JSON holds them.

    Raises:
        InputError: the leading process wrote it where this one does not see it.
    """
    try:
        return dict(json.loads((folder / RESULT).read_text(encoding="utf-8")))
    except OSError:
        raise InputError(f"no {RESULT} in {folder}: set models.folder to a folder that all machines share") from None
