"""Read and write Delta tables; no other module does."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.redaction import redacted
from conf.settings import LakehouseSettings
from etl.pipeline import local_delta
from etl.pipeline.delta_log import DATA_CHANGES, last_data_change
from etl.pipeline.folders import located
from etl.pipeline.session import configured
from etl.pipeline.spark_api import arrow_table, is_delta_table, is_local
from etl.tables import NAMES, TABLES, Table, view_statements
from etl.tables.hidden_secrets import without_secrets
from etl.tables.model import sql_text

# Readable by any Delta reader, and history kept long enough for resume to find the last data change.
PROPERTIES = {
    "delta.enableDeletionVectors": "false",
    "delta.checkpointPolicy": "classic",
    "delta.logRetentionDuration": "interval 365 days",
    "delta.deletedFileRetentionDuration": "interval 30 days",
}
CHANGE_FEED = "delta.enableChangeDataFeed"
CHECK = "delta.constraints."
_GLOB = "__globPaths__"
"""Spark's own option: false reads ``[x]``, ``{x}`` and ``*`` in a path as they are."""
METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_ONE_TASK = 256 << 10  # bytes of a table that one task reads


class Lakehouse:
    """The tables of one lakehouse in one Spark session.

    Args:
        spark: a session with Delta.
        settings: where the tables are: a catalog, or a folder with ``<root>/<schema>/<table>``.
        small: whether what is written fits into the driver: tables in local folders are then written by delta-rs.
    """

    def __init__(self, spark: SparkSession, settings: LakehouseSettings, *, small: bool = False) -> None:
        self.spark = spark
        self.settings = settings
        self.small = small
        self.prefix = settings.schema_prefix if settings.catalog else ""
        self._identities: dict[str, str | None] = {}
        self._tables: dict[str, Any] = {}

    def path(self, table: Table) -> str:
        """Return the table's path when no catalog holds it."""
        return f"{self.settings.root.rstrip('/')}/{table.name.replace('.', '/')}"

    def reference(self, table: Table) -> str:
        """Return the table's name in SQL."""
        if self.settings.catalog:
            return f"`{self.settings.catalog}`.{self.prefix}{table.name}"
        return f"delta.`{located(self.path(table)).replace('`', '``')}`"

    def exists(self, table: Table) -> bool:
        if self.settings.catalog:
            return bool(self.spark.catalog.tableExists(self.reference(table)))
        return is_delta_table(self.spark, located(self.path(table)))

    def ensure(self, table: Table) -> None:
        """Create the table with comments, CHECKs and properties unless it exists."""
        if self.exists(table):
            return
        properties = PROPERTIES | ({CHANGE_FEED: "true"} if table.name in self.settings.change_data_feed else {})
        if (folder := self._local_folder(table)) is not None:
            local_delta.create(folder, table, properties)
        else:
            if self.settings.catalog:
                self.spark.sql(f"CREATE SCHEMA IF NOT EXISTS {self.reference(table).rpartition('.')[0]}")
            self.spark.sql(table.creation(self.reference(table), properties))
        self._identities.pop(table.name, None)

    def feed_changes(self, table: Table) -> None:
        """Turn the change data feed of a table on, from its next commit, if the table is there without one."""
        if self.exists(table):
            detail = self.spark.sql(f"DESCRIBE DETAIL {self.reference(table)}").select("properties").first()
            if detail is not None and detail[0].get(CHANGE_FEED) != "true":
                self.spark.sql(f"ALTER TABLE {self.reference(table)} SET TBLPROPERTIES ('{CHANGE_FEED}' = 'true')")

    def renew_checks(self, table: Table) -> bool:
        """Replace the CHECKs of a table that an earlier version of the program made; return whether any differed.

        A CHECK whose rule changes gets another name, so that names alone are compared.
        """
        if not self.exists(table):
            return False
        reference = self.reference(table)
        detail = self.spark.sql(f"DESCRIBE DETAIL {reference}").select("properties").first()
        known = {key.removeprefix(CHECK) for key in (detail[0] if detail is not None else {}) if key.startswith(CHECK)}
        for name in sorted(known - table.checks.keys()):
            self.spark.sql(f"ALTER TABLE {reference} DROP CONSTRAINT {name}")
        for name in sorted(table.checks.keys() - known):
            self.spark.sql(f"ALTER TABLE {reference} ADD CONSTRAINT {name} CHECK ({table.checks[name]})")
        return known != set(table.checks)

    def read(self, table: Table) -> DataFrame:
        """Return the table's rows; none where the table was never written. Columns that it lacks yet are null."""
        small = self._small(table)
        if small is not None and (parts := local_delta.stored_files(small, str(self._local_folder(table)))):
            # Spark takes half a second to read a changed table's log, and a tenth of that to find these files.
            plain = {"basePath": str(self._local_folder(table)), _GLOB: "false"}
            found = self.spark.read.schema(table.ddl).options(**plain).parquet(*parts)
            rows = found.select(*table.columns) if table.partitioned_by else found
            # Frames built on one partition need no exchange, which takes Spark longer than so few rows.
            return rows.coalesce(1) if local_delta.stored_bytes(small) <= _ONE_TASK else rows
        if small is not None or not self.exists(table):
            # The limit lets Spark leave an empty frame out of the plan.
            return self.spark.createDataFrame([], table.schema).limit(0)
        rows = self.spark.table(self.reference(table))
        newer = [field for field in table.schema if field.name not in rows.columns]
        return rows.select("*", *[F.lit(None).cast(field.dataType).alias(field.name) for field in newer])

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
            table: the table.
            rows: with the table's columns; others are ignored.
            lineage: written to the commit's ``userMetadata``.
            once: an id of this content; a second append with it is skipped.
            skip_empty: whether no rows make no commit, and no table.
        """
        self._write(table, rows, lineage, None, f"{table.name}/{once}" if once is not None else None, skip_empty)

    def append_row(self, table: Table, row: Mapping[str, Any], lineage: Mapping[str, Any]) -> None:
        """Add one row in one commit, in a local folder without Spark. The row has no secrets."""
        self.ensure(table)
        if (opened := self._opened(table)) is not None:
            local_delta.write(opened, local_delta.as_arrow(table, [row]), _metadata(lineage))
        else:
            values = tuple(row[name] for name in table.columns)
            self.append(table, self.spark.createDataFrame([values], table.schema).coalesce(1), lineage)
        self._identities.pop(table.name, None)

    def rows(self, table: Table) -> list[dict[str, Any]]:
        """Return the rows of a small table."""
        found = None if (opened := self._opened(table)) is None else local_delta.rows(opened, table)
        return [row.asDict(recursive=True) for row in self.read(table).collect()] if found is None else found

    def small_total(self, table: Table, where: tuple[str, str], units: str | None) -> int | None:
        """Return `local_delta.total` of a table in a run on little data; None where Spark must count."""
        return None if (small := self._small(table)) is None else local_delta.total(small, where, units)

    def _small(self, table: Table) -> Any:
        """Return the table as `_opened` does, in a run on little data and if its changes are not followed."""
        return self._opened(table) if self._by_delta_rs(table) else None

    def _by_delta_rs(self, table: Table) -> bool:
        return self.small and table.name not in self.settings.change_data_feed and self._local_folder(table) is not None

    def _opened(self, table: Table) -> Any:
        """Return the table as `local_delta.opened` does; None where it is in no local folder."""
        if (folder := self._local_folder(table)) is None:
            return None
        self._tables[folder] = local_delta.opened(folder, self._tables.get(folder))
        return self._tables[folder]

    def _local_folder(self, table: Table) -> str | None:
        """Return the folder of a table that delta-rs may write: one of this machine, in a session on it."""
        path = located(self.path(table))
        usable = not self.settings.catalog and path.startswith("/") and is_local(self.spark)
        return path if usable and local_delta.available() and local_delta.keeps(path) else None

    def replace(
        self, table: Table, rows: DataFrame, lineage: Mapping[str, Any], where: str = local_delta.EVERYTHING
    ) -> None:
        """Replace all rows, or those that ``where`` selects, in one commit."""
        self._write(table, rows, lineage, where)

    def _write(
        self,
        table: Table,
        rows: DataFrame,
        lineage: Mapping[str, Any],
        where: str | None = None,
        once: str | None = None,
        skip_empty: bool = False,
    ) -> None:
        """Append rows, or replace those that ``where`` selects; few rows are collected and written by delta-rs."""
        types = {field.name: field.dataType for field in rows.schema}
        rows = without_secrets(
            rows.select(
                *[
                    rows[field.name]
                    if types.get(field.name) == field.dataType
                    else rows[field.name].cast(field.dataType)
                    for field in table.schema
                ]
            )
        )
        few = arrow_table(rows, table.schema) if self._by_delta_rs(table) else None
        if skip_empty and (rows.isEmpty() if few is None else few.num_rows == 0):
            return
        self.ensure(table)
        if few is not None and (small := self._opened(table)) is not None:
            local_delta.write(small, few, _metadata(lineage), where=where, once=once)
        else:
            # mergeSchema: new columns enter older tables.
            options = {"mergeSchema": "true", "userMetadata": _metadata(lineage)}
            options |= {} if where in (None, local_delta.EVERYTHING) else {"replaceWhere": where}
            options |= {} if once is None else {"txnAppId": once, "txnVersion": "1"}
            writer = rows.write.format("delta").mode("append" if where is None else "overwrite").options(**options)
            if self.settings.catalog:
                writer.saveAsTable(self.reference(table))
            else:
                writer.save(located(self.path(table)))
        self._identities.pop(table.name, None)

    def delete(self, table: Table, where: str, lineage: Mapping[str, Any]) -> None:
        """Delete the rows that ``where`` selects; without any, make no commit."""
        if (small := self._small(table)) is not None:
            local_delta.delete(small, where, _metadata(lineage))
            self._identities.pop(table.name, None)
        elif self.exists(table) and not self.read(table).where(where).isEmpty():
            with configured(self.spark, METADATA, _metadata(lineage)):
                self.spark.sql(f"DELETE FROM {self.reference(table)} WHERE {where}")
            self._identities.pop(table.name, None)

    def delete_keys(
        self, table: Table, keys: DataFrame, column: str, lineage: Mapping[str, Any], where: str = "true"
    ) -> None:
        """Delete the rows whose ``column`` is among ``keys`` (one column, distinct), in one commit."""
        if not self.exists(table):
            return
        keys.toDF("gone_key").createOrReplaceTempView("edos_gone_keys")
        with configured(self.spark, METADATA, _metadata(lineage)):
            self.spark.sql(
                f"MERGE INTO {self.reference(table)} AS kept USING edos_gone_keys AS gone "
                f"ON kept.{column} = gone.gone_key AND {where} WHEN MATCHED THEN DELETE"
            )
        self.spark.catalog.dropTempView("edos_gone_keys")
        self._identities.pop(table.name, None)

    def identity(self, table: Table) -> str | None:
        """Return ``<table id>:<version of its last data-changing commit>``; None where there is no table.

        Commits of OPTIMIZE, constraints or properties do not count as changes.
        """
        if table.name not in self._identities:
            self._identities[table.name] = self._read_identity(table)
        return self._identities[table.name]

    def _read_identity(self, table: Table) -> str | None:
        if not self.exists(table):
            return None
        located_at = None if self.settings.catalog else located(self.path(table))
        try:
            found = last_data_change(self.spark, located_at) if located_at else None
        except ValueError as error:
            raise ValueError(f"error while reading file {located_at}/_delta_log/: {error}") from error
        if found is not None:
            return f"{found[0]}:{found[1]}"
        reference = self.reference(table)
        table_id = self.spark.sql(f"DESCRIBE DETAIL {reference}").select("id").first()[0]  # type: ignore[index]
        history = self.spark.sql(f"DESCRIBE HISTORY {reference}").select("version", "operation")
        version = max((row.version for row in history.toLocalIterator() if row.operation in DATA_CHANGES), default=0)
        return f"{table_id}:{version}"

    def size(self, table: Table) -> int:
        """Return the bytes of the table's present version; 0 where there is no table."""
        if not self.exists(table):
            return 0
        detail = self.spark.sql(f"DESCRIBE DETAIL {self.reference(table)}")
        return int(detail.select("sizeInBytes").first()[0])  # type: ignore[index]

    def commits(self, table: Table, run_id: str) -> list[dict[str, Any]]:
        """Return the lineage of the table's commits by one run."""
        if not self.exists(table):
            return []
        history = self.spark.sql(f"DESCRIBE HISTORY {self.reference(table)}")
        found = history.where(history.userMetadata.contains(run_id)).select("userMetadata").collect()
        return [json.loads(row.userMetadata) for row in found]

    def register(self, views: Mapping[str, tuple[str, str]], tables: Iterable[Table] = TABLES.values()) -> None:
        """Register tables and views by name in this session, for SQL; the tables include those that the views read.

        Views over missing tables are left out. Other names of the session stay as they are.
        """
        tables = list(tables)
        if self.settings.catalog:
            self.spark.catalog.setCurrentCatalog(self.settings.catalog)
        elif self.spark.conf.get("spark.sql.catalogImplementation", "in-memory") == "in-memory":
            self._drop(views, tables)
        for statement in self.catalog_statements(views, tables):
            self.spark.sql(statement)

    def _drop(self, views: Iterable[str], tables: Iterable[Table]) -> None:
        """Drop these names of the session, where another lakehouse's definitions may stand under them."""
        schemas = [row[0] for row in self.spark.sql("SHOW SCHEMAS").collect()]
        shown = (self.spark.sql(f"SHOW TABLES IN `{schema}`") for schema in schemas)
        there = {f"{row.namespace}.{row.tableName}" for names in shown for row in names.collect()}
        for kind, wanted in (("VIEW", set(views)), ("TABLE", {table.name for table in tables})):
            for name in there & wanted:
                self.spark.sql(f"DROP {kind} {name}")

    def catalog_statements(
        self, views: Mapping[str, tuple[str, str]], tables: Iterable[Table] = TABLES.values()
    ) -> list[str]:
        """Return the SQL that registers tables and views in an in-memory metastore."""
        present = [table for table in tables if self.exists(table)]
        schemas = dict.fromkeys(name.split(".")[0] for name in (*(table.name for table in present), *views))
        statements = [f"CREATE SCHEMA IF NOT EXISTS {self.prefix}{schema}" for schema in schemas]
        if not self.settings.catalog:
            statements += [
                f"CREATE TABLE IF NOT EXISTS {table.name} USING delta LOCATION {sql_text(located(self.path(table)))}"
                for table in present
            ]
        statements += view_statements(views, TABLES.keys() - {table.name for table in present})
        return list(map(self.named, statements))

    def named(self, sql: str) -> str:
        """Return SQL, or one name, with ``lakehouse.schema_prefix`` before the names of tables and views."""
        return NAMES.sub(rf"{self.prefix}\1", sql) if self.prefix else sql


def _metadata(lineage: Mapping[str, Any]) -> str:
    """Return a commit's ``userMetadata``."""
    return redacted(json.dumps(dict(lineage)))
