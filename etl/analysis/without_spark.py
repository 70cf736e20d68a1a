"""Query a lakehouse from DuckDB, without Spark or Java."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

VIEWS = {
    "edos.turns": {"edos.dialogues", "edos.weak_labels", "subtitles.clean_dialogues"},
    "analysis.model_disagreement": {"edos.initial", "edos.dialogue_scores"},
}
"""The views that DuckDB has too, with the tables that each reads; their queries are under ``duckdb/``."""


def connect(root: str | Path) -> "duckdb.DuckDBPyConnection":
    """Return a DuckDB connection with the Delta tables under a folder by ``schema.table``, and the views over them.

    Files are read when a query needs them, and only the columns that it names.

    Args:
        root: ``lakehouse.root``, a local folder.

    Raises:
        FileNotFoundError: there is no Delta table under the folder.
    """
    import deltalake

    logs = sorted(Path(root).glob("*/*/_delta_log"))
    if not logs:
        raise FileNotFoundError(f"no Delta tables under {root}: name the folder that lakehouse.root names")
    found = {".".join(log.parts[-3:-1]): deltalake.DeltaTable(log.parent).to_pyarrow_dataset() for log in logs}
    return connected(found)


def connected(tables: Mapping[str, Any]) -> "duckdb.DuckDBPyConnection":
    """Return a DuckDB connection with Arrow tables or data sets as views by their names, and the views over them."""
    import duckdb

    connection = duckdb.connect()
    for name, rows in tables.items():
        schema, table = name.split(".")
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        connection.register(f"{schema}__{table}", rows)
        connection.execute(f'CREATE VIEW {name} AS SELECT * FROM "{schema}__{table}"')
    for view, reads in VIEWS.items():
        if reads <= tables.keys():
            sql = files(__package__).joinpath("duckdb", f"{view}.sql").read_text("utf-8")
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {view.split('.')[0]}")
            connection.execute(f"CREATE VIEW {view} AS {sql}")
    return connection
