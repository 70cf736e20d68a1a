"""Create, read and write Delta tables with Spark: in a catalog, an object store or a folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.settings import LakehouseSettings
from etl.pipeline.delta_log import DATA_CHANGES, DamagedLogError, last_data_change
from etl.pipeline.folders import located
from etl.pipeline.session import configured
from etl.pipeline.spark_api import is_delta_table
from etl.pipeline.tables import Table, in_set
from etl.pipeline.tables.model import sql_text

# Readable by any Delta reader, and history kept long enough for resume to find the last data change.
PROPERTIES = {
    "delta.enableDeletionVectors": "false",
    "delta.checkpointPolicy": "classic",
    "delta.logRetentionDuration": "interval 365 days",
    "delta.deletedFileRetentionDuration": "interval 30 days",
}
METADATA = "spark.databricks.delta.commitInfo.userMetadata"


EVERYTHING = "true"
"""The condition that selects all rows."""


@dataclass(frozen=True)
class Commit:
    """A commit that writes rows: its metadata, and the rows that it replaces.

    Attributes:
        metadata: its ``userMetadata``.
        where: the rows that it replaces, as an SQL condition; None: it appends.
        once: an id of its content, which is not appended a second time.
        skip_empty: whether no rows make no commit, and no table.
    """

    metadata: str
    where: str | None = None
    once: str | None = None
    skip_empty: bool = False


class SparkTables:
    """The tables of one lakehouse in one session, as Spark keeps them; subclasses keep them in other ways.

    Args:
        settings: where the tables are: a catalog, or a folder with ``<root>/<schema>/<table>``.
    """

    def __init__(self, spark: SparkSession, settings: LakehouseSettings) -> None:
        self.spark = spark
        self.settings = settings

    def exists(self, table: Table) -> bool:
        """Return whether the table is there."""
        if self.settings.catalog:
            return bool(self.spark.catalog.tableExists(self._reference(table)))
        return is_delta_table(self.spark, self.folder(table))

    def create(self, table: Table) -> None:
        """Create a table that is not there, with comments, CHECKs and properties."""
        reference = self._reference(table)
        if self.settings.catalog:
            self._make_schema(reference.rpartition(".")[0])
        self.spark.sql(table.creation(reference, PROPERTIES))

    def _make_schema(self, schema: str) -> None:
        """Create a schema of the catalog that is not there, and let ``lakehouse.readers`` read its tables."""
        new = bool(self.settings.readers) and not self.spark.catalog.databaseExists(schema)
        self.spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        if new:
            self.spark.sql(f"GRANT USE SCHEMA, SELECT ON SCHEMA {schema} TO `{self.settings.readers}`")

    def read(self, table: Table) -> DataFrame:
        """Return the table's rows; none where it was never written. Columns that it lacks yet are null."""
        if not self.exists(table):
            return self.no_rows(table)
        rows = self.spark.table(self._reference(table))
        newer = [field for field in table.schema if field.name not in rows.columns]
        return rows.select("*", *[F.lit(None).cast(field.dataType).alias(field.name) for field in newer])

    def no_rows(self, table: Table) -> DataFrame:
        """Return a frame of the table's columns without rows. Its limit lets Spark leave it out of a plan."""
        return self.spark.createDataFrame([], table.schema).limit(0)

    def rows(self, table: Table) -> list[dict[str, Any]]:
        """Return the rows of a table that fits into the driver."""
        return [row.asDict(recursive=True) for row in self.read(table).collect()]

    def write(self, table: Table, rows: DataFrame, commit: Commit) -> None:
        """Write rows with the table's columns in one commit; a table that is not there is created."""
        if commit.skip_empty and rows.isEmpty():
            return
        if not self.exists(table):
            self.create(table)
        # mergeSchema: new columns enter older tables.
        options = {"mergeSchema": "true", "userMetadata": commit.metadata}
        options |= {} if commit.where in (None, EVERYTHING) else {"replaceWhere": str(commit.where)}
        options |= {} if commit.once is None else {"txnAppId": commit.once, "txnVersion": "1"}
        mode = "append" if commit.where is None else "overwrite"
        writer = rows.write.format("delta").mode(mode).options(**options)
        if self.settings.catalog:
            writer.saveAsTable(self._reference(table))
        else:
            writer.save(self.folder(table))

    def write_row(self, table: Table, row: Mapping[str, Any], metadata: str) -> None:
        """Append one row, a value for each column, to a table that is there."""
        values = tuple(row[name] for name in table.columns)
        self.write(table, self.spark.createDataFrame([values], table.schema).coalesce(1), Commit(metadata))

    def delete(self, table: Table, where: str, metadata: str) -> None:
        """Delete the rows that an SQL condition selects; without any, make no commit."""
        if self.exists(table) and not self.read(table).where(where).isEmpty():
            with configured(self.spark, METADATA, metadata):
                self.spark.sql(f"DELETE FROM {self._reference(table)} WHERE {where}")

    def delete_keys(self, table: Table, keys: DataFrame, column: str, where: str, metadata: str) -> None:
        """Delete the rows under ``where`` whose ``column`` is among ``keys`` (one column, distinct), as ``kept``."""
        keys.toDF("gone_key").createOrReplaceTempView("edos_gone_keys")
        with configured(self.spark, METADATA, metadata):
            self.spark.sql(
                f"MERGE INTO {self._reference(table)} AS kept USING edos_gone_keys AS gone "
                f"ON kept.{column} = gone.gone_key AND {where} WHEN MATCHED THEN DELETE"
            )
        self.spark.catalog.dropTempView("edos_gone_keys")

    def identity(self, table: Table) -> str:
        """Return ``<table id>:<version of the last commit that changed data>`` of a table that is there."""
        place = None if self.settings.catalog else self.folder(table)
        try:
            found = last_data_change(self.spark, place) if place else None
        except ValueError as error:
            raise DamagedLogError(f"error while reading file {place}/_delta_log/: {error}") from error
        if found is not None:
            return f"{found[0]}:{found[1]}"
        table_id = self._detail(table, "id")
        history = self._history(table).select("version", "operation")
        version = max((row.version for row in history.toLocalIterator() if row.operation in DATA_CHANGES), default=0)
        return f"{table_id}:{version}"

    def commits(self, table: Table, run_id: str) -> list[str]:
        """Return the ``userMetadata`` of the commits of a table that is there, of those that name a run."""
        history = self._history(table)
        found = history.where(history.userMetadata.contains(run_id)).select("userMetadata").collect()
        return [row.userMetadata for row in found]

    def size(self, table: Table) -> int:
        """Return the bytes of a table that is there."""
        return int(self._detail(table, "sizeInBytes"))

    def location(self, table: Table) -> str:
        """Return format and place of a table that is there, as ``USING ... LOCATION ...``, for a metastore."""
        return f"USING delta LOCATION {sql_text(self.folder(table))}"

    def total(self, table: Table, where: tuple[str, str], units: str | None) -> int | None:
        """Return the sum of a column over the rows whose column has a value, or their count; None: Spark must count.

        Args:
            where: column and value.
            units: the column that is summed; None counts.
        """
        return None

    def folder(self, table: Table) -> str:
        """Return the table's folder."""
        return located(path_of(self.settings, table))

    def _reference(self, table: Table) -> str:
        return reference_of(self.settings, table)

    def _detail(self, table: Table, column: str) -> Any:
        found = self.spark.sql(f"DESCRIBE DETAIL {self._reference(table)}").select(column).first()
        assert found is not None
        return found[0]

    def _history(self, table: Table) -> DataFrame:
        return self.spark.sql(f"DESCRIBE HISTORY {self._reference(table)}")


def path_of(settings: LakehouseSettings, table: Table) -> str:
    """Return a table's path when no catalog holds it."""
    return f"{settings.root.rstrip('/')}/{in_set(table.name, settings.set).replace('.', '/')}"


def reference_of(settings: LakehouseSettings, table: Table) -> str:
    """Return a table's name in SQL."""
    if settings.catalog:
        return f"`{settings.catalog}`.{settings.schema_prefix}{in_set(table.name, settings.set)}"
    return f"delta.`{located(path_of(settings, table)).replace('`', '``')}`"
