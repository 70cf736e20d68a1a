"""Query a lakehouse from DuckDB, without Spark or Java."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conf.taxonomy import load_taxonomy
from etl.pipeline.tables import TABLES, View, present_views
from etl.publishing.duckdb_sql import duckdb_type, duckdb_view
from etl.publishing.views import all_views

if TYPE_CHECKING:
    import duckdb


def connect(root: str | Path, views: Mapping[str, View] | None = None) -> "duckdb.DuckDBPyConnection":
    """Return a DuckDB connection with the Delta tables under a folder by ``schema.table``, and all views over them.

    Files are read when a query needs them, and only the columns that it names. Views over tables that are not there,
    or that another version wrote without a column, are left out; a ledger or quarantine that is not there is empty.

    Args:
        root: ``lakehouse.root``, a local folder.
        views: of ``etl.publishing.views``; None: those of the papers' taxonomies.

    Raises:
        FileNotFoundError: there is no Delta table under the folder.
    """
    import deltalake

    logs = sorted(Path(root).glob("*/*/_delta_log"))
    if not logs:
        raise FileNotFoundError(f"no Delta tables under {root}: name the folder that lakehouse.root names")
    found = {".".join(log.parts[-3:-1]): deltalake.DeltaTable(log.parent).to_pyarrow_dataset() for log in logs}
    return connected(found, views)


def connected(tables: Mapping[str, Any], views: Mapping[str, View] | None = None) -> "duckdb.DuckDBPyConnection":
    """Return a DuckDB connection with Arrow tables or data sets as views by their names, and all views over them."""
    import duckdb

    connection = duckdb.connect()
    for name, rows in tables.items():
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name.split('.')[0]}")
        connection.register(name.replace(".", "__"), rows)
        connection.execute(f'CREATE VIEW {name} AS SELECT * FROM "{name.replace(".", "__")}"')
        _describe(connection, "VIEW", name, rows.schema.names)
    none = [name for name, table in TABLES.items() if table.empty_if_absent and name not in tables]
    for name in none:
        add_empty(connection, name)
        _describe(connection, "TABLE", name, [column.name for column in TABLES[name].described])
    known = all_views(load_taxonomy("edos")) if views is None else views
    absent = TABLES.keys() - tables.keys() - set(none)
    for name, view in present_views(known, absent).items():
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name.split('.')[0]}")
        try:
            connection.execute(f"CREATE VIEW {name} AS {duckdb_view(name, view.sql)}")
        except (duckdb.BinderException, duckdb.CatalogException):
            continue  # over a table of another version, without a column, or over a view that was left out
        connection.execute(f"COMMENT ON VIEW {name} IS {_text(view.comment)}")
        for column, meaning in view.columns.items():
            connection.execute(f'COMMENT ON COLUMN {name}."{column}" IS {_text(meaning)}')
    return connection


def _describe(connection: "duckdb.DuckDBPyConnection", kind: str, name: str, columns: Collection[str]) -> None:
    """Add what a declared table and its columns are, as comments; a table of others, or of a named set, gets none."""
    if name not in TABLES:
        return
    connection.execute(f"COMMENT ON {kind} {name} IS {_text(TABLES[name].comment)}")
    for column in TABLES[name].described:
        if column.name in columns and column.comment:
            connection.execute(f'COMMENT ON COLUMN {name}."{column.name}" IS {_text(column.comment)}')


def _text(value: str) -> str:
    """Return a SQL string literal of DuckDB."""
    return "'" + value.replace("'", "''") + "'"


def add_empty(connection: "duckdb.DuckDBPyConnection", name: str) -> None:
    """Add a table without rows, with the columns that it is declared with."""
    columns = ", ".join(f'"{column.name}" {duckdb_type(column.kind)}' for column in TABLES[name].described)
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name.split('.')[0]}")
    connection.execute(f"CREATE TABLE {name} ({columns})")
