"""Create, write and read Delta tables with delta-rs, in folders of this machine.

A commit takes 10 to 30 ms here, where Spark takes half a second. Both follow the Delta protocol: either reads what the
other wrote.
"""

import re
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from conf.places import local_path
from conf.settings import LakehouseSettings
from etl.pipeline.spark_api import arrow_table
from etl.pipeline.spark_tables import EVERYTHING, PROPERTIES, Commit, SparkTables
from etl.pipeline.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable
    from pyarrow.fs import SubTreeFileSystem

_CHANGED = re.compile(r"[\x00-\x1f\x7f\[\]|^\\]|%[0-9A-Fa-f]{2}")
_GLOB = "__globPaths__"
"""Spark's own option: false reads ``[x]``, ``{x}`` and ``*`` in a path as they are."""

_COMPACTED_EVERY = 20
"""A table is compacted every so many versions."""

_ONE_TASK = 256 << 10
"""Bytes of a table that one task reads."""

_NEWEST_WRITER = 4
"""Tables of a newer writer version have features that Spark alone may write; up to it the reader version is 1."""


def available() -> bool:
    """Return whether delta-rs is installed; it comes with the extra ``local``."""
    return find_spec("deltalake") is not None


def create(folder: str, table: Table, properties: Mapping[str, str]) -> None:
    """Create a table with comments, properties and CHECKs, unless it exists."""
    from deltalake import DeltaTable, Schema

    log = Path(folder, "_delta_log")
    Path(folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as fresh:
        made = DeltaTable.create(
            fresh,
            Schema.from_json(table.schema.json()),
            partition_by=list(table.partitioned_by) or None,
            description=table.comment,
            configuration=dict(properties),
        )
        if table.checks:  # a second commit, which nobody may miss
            made.alter.add_constraint(dict(table.checks))
        try:
            Path(fresh, log.name).rename(log)
        except OSError:
            if not log.is_dir():
                raise  # not because another process was faster


def opened(folder: str, before: "DeltaTable | None" = None) -> "DeltaTable | None":
    """Return a table's newest version; None where delta-rs cannot read or may not write the table.

    Args:
        before: the table as it was opened before. Only commits since then are read, if its last one is still there.
    """
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    log = Path(folder, "_delta_log")
    try:
        if before is not None and (log / f"{before.version():020}.json").is_file():
            if (log / f"{before.version() + 1:020}.json").is_file():
                before.update_incremental()
            found = before
        else:
            found = DeltaTable(folder)
    except (DeltaError, OSError):
        return None
    return found if found.protocol().min_writer_version <= _NEWEST_WRITER else None


def keeps(folder: str) -> bool:
    """Return whether delta-rs takes a path as it is: it decodes ``%20``, and refuses or changes some characters."""
    return _CHANGED.search(folder) is None


def stored_sizes(target: "DeltaTable", folder: str) -> dict[str, int]:
    """Return the sizes of a table's files in bytes, by path.

    The paths that delta-rs gives are encoded, and of the folder that links lead to.
    """
    import pyarrow as pa

    added = pa.table(target.get_add_actions(flatten=True))
    names = (f"{folder}/{unquote(name)}" for name in added["path"].to_pylist())
    return dict(zip(names, added["size_bytes"].to_pylist(), strict=True))


def files_of(target: "DeltaTable") -> "SubTreeFileSystem":
    """Return the folder of a table of this machine, as Arrow's own file system.

    That of delta-rs calls Python in Arrow's threads, which abort a process that ends meanwhile.
    """
    from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

    return SubTreeFileSystem(local_path(target.table_uri) or target.table_uri, LocalFileSystem())


def total(target: "DeltaTable", where: tuple[str, str], units: str | None) -> int:
    """Return the sum of a column over the rows of an `opened` table whose column has a value, or count the rows.

    Args:
        where: column and value.
        units: the column that is summed; None counts.
    """
    import pyarrow.compute as pc

    column, value = where
    rows = target.to_pyarrow_table(
        filesystem=files_of(target), filters=[(column, "=", value)], columns=[units or column]
    )
    return rows.num_rows if units is None else pc.sum(rows[units]).as_py() or 0


def as_arrow(table: Table, rows: Iterable[Mapping[str, Any]]) -> "pa.Table":
    """Return rows, a value for each column, with the table's columns."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    values = [{name: row[name] for name in table.columns} for row in rows]
    return pa.Table.from_pylist(values, to_arrow_schema(table.schema))


def write(
    target: "DeltaTable", rows: "pa.Table", metadata: str, *, where: str | None = None, once: str | None = None
) -> None:
    """Append rows, or replace rows by them, in one commit.

    Args:
        target: the `opened` table.
        rows: with the table's columns; new ones enter older tables.
        metadata: the commit's ``userMetadata``.
        where: the rows that are replaced, as an SQL condition; None appends.
        once: the ``txnAppId`` of this content, which is not appended a second time.
    """
    from deltalake import CommitProperties, Transaction, write_deltalake
    from deltalake.exceptions import DeltaError

    if once is not None and target.transaction_version(once) is not None:
        return
    if where not in (None, EVERYTHING) and rows.num_rows == 0:
        delete(target, str(where), metadata)
        return
    commit = CommitProperties(
        custom_metadata={"userMetadata": metadata},
        app_transactions=None if once is None else [Transaction(once, 1)],
    )
    if where is None:
        write_deltalake(target, rows, mode="append", schema_mode="merge", commit_properties=commit)
    else:
        write_deltalake(
            target,
            rows,
            mode="overwrite",
            schema_mode="merge",
            commit_properties=commit,
            predicate=None if where == EVERYTHING else where,
        )
    if (target.version() + 1) % _COMPACTED_EVERY == 0:
        with suppress(DeltaError):  # another process changed the table; the next compaction will do
            target.optimize.compact()


def delete(target: "DeltaTable", where: str, metadata: str) -> None:
    """Delete the rows that an SQL condition selects from an `opened` table; without any, make no commit."""
    from deltalake import CommitProperties

    properties = CommitProperties(custom_metadata={"userMetadata": metadata})
    target.delete(None if where == EVERYTHING else where, commit_properties=properties)


def rows(target: "DeltaTable", table: Table) -> list[dict[str, Any]] | None:
    """Return the rows of an `opened` small table; None where delta-rs cannot read them."""
    from deltalake.exceptions import DeltaError

    try:
        found = target.to_pyarrow_table(filesystem=files_of(target))
    except (DeltaError, OSError):
        return None
    names = [column.name for column in table.described]  # as `columns`, without a session
    return [{name: row.get(name) for name in names} for row in found.to_pylist(maps_as_pydicts="strict")]


class LocalTables(SparkTables):
    """Tables in folders of this machine: delta-rs creates them, and writes and reads single rows. Spark does the rest.

    Spark also takes the tables that delta-rs cannot read or may not write.

    Args:
        spark: a session on this machine.
    """

    def __init__(self, spark: SparkSession, settings: LakehouseSettings) -> None:
        super().__init__(spark, settings)
        self._opened: dict[str, Any] = {}

    def opened(self, table: Table) -> "DeltaTable | None":
        """Return the table's newest version, as the function `opened` does."""
        folder = self.folder(table)
        self._opened[folder] = opened(folder, self._opened.get(folder))
        found: DeltaTable | None = self._opened[folder]
        return found

    def create(self, table: Table) -> None:
        create(self.folder(table), table, PROPERTIES)

    def rows(self, table: Table) -> list[dict[str, Any]]:
        there = self.opened(table)
        found = None if there is None else rows(there, table)
        return super().rows(table) if found is None else found

    def write_row(self, table: Table, row: Mapping[str, Any], metadata: str) -> None:
        if (there := self.opened(table)) is not None:
            write(there, as_arrow(table, [row]), metadata)
        else:
            super().write_row(table, row, metadata)


class SmallTables(LocalTables):
    """Tables in folders of this machine whose changes fit into the driver: delta-rs does all but merges."""

    def read(self, table: Table) -> DataFrame:
        if (there := self.opened(table)) is None:
            return super().read(table)
        if not (parts := stored_sizes(there, self.folder(table))):
            return self.no_rows(table)
        # Spark takes half a second to read a changed table's log, and a tenth of that to find these files.
        plain = {"basePath": self.folder(table), _GLOB: "false"}
        found = self.spark.read.schema(table.ddl).options(**plain).parquet(*parts)
        selected = found.select(*table.columns) if table.partitioned_by else found
        # Frames built on one partition need no exchange, which takes Spark longer than so few rows.
        return selected.coalesce(1) if sum(parts.values()) <= _ONE_TASK else selected

    def write(self, table: Table, rows: DataFrame, commit: Commit) -> None:
        few = arrow_table(rows, table.schema)
        if commit.skip_empty and few.num_rows == 0:
            return
        if not self.exists(table):
            self.create(table)
        if (there := self.opened(table)) is not None:
            write(there, few, commit.metadata, where=commit.where, once=commit.once)
        else:
            super().write(table, rows, commit)

    def delete(self, table: Table, where: str, metadata: str) -> None:
        if (there := self.opened(table)) is not None:
            delete(there, where, metadata)
        else:
            super().delete(table, where, metadata)

    def total(self, table: Table, where: tuple[str, str], units: str | None) -> int | None:
        return None if (there := self.opened(table)) is None else total(there, where, units)
