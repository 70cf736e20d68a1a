"""Query a lakehouse from DuckDB, without Spark or Java."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conf.taxonomy import load_taxonomy
from etl.pipeline.local_delta import files_of
from etl.pipeline.tables import TABLES, View, in_set, names_in_sql, present_views
from etl.pipeline.tables.ops import DROPPED, STAGE_RUNS
from etl.publishing.duckdb_sql import duckdb_type, duckdb_view
from etl.publishing.views import all_views

if TYPE_CHECKING:
    import duckdb


def connect(root: str | Path, views: Mapping[str, View] | None = None) -> "duckdb.DuckDBPyConnection":
    """Return a DuckDB connection with the Delta tables under a folder by ``schema.table``, and all views over them.

    A named set (``lakehouse.set``) has its tables and views in schemas that end in its name: ``edos_NAME.turns``.

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
    opened = {".".join(log.parts[-3:-1]): deltalake.DeltaTable(log.parent) for log in logs}
    found = {name: table.to_pyarrow_dataset(filesystem=files_of(table)) for name, table in opened.items()}
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
    sets = [
        name.partition("_")[2].partition(".")[0]
        for name in tables
        if name.startswith("ops_") and name.endswith(".stage_runs")
    ]
    for own in ("", *sets):
        if own:
            _share_ledgers(connection, tables, own)
        absent = {name for name in TABLES if (there := in_set(name, own)) not in tables and there not in none}
        _add_views(connection, present_views(known, absent), own)
    return connection


def _share_ledgers(connection: "duckdb.DuckDBPyConnection", tables: Collection[str], own: str) -> None:
    """Add the rows of stages that a set did not run itself to its ledger and log, as Spark's views have them."""
    runs = in_set(STAGE_RUNS.name, own).replace(".", "__")
    for name in (DROPPED.name, STAGE_RUNS.name):
        there = in_set(name, own)
        if name in tables and there in tables:
            connection.execute(
                f'CREATE OR REPLACE VIEW {there} AS SELECT * FROM "{there.replace(".", "__")}" UNION ALL BY NAME '
                f'SELECT * FROM {name} WHERE stage NOT IN (SELECT stage FROM "{runs}")'
            )


def _add_views(connection: "duckdb.DuckDBPyConnection", views: Mapping[str, View], own: str) -> None:
    """Add the views of a set, such as ``analysis_NAME.films``; without a name, all views."""
    import duckdb

    for name, view in views.items():
        there = in_set(name, own)
        if own and there == name:
            continue
        query = names_in_sql().sub(lambda found: in_set(found[1], own), duckdb_view(name, view.sql))
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {there.split('.')[0]}")
        try:
            connection.execute(f"CREATE VIEW {there} AS {query}")
        except (duckdb.BinderException, duckdb.CatalogException):
            continue  # over a table of another version, without a column, or over a view that was left out
        connection.execute(f"COMMENT ON VIEW {there} IS {_text(view.comment)}")
        for column, meaning in view.columns.items():
            connection.execute(f'COMMENT ON COLUMN {there}."{column}" IS {_text(meaning)}')


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
