"""The Delta tables of one place. No other module of the program reads or writes them."""

import copy
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from conf.errors import InputError
from conf.redaction import redacted
from conf.settings import LakehouseSettings
from etl.pipeline import local_delta
from etl.pipeline.folders import Folders, located
from etl.pipeline.spark_api import is_connect, is_local
from etl.pipeline.spark_tables import EVERYTHING, Commit, SparkTables, path_of, reference_of
from etl.pipeline.tables import TABLES, Table, View, empty_statement, in_set, names_in_sql, view_statements
from etl.pipeline.tables.hidden_secrets import without_secrets
from etl.pipeline.tables.model import sql_text
from etl.pipeline.tables.ops import DROPPED, STAGE_RUNS


def storage_of(spark: SparkSession, settings: LakehouseSettings, small: bool) -> SparkTables:
    """Return how the tables of a lakehouse are kept: delta-rs writes those in folders of this machine, if it can.

    Args:
        small: whether what is written fits into the driver.
    """
    root = located(settings.root)
    local = not settings.catalog and root.startswith("/") and is_local(spark)
    if not (local and local_delta.available() and local_delta.keeps(root)):
        return SparkTables(spark, settings)
    return (local_delta.SmallTables if small else local_delta.LocalTables)(spark, settings)


class Lakehouse:
    """The tables of one lakehouse in one Spark session.

    Args:
        settings: where the tables are: a catalog, or a folder with ``<root>/<schema>/<table>``.
        small: whether what is written fits into the driver.
    """

    def __init__(self, spark: SparkSession, settings: LakehouseSettings, *, small: bool = False) -> None:
        self.spark = spark
        self.settings = settings
        self.prefix = settings.schema_prefix if settings.catalog else ""
        self.suffix = settings.set if settings.catalog else ""
        self._small = small
        self._identities: dict[str, str | None] = {}

    @cached_property
    def storage(self) -> SparkTables:
        """How the tables are kept."""
        return storage_of(self.spark, self.settings, self._small)

    def of_set(self, name: str, *, named: bool = False) -> "Lakehouse":
        """Return the tables of another set of the same lakehouse (``lakehouse.set``), with what is known of them.

        Args:
            named: whether SQL calls them ``edos_NAME.turns`` in a folder too, beside those of this set.
        """
        other = copy.copy(self)
        other.__dict__.pop("storage", None)
        other.settings = self.settings.model_copy(update={"set": name})
        other.suffix = name if self.settings.catalog or named else ""
        return other

    def sets(self) -> list[str]:
        """Return the names of the sets of a lakehouse in a folder; the one without a name is not among them.

        None in a catalog, which lists them itself, and over Spark Connect.
        """
        if self.settings.catalog or is_connect(self.spark):
            return []
        ledger = STAGE_RUNS.name.partition(".")[0] + "_"
        folders = Folders(self.spark).entries(self.settings.root.rstrip("/"))
        return sorted(one.name.removeprefix(ledger) for one in folders if one.is_folder and one.name.startswith(ledger))

    def own_name(self, table: Table) -> str:
        """Return the table's name with the set in its schema."""
        return in_set(table.name, self.settings.set)

    def path(self, table: Table) -> str:
        """Return the table's path when no catalog holds it."""
        return path_of(self.settings, table)

    def reference(self, table: Table) -> str:
        """Return the table's name in SQL."""
        return reference_of(self.settings, table)

    def exists(self, table: Table) -> bool:
        return self.storage.exists(table)

    def ensure(self, table: Table) -> None:
        """Create the table with comments, CHECKs and properties unless it exists."""
        if not self.exists(table):
            self.storage.create(table)
            self._identities.pop(self.own_name(table), None)

    def read(self, table: Table) -> DataFrame:
        """Return the table's rows; none where the table was never written. Columns that it lacks yet are null."""
        return self.storage.read(table)

    def rows(self, table: Table) -> list[dict[str, Any]]:
        """Return the rows of a small table."""
        return self.storage.rows(table)

    def total(self, table: Table, where: tuple[str, str], units: str | None) -> int | None:
        """Return the number of rows, or the sum of ``units``; see `SparkTables.total`."""
        return self.storage.total(table, where, units)

    def read_version(self, table: Table, identity: str | None) -> DataFrame | None:
        """Return the table's rows as they were at an `identity`; None where that is not of this table, or is gone."""
        (table_id, _, version) = (identity or "").partition("+")[0].rpartition(":")
        if not version.isdigit() or table_id != (self.identity(table) or "").rpartition(":")[0]:
            return None
        try:
            return self.spark.sql(f"SELECT * FROM {self.reference(table)} VERSION AS OF {version}")
        except (PySparkException, Py4JError):  # its log, or this version of it, is not there any more
            return None

    def append(
        self,
        table: Table,
        rows: DataFrame,
        lineage: Mapping[str, Any],
        once: str | None = None,
        *,
        skip_empty: bool = False,
    ) -> None:
        """Add rows in one commit.

        Args:
            rows: with the table's columns; others are ignored.
            lineage: written to the commit's ``userMetadata``.
            once: an id of this content; a second append with it is skipped.
            skip_empty: whether no rows make no commit, and no table.
        """
        of_table = None if once is None else f"{table.name}/{once}"
        self._write(table, rows, Commit(_metadata(lineage), once=of_table, skip_empty=skip_empty))

    def append_row(self, table: Table, row: Mapping[str, Any], lineage: Mapping[str, Any]) -> None:
        """Add one row in one commit. The row has no secrets."""
        self.ensure(table)
        self.storage.write_row(table, row, _metadata(lineage))
        self._identities.pop(self.own_name(table), None)

    def replace(self, table: Table, rows: DataFrame, lineage: Mapping[str, Any], where: str = EVERYTHING) -> None:
        """Replace all rows, or those that ``where`` selects, in one commit."""
        self._write(table, rows, Commit(_metadata(lineage), where))

    def _write(self, table: Table, rows: DataFrame, commit: Commit) -> None:
        types = {field.name: field.dataType for field in rows.schema}
        fitting = [
            rows[field.name] if types.get(field.name) == field.dataType else rows[field.name].cast(field.dataType)
            for field in table.schema
        ]
        self.storage.write(table, without_secrets(rows.select(*fitting)), commit)
        self._identities.pop(self.own_name(table), None)

    def delete(self, table: Table, where: str, lineage: Mapping[str, Any]) -> None:
        """Delete the rows that ``where`` selects; without any, make no commit."""
        self.storage.delete(table, where, _metadata(lineage))
        self._identities.pop(self.own_name(table), None)

    def delete_keys(
        self, table: Table, keys: DataFrame, column: str, lineage: Mapping[str, Any], where: str = EVERYTHING
    ) -> None:
        """Delete the rows whose ``column`` is among ``keys`` (one column, distinct), in one commit."""
        if self.exists(table):
            self.storage.delete_keys(table, keys, column, where, _metadata(lineage))
            self._identities.pop(self.own_name(table), None)

    def identity(self, table: Table) -> str | None:
        """Return ``<table id>:<version of its last data-changing commit>``; None where there is no table.

        Commits of OPTIMIZE, constraints or properties do not count as changes.
        """
        name = self.own_name(table)
        if name not in self._identities:
            self._identities[name] = self.storage.identity(table) if self.exists(table) else None
        return self._identities[name]

    def size(self, table: Table) -> int:
        """Return the bytes of the table's present version; 0 where there is no table."""
        return self.storage.size(table) if self.exists(table) else 0

    def commits(self, table: Table, run_id: str) -> list[dict[str, Any]]:
        """Return the lineage of the table's commits by one run."""
        found = self.storage.commits(table, run_id) if self.exists(table) else []
        return [json.loads(metadata) for metadata in found]

    def register(self, views: Mapping[str, View], tables: Iterable[Table] = TABLES.values()) -> None:
        """Register tables and views by name in this session, for SQL; the tables include those that the views read.

        Views over missing tables are left out. Other names of the session stay as they are.
        """
        tables = list(tables)
        if self.settings.catalog:
            self.spark.catalog.setCurrentCatalog(self.settings.catalog)
        elif self._of_this_session():
            self._drop(views, tables)
        try:
            for statement in self.catalog_statements(views, tables):
                self.spark.sql(statement)
        except AnalysisException:
            if (older := self._older(tables)) is not None:
                raise InputError(older) from None
            raise

    def _older(self, tables: Iterable[Table]) -> str | None:
        """Return which of these tables an older version wrote without a column of today, and what cures that."""
        for table in filter(self.exists, tables):
            there = self.spark.table(self.reference(table)).columns
            if lacking := [name for name in table.columns if name not in there]:
                done = [row for row in self.rows(STAGE_RUNS) if row["output_version"] == self.identity(table)]
                stage = done[-1]["stage"] if done else "the stage that writes it (docs/tables.md)"
                return (
                    f"{table.name} was written by an older version, without {', '.join(lacking)}: run {stage} again, "
                    "which adds them"
                )
        return None

    def _of_this_session(self) -> bool:
        """Return whether names are those of this session alone."""
        kept = self.spark.conf.get("spark.sql.catalogImplementation", "in-memory")
        return not self.settings.catalog and kept == "in-memory"

    def _drop(self, views: Iterable[str], tables: Iterable[Table]) -> None:
        """Drop these names of the session, where another lakehouse's definitions may stand under them."""
        schemas = [row[0] for row in self.spark.sql("SHOW SCHEMAS").collect()]
        shown = (self.spark.sql(f"SHOW TABLES IN `{schema}`") for schema in schemas)
        there = {f"{row.namespace}.{row.tableName}" for names in shown for row in names.collect()}
        wanted = there & {*views, *(table.name for table in tables)}
        shown = (self.spark.sql(f"SHOW VIEWS IN `{schema}`") for schema in {name.split(".")[0] for name in wanted})
        as_views = {f"{row.namespace}.{row.viewName}" for names in shown for row in names.collect()}
        for name in sorted(wanted):
            self.spark.sql(f"DROP {'VIEW' if name in as_views else 'TABLE'} {name}")

    def catalog_statements(self, views: Mapping[str, View], tables: Iterable[Table] = TABLES.values()) -> list[str]:
        """Return the SQL that registers tables and views in an in-memory metastore."""
        tables = list(tables)
        present = [table for table in tables if self.exists(table)]
        # In a catalog that stays, a view would stand in the way of the table.
        clean = self._of_this_session() and not self.settings.set
        none = [table for table in tables if clean and table.empty_if_absent and table not in present]
        names = (*(table.name for table in (*present, *none)), *views)
        schemas = dict.fromkeys(self.named(name).partition(".")[0] for name in names)
        statements = [f"CREATE SCHEMA IF NOT EXISTS {schema}" for schema in schemas]
        if not self.settings.catalog:
            statements += [self._registration(table) for table in present]
        statements += map(empty_statement, none)
        statements += view_statements(views, TABLES.keys() - {table.name for table in (*present, *none)})
        return list(map(self.named, statements))

    def _registration(self, table: Table) -> str:
        """Return the SQL that gives a table in a folder its name in an in-memory metastore.

        A set's ledger and log are views, to which the rows of stages that it did not run itself are added: those of the
        lakehouse, which made the tables before.
        """
        shared = self.of_set("")
        with_shared = self.settings.set and table in (DROPPED, STAGE_RUNS) and shared.exists(table)
        if with_shared and self.exists(STAGE_RUNS):
            own = f"SELECT stage FROM {self.reference(STAGE_RUNS)}"
            before = f"SELECT * FROM {shared.reference(table)} WHERE stage NOT IN ({own})"
            return (
                f"CREATE OR REPLACE VIEW {table.name} COMMENT {sql_text(table.comment)} "
                f"AS SELECT * FROM {self.reference(table)} UNION ALL {before}"
            )
        return f"CREATE TABLE IF NOT EXISTS {table.name} {self.storage.location(table)}"

    def named(self, sql: str) -> str:
        """Return SQL, or one name, with ``lakehouse.schema_prefix`` before and the set after the names of schemas."""
        if not self.prefix and not self.suffix:
            return sql
        return names_in_sql().sub(lambda found: f"{self.prefix}{in_set(found[1], self.suffix)}", sql)


def _metadata(lineage: Mapping[str, Any]) -> str:
    """Return a commit's ``userMetadata``."""
    return redacted(json.dumps(dict(lineage)))
