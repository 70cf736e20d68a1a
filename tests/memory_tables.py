"""Tables in memory in place of Delta, for tests of data and not of storage: a stage then takes half the time.

``make test-all`` runs the same tests on Delta (``--delta``).
"""

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.settings import LakehouseSettings
from etl.pipeline import lakehouse
from etl.pipeline.spark_tables import EVERYTHING, Commit, SparkTables
from etl.pipeline.tables import Table
from tests.frames import computed


@dataclass
class Kept:
    """One table: its rows, the metadata of its commits, and where its newest version is a Parquet folder.

    Attributes:
        told: the rows that were written one by one; None where others are in the table, too.
        pending: those of them that are not in the frame yet.
    """

    rows: DataFrame
    told: list[dict[str, Any]] | None = field(default_factory=list)
    pending: list[dict[str, Any]] = field(default_factory=list)
    commits: list[str] = field(default_factory=list)
    written: tuple[int, str] = (-1, "")


class MemoryTables(SparkTables):
    """Tables that a session holds in memory.

    Args:
        spark: the session.
        kept: the tables by name, which all storages of one lakehouse share.
        once: the ids of contents that were appended.
        folder: for tables that SQL reads by name.
    """

    def __init__(self, spark: SparkSession, kept: dict[str, Kept], once: set[str], folder: Path) -> None:
        self.spark = spark
        self.kept = kept
        self.once = once
        self.files = folder

    def exists(self, table: Table) -> bool:
        return table.name in self.kept

    def create(self, table: Table) -> None:
        self.kept[table.name] = Kept(self.no_rows(table))

    def read(self, table: Table) -> DataFrame:
        if not self.exists(table):
            return self.no_rows(table)
        own = self.kept[table.name]
        if own.pending:
            values = [tuple(row.values()) for row in own.pending]
            own.rows = computed(own.rows.unionByName(self.spark.createDataFrame(values, table.schema)).coalesce(1))
            own.pending = []
        return own.rows.select("*")

    def rows(self, table: Table) -> list[dict[str, Any]]:
        told = self.kept[table.name].told if self.exists(table) else []
        return super().rows(table) if told is None else list(told)

    def write_row(self, table: Table, row: Mapping[str, Any], metadata: str) -> None:
        own = self.kept[table.name]
        values = {name: row[name] for name in table.columns}
        own.pending.append(values)
        if own.told is not None:
            own.told.append(values)
        own.commits.append(metadata)

    def write(self, table: Table, rows: DataFrame, commit: Commit) -> None:
        if (commit.once is not None and commit.once in self.once) or (commit.skip_empty and rows.isEmpty()):
            return
        if not self.exists(table):
            self._put(table, rows, commit.metadata)
        elif commit.where is None:
            self._put(table, self.read(table).unionByName(rows), commit.metadata)
        else:
            self._put(table, self._without(table, commit.where).unionByName(rows), commit.metadata)
        if commit.once is not None:
            self.once.add(commit.once)

    def delete(self, table: Table, where: str, metadata: str) -> None:
        if self.exists(table) and not self.read(table).where(where).isEmpty():
            self._put(table, self._without(table, where), metadata)

    def delete_keys(self, table: Table, keys: DataFrame, column: str, where: str, metadata: str) -> None:
        gone = keys.toDF("gone_key").alias("gone")
        condition = F.expr(f"kept.{column} = gone.gone_key AND {where}")
        self._put(table, self.read(table).alias("kept").join(gone, condition, "left_anti"), metadata)

    def identity(self, table: Table) -> str:
        return f"{table.name}:{self.size(table)}"

    def commits(self, table: Table, run_id: str) -> list[str]:
        return [one for one in self.kept[table.name].commits if json.loads(one).get("run_id") == run_id]

    def size(self, table: Table) -> int:
        return len(self.kept[table.name].commits)

    def location(self, table: Table) -> str:
        """Write the table as Parquet, for SQL needs names in the metastore."""
        own = self.kept[table.name]
        version = self.size(table)
        if own.written[0] != version:
            path = str(self.files / str(id(self.kept)) / f"{table.name}-{version}")
            self.read(table).coalesce(1).write.parquet(path)
            own.written = (version, path)
        return f"USING parquet LOCATION '{own.written[1]}'"

    def _without(self, table: Table, where: str) -> DataFrame:
        rows = self.read(table)
        return rows.limit(0) if where == EVERYTHING else rows.where(~F.coalesce(F.expr(where), F.lit(False)))

    def _put(self, table: Table, rows: DataFrame, metadata: str) -> None:
        selected = rows.select(*[rows[one.name].cast(one.dataType).alias(one.name) for one in table.schema])
        checked = computed(selected.coalesce(1))
        own = self.kept.setdefault(table.name, Kept(checked))
        own.rows = checked
        own.told = None
        own.commits.append(metadata)


@contextmanager
def memory_tables() -> Iterator[None]:
    """Keep the tables of every lakehouse in memory inside the block, those of one root together."""
    kept: dict[str, dict[str, Kept]] = defaultdict(dict)
    once: dict[str, set[str]] = defaultdict(set)

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:

        def storage_of(spark: SparkSession, settings: LakehouseSettings, small: bool) -> MemoryTables:
            return MemoryTables(spark, kept[settings.root], once[settings.root], Path(folder))

        patch.setattr(lakehouse, "storage_of", storage_of)
        yield
