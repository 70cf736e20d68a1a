"""Views over stand-ins of their tables: temporary views, empty until rows are given."""

import re
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from etl.pipeline.tables import TABLES, View
from etl.publishing.duckdb_sql import duckdb_view
from etl.publishing.views import named_in
from etl.publishing.without_spark import add_empty
from tests.both_engines import difference


class StandIns:
    """Tables and views of the lakehouse under names of their own in a session.

    Args:
        spark: the session.
        views: by name.
    """

    def __init__(self, spark: SparkSession, views: dict[str, View]) -> None:
        self.spark = spark
        self.views = views
        self.made: set[str] = set()
        self.current: set[str] = set()  # views over the tables as they are
        self.given: dict[str, DataFrame] = {}
        self.in_arrow: dict[str, pa.Table] = {}
        names = sorted((*TABLES, *self.views), key=len, reverse=True)
        self._names = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")

    def give(self, table: str, rows: DataFrame) -> None:
        """Put rows into a table; columns that they lack are null."""
        empty = self.none_of(table)
        every = empty.unionByName(rows, allowMissingColumns=True).select(*empty.columns)
        every.createOrReplaceTempView(self._here(table))
        self.given[table] = every
        self.in_arrow.pop(table, None)
        if table in self.made:
            self.current.clear()
        self.made.add(table)

    def none_of(self, table: str) -> DataFrame:
        """Return no rows of a table; the limit lets Spark leave them out of the plan."""
        return self.spark.createDataFrame([], TABLES[table].schema).limit(0)

    def ask(self, view: str) -> list[Row]:
        """Return the rows of ``analysis.<view>``, over what was given until now; DuckDB must have the same."""
        name = view if "." in view else f"analysis.{view}"
        assert self.views[name].comment.endswith("."), "a comment is a sentence"
        found = self.spark.sql(self.sql(self.views[name].sql))
        rows = found.collect()
        unequal = difference(found.columns, rows, *self.by_duckdb(name))
        assert unequal is None, f"{name}: {unequal}"
        return rows

    def by_duckdb(self, name: str) -> tuple[list[str], list[Any]]:
        """Return the columns and the rows of a view in DuckDB, over what was given until now."""
        import duckdb

        views, tables = named_in([name], self.views)
        with duckdb.connect() as connection:
            for schema in {one.split(".")[0] for one in (*views, *(table.name for table in tables))}:
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
            for table in tables:
                add_empty(connection, table.name)
                if (given := self.given.get(table.name)) is not None:
                    if table.name not in self.in_arrow:
                        self.in_arrow[table.name] = as_arrow(given)
                    connection.register("given", self.in_arrow[table.name])
                    connection.execute(f"INSERT INTO {table.name} BY NAME SELECT * FROM given")
            for view in views:
                connection.execute(f"CREATE VIEW {view} AS {duckdb_view(view, views[view].sql)}")
            found = connection.execute(f"SELECT * FROM {name}")
            return [one[0] for one in found.description or ()], found.fetchall()

    def sql(self, text: str) -> str:
        """Return SQL over the stand-ins, which are made where they are not there."""
        for name in dict.fromkeys(self._names.findall(text)):
            if name in self.views and name not in self.current:
                self.spark.sql(self.sql(self.views[name].sql)).createOrReplaceTempView(self._here(name))
                self.made.add(name)
                self.current.add(name)
            elif name in TABLES and name not in self.made:
                self.give(name, self.none_of(name))
        return self._names.sub(lambda found: self._here(found[0]), text)

    def drop(self) -> None:
        """Drop what was made."""
        for name in self.made:
            self.spark.catalog.dropTempView(self._here(name))

    def _here(self, name: str) -> str:
        return f"stand_in_{id(self)}_{name.replace('.', '_')}"


def as_arrow(frame: DataFrame) -> pa.Table:
    """Return the rows of a frame as an Arrow table of the same types."""
    rows = [row.asDict(recursive=True) for row in frame.collect()]
    return pa.Table.from_pylist(rows, schema=to_arrow_schema(frame.schema))
