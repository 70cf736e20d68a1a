"""Read labelled sets: the files that a setting names, as rows, with ledger rows of what cannot be read."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.pipeline.outcome import DROPPED_DDL, DroppedRow, LocalOutcome, Outcome
from udfs.file_mapper import LINES, LINES_DDL, FileMapper, json_lines_in
from udfs.labelled_files import columns_of, rows_of
from udfs.text_files import Row, shown

ROWS = (".csv", ".csv.gz", ".json", ".json.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
"""The endings of files of rows with named columns."""
_MOST_NAMED = 5
"""Files that a message names at most."""


@dataclass(frozen=True)
class NamedFiles:
    """The files that a setting names.

    Attributes:
        paths: path of each file by its name in ledgers: its own name, with its folder's where two have one name.
        skipped: (name, reason, detail) of the files in its folders that are not read.
    """

    paths: Mapping[str, str]
    skipped: tuple[tuple[str, str, str], ...] = ()

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths.values())

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def dropped(self) -> list[DroppedRow]:
        """The skipped files as rows of an ``Outcome``'s ``dropped``, which count as no unit."""
        return [DroppedRow("file", name, reason, detail, 0) for name, reason, detail in self.skipped]

    def with_skipped(self, outcome: Outcome, spark: SparkSession) -> Outcome:
        """Return an outcome with the skipped files in its ledger."""
        return with_dropped(outcome, spark.createDataFrame(self.dropped, DROPPED_DDL)) if self.skipped else outcome


def with_dropped(outcome: Outcome, dropped: DataFrame) -> Outcome:
    """Return an outcome with more ledger rows, which do not count as units that came in."""
    known = outcome.dropped
    return Outcome(
        outcome.rows, dropped if known is None else known.unionByName(dropped), outcome.quarantined, outcome.rows_in
    )


def noted(read: Outcome) -> DataFrame:
    """Return the ledger rows of files that were read by a stage with other units: they count as none."""
    assert read.dropped is not None
    return read.dropped.withColumn("units", F.lit(0).cast("bigint"))


def files_under(paths: Sequence[str], endings: Sequence[str], setting: str) -> NamedFiles:
    """Return the files that a setting names: each path, or the files with these endings in a folder, in order of name.

    A file named twice is read once. Other files of a folder are skipped as ``unknown_format``.

    Raises:
        InputError: a path is not there, or is a folder without such files.
    """
    found: list[Path] = []
    unknown: list[Path] = []
    for path in paths:
        place = Path(path)
        if place.is_file():
            found.append(place.resolve())
            continue
        files = sorted(one for one in place.glob("*") if one.is_file() and not one.name.startswith((".", "_")))
        inside = [one.resolve() for one in files if one.name.lower().endswith(tuple(endings))]
        if not inside:
            raise InputError(f"{setting}: {path} is neither a file nor a folder with {', '.join(endings)} files")
        found += inside
        unknown += [one.resolve() for one in files if not one.name.lower().endswith(tuple(endings))]
    found = list(dict.fromkeys(found))
    rest = [one for one in dict.fromkeys(unknown) if one not in found]
    names = distinct_names([*found, *rest])
    skipped = tuple((names[one], "unknown_format", f"read are {', '.join(endings)}") for one in rest)
    return NamedFiles({names[one]: str(one) for one in found}, skipped)


def distinct_names(paths: Sequence[Path]) -> dict[Path, str]:
    """Return a name for each path that differs from the others': as few of its last parts as that takes."""
    names: dict[Path, str] = {}
    for path in paths:
        parts = path.parts
        others = [other.parts for other in paths if other != path and other.name == path.name]
        length = next(n for n in range(1, len(parts) + 1) if all(parts[-n:] != other[-n:] for other in others))
        names[path] = "/".join(parts[-length:])
    return names


def read_files(
    spark: SparkSession,
    files: NamedFiles | Sequence[str],
    rows: Callable[[str, BinaryIO], Iterator[dict[str, Any]]],
    schema: pa.Schema,
    ddl: str,
) -> DataFrame:
    """Return the rows of files, each file read by one task.

    Args:
        files: files by their names in ledgers, or paths, which every machine can open.
        rows: generator of a file's rows, from its name and content.
        schema, ddl: schema of the rows, twice.
    """
    if not files:
        return spark.createDataFrame([], ddl)
    if not isinstance(files, NamedFiles):
        files = NamedFiles({name: str(path) for path, name in distinct_names([Path(one) for one in files]).items()})
    paths = [(path, name) for name, path in files.paths.items()]
    frame = spark.createDataFrame(paths, "path string, name string").repartition(len(paths), "path")
    return frame.mapInArrow(FileMapper(rows, schema), ddl)  # type: ignore[arg-type]


def json_lines(spark: SparkSession, files: NamedFiles | Sequence[str], ddl: str) -> DataFrame:
    """Read the lines of JSON Lines files that are not blank.

    Returns:
        value (the line, or the evidence of a fault), broken (the fault; null for usable JSON), and the columns of
        ``ddl``, which are null where the line lacks them or has another type.
    """
    lines = read_files(spark, files, json_lines_in, LINES, LINES_DDL)
    parsed = F.from_json(
        F.when(F.col("fault").isNull(), F.col("value")),
        f"{ddl}, broken string",
        {"columnNameOfCorruptRecord": "broken"},
    )
    rows = lines.select("value", "fault", parsed.alias("line")).select("value", "fault", "line.*")
    return rows.withColumn("broken", F.coalesce("fault", "broken")).drop("fault")


