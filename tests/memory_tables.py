"""Tables in memory in place of Delta, for tests of data and not of storage: a stage then takes half the time.

``make test-all`` runs the same tests on Delta (``--delta``).
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.session import configured
from etl.tables import TABLES, Table
from etl.tables.hidden_secrets import without_secrets


class _Store:
    """The tables of one lakehouse."""

    def __init__(self) -> None:
        self.rows: dict[str, DataFrame] = {}
        self.versions: dict[str, int] = defaultdict(int)
        self.commits: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.once: set[str] = set()
        self.written: dict[str, tuple[int, str]] = {}

    def put(self, table: Table, rows: DataFrame, lineage: Mapping[str, Any]) -> None:
        rows = without_secrets(rows)
        selected = rows.select(*[rows[field.name].cast(field.dataType).alias(field.name) for field in table.schema])
        # A checkpoint of a plan that is not adaptive has a partitioning that self joins cannot rename (Spark 3.5).
        with configured(rows.sparkSession, "spark.sql.adaptive.enabled", "true"):
            self.rows[table.name] = selected.localCheckpoint()
        self.versions[table.name] += 1
        self.commits[table.name].append(dict(lineage))


class _Stores(dict[str, _Store]):
    def __missing__(self, root: str) -> _Store:
        self[root] = _Store()
        return self[root]


def _in_memory(stores: _Stores, folder: Path) -> dict[str, Any]:  # noqa: C901
    """Return the methods of ``Lakehouse`` over the stores, one for each root."""

    def store(lakehouse: Lakehouse) -> _Store:
        return stores[lakehouse.settings.root]

    def exists(self: Lakehouse, table: Table) -> bool:
        return table.name in store(self).rows

    def ensure(self: Lakehouse, table: Table) -> None:
        if table.name not in store(self).rows:
            store(self).rows[table.name] = self.spark.createDataFrame([], table.schema).limit(0)

    def read(self: Lakehouse, table: Table) -> DataFrame:
        found = store(self).rows.get(table.name)
        return self.spark.createDataFrame([], table.schema).limit(0) if found is None else found.select("*")

    def append(
        self: Lakehouse,
        table: Table,
        rows: DataFrame,
        lineage: Mapping[str, Any],
        once: str | None = None,
        *,
        skip_empty: bool = False,
    ) -> None:
        key = f"{table.name}/{once}"
        if key in store(self).once or (skip_empty and rows.isEmpty()):
            return
        before = store(self).rows.get(table.name)
        selected = rows.select(*table.columns)
        store(self).put(table, selected if before is None else before.unionByName(selected), lineage)
        if once is not None:
            store(self).once.add(key)

    def append_row(self: Lakehouse, table: Table, row: Mapping[str, Any], lineage: Mapping[str, Any]) -> None:
        values = tuple(row[name] for name in table.columns)
        append(self, table, self.spark.createDataFrame([values], table.schema).coalesce(1), lineage)

    def rows(self: Lakehouse, table: Table) -> list[dict[str, Any]]:
        return [row.asDict(recursive=True) for row in read(self, table).collect()]

    def replace(
        self: Lakehouse, table: Table, rows: DataFrame, lineage: Mapping[str, Any], where: str | None = None
    ) -> None:
        kept = None if where is None else read(self, table).where(~F.coalesce(F.expr(where), F.lit(False)))
        selected = rows.select(*table.columns)
        store(self).put(table, selected if kept is None else kept.unionByName(selected), lineage)

    def delete(self: Lakehouse, table: Table, where: str, lineage: Mapping[str, Any]) -> None:
        if exists(self, table) and not read(self, table).where(where).isEmpty():
            store(self).put(table, read(self, table).where(~F.coalesce(F.expr(where), F.lit(False))), lineage)

    def delete_keys(
        self: Lakehouse, table: Table, keys: DataFrame, column: str, lineage: Mapping[str, Any], where: str = "true"
    ) -> None:
        if not exists(self, table):
            return
        gone = keys.toDF("gone_key").alias("gone")
        condition = F.expr(f"kept.{column} = gone.gone_key AND {where}")
        store(self).put(table, read(self, table).alias("kept").join(gone, condition, "left_anti"), lineage)

    def identity(self: Lakehouse, table: Table) -> str | None:
        return f"{table.name}:{store(self).versions[table.name]}" if exists(self, table) else None

    def commits(self: Lakehouse, table: Table, run_id: str) -> list[dict[str, Any]]:
        return [commit for commit in store(self).commits[table.name] if commit.get("run_id") == run_id]

    def size(self: Lakehouse, table: Table) -> int:
        return store(self).versions[table.name]

    def register(
        self: Lakehouse, views: Mapping[str, tuple[str, str]], tables: Iterable[Table] = TABLES.values()
    ) -> None:
        """Write the tables as Parquet, for SQL needs names in the metastore."""
        own = store(self)
        known = list(tables)
        self._drop(views, known)
        for table in known:
            version = own.versions[table.name]
            if table.name in own.rows and own.written.get(table.name, (None, ""))[0] != version:
                path = str(folder / f"{id(own)}" / f"{table.name}-{version}")
                read(self, table).coalesce(1).write.parquet(path)
                own.written[table.name] = (version, path)
        for statement in self.catalog_statements(views, known):
            if statement.startswith("CREATE TABLE"):
                name = statement.split()[5]
                statement = f"CREATE TABLE IF NOT EXISTS {name} USING parquet LOCATION '{own.written[name][1]}'"
            self.spark.sql(statement)

    found = (
        exists,
        ensure,
        read,
        append,
        append_row,
        rows,
        replace,
        delete,
        delete_keys,
        identity,
        commits,
        size,
        register,
    )
    return {method.__name__: method for method in found}


@contextmanager
def memory_tables() -> Iterator[None]:
    """Keep the tables of every lakehouse in memory inside the block."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        for name, method in _in_memory(_Stores(), Path(folder)).items():
            patch.setattr(Lakehouse, name, method)
        yield
