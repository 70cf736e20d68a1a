"""The table registry: every Delta table of the lakehouse, its columns, its key and its last-net CHECKs."""

from etl.lakehouse.tables import edos, llm, ops, subtitles
from etl.lakehouse.tables.model import Table

TABLES: dict[str, Table] = {
    table.name: table
    for group in (subtitles, edos, llm, ops)
    for table in vars(group).values()
    if isinstance(table, Table)
}

__all__ = ["TABLES", "Table"]