def labelled_rows(
    spark: SparkSession,
    paths: Sequence[str],
    columns: Sequence[str],
    setting: str,
    optional: Sequence[str] = (),
    ids: Sequence[str] = (),
) -> Outcome:
    """Read the rows of labelled files (``ROWS``), each file by its own header.

    Args:
        paths: files and folders; other files of a folder are skipped.
        columns, optional: columns to read, as strings. Optional ones are null in rows without them.
        ids: those of the columns that are ids, see `udfs.labelled_files.whole_id`.

    Returns:
        Outcome of the columns, and ``place``, ``<file>:<line>``. The unit is the row. Files and rows that cannot be
        read are in its ledger; files count as no unit.

    Raises:
        InputError: no file is named, one is not there, or none has the columns.
    """
    files = usable_files(paths, columns, setting)
    names = ["unit", "place", "fault", "detail", *columns, *optional]
    schema = pa.schema([(name, pa.string()) for name in names])
    ddl = ", ".join(f"`{name}` string" for name in names)
    read = read_files(spark, files, partial(_flat_rows, columns=tuple(columns), ids=tuple(ids)), schema, ddl).cache()
    rows_in = read.where("unit = 'row'").count()
    units = F.when(F.col("unit") == "row", 1).otherwise(0).cast("bigint").alias("units")
    faults = read.where(F.col("fault").isNotNull())
    dropped = faults.select("unit", F.col("place").alias("id"), F.col("fault").alias("reason"), "detail", units)
    rows = read.where(F.col("fault").isNull()).drop("unit", "fault", "detail")
    return files.with_skipped(Outcome(rows, dropped, rows_in=rows_in), spark)


def _flat_rows(name: str, stream: BinaryIO, columns: Collection[str], ids: Collection[str]) -> Iterator[dict[str, Any]]:
    for row in rows_of(name, stream, columns, ids):
        unit, place = ("row", f"{name}:{row.line}") if row.line else ("file", name)
        fields = {"unit": unit, "place": place, "fault": row.fault, "detail": row.detail}
        yield fields | {column: cell or None for column, cell in (row.value or {}).items()}


def local_rows(paths: Sequence[str], columns: Sequence[str], setting: str, unit: str = "row") -> LocalOutcome:
    """Read the rows of labelled files (``ROWS``) on the driver, as dicts of the columns; for sets of known size.

    Returns:
        The rows, and the ledger rows of files and rows that cannot be read. A row's unit is ``unit``.

    Raises:
        InputError: no file is named, one is not there, or none has the columns.
    """
    files = usable_files(paths, columns, setting)
    found = LocalOutcome(dropped=files.dropped)
    for name, path in files.paths.items():
        with Path(path).open("rb") as stream:
            for row in rows_of(name, stream, columns):
                if row.fault is None:
                    found.rows.append({column: row.value[column] for column in columns})
                else:
                    drop_fault(found, name, row, unit)
    return found


def drop_fault(found: LocalOutcome, name: str, row: Row, unit: str) -> None:
    """Add the ledger row of a fault: of a row, or of a whole file, which counts as no unit."""
    place, units = (f"{name}:{row.line}", 1) if row.line else (name, 0)
    found.drop(unit if units else "file", place, row.fault or "", row.detail, units)


def usable_files(paths: Sequence[str], columns: Collection[str], setting: str) -> NamedFiles:
    """Return the named files that have the columns; the others are skipped with a reason.

    Raises:
        InputError: no file is named, one is not there, or none has the columns.
    """
    if not paths:
        raise InputError(f"{setting} is empty: name one or more files ({', '.join(ROWS)})")
    for path in paths:
        if not Path(path).exists():
            raise InputError(f"{setting}: {path} does not exist")
    files = files_under(paths, ROWS, setting)
    headers = {name: _header(name, path, columns) for name, path in files.paths.items()}
    bad = [(name, row.fault or "", row.detail) for name, row in headers.items() if row.fault is not None]
    if len(bad) == len(files):
        what = f"has the columns {', '.join(columns)}" if columns else "can be read"
        each = [f"{shown(name)}: {reason}: {detail}" for name, reason, detail in bad[:_MOST_NAMED]]
        more = [f"and {len(bad) - _MOST_NAMED:,} more"] if len(bad) > _MOST_NAMED else []
        raise InputError("; ".join([f"{setting}: no file {what}", *each, *more]))
    fit = {name: path for name, path in files.paths.items() if headers[name].fault is None}
    return NamedFiles(fit, (*files.skipped, *bad))


def columns_in(path: str) -> list[str]:
    """Return the names of a usable file's columns."""
    names: list[str] = _header(Path(path).name, path, ()).value
    return names


def _header(name: str, path: str, columns: Collection[str]) -> Row:
    try:
        with Path(path).open("rb") as stream:
            return columns_of(name, stream, columns)
    except OSError as error:
        return Row(0, None, "unreadable", f"{type(error).__name__}: {error.strerror}")
