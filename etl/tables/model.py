"""The declaration of a table."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType, _parse_datatype_string

AND_ALSO = "\nUNION ALL /* where it is there */\n"
"""Separates the parts of a view over several tables; parts whose table is missing are left out."""


@dataclass(frozen=True)
class Table:
    """A Delta table of the lakehouse.

    Attributes:
        name: ``schema.table``; at ``<lakehouse.root>/schema/table`` when no catalog is set.
        comment: what one row is, for the catalog.
        ddl: the columns as Spark DDL, each with a comment where its name does not say it.
        key: the columns that are unique together.
        checks: flat CHECK constraints by name (nested rules are expectations, not CHECKs).
        partitioned_by: partition columns, for the few tables that one stage replaces in part.
    """

    name: str
    comment: str
    ddl: str
    key: tuple[str, ...]
    checks: Mapping[str, str] = field(default_factory=dict)
    partitioned_by: tuple[str, ...] = ()

    @property
    def schema(self) -> StructType:
        """The columns; a Spark session must be up, for Spark parses the DDL."""
        return _parsed(self.ddl)

    @property
    def columns(self) -> list[str]:
        return self.schema.names

    def definitions_beyond(self, present: Collection[str]) -> str:
        """Return the definitions in SQL of the columns that are not ``present``, to add them to an older table."""
        return ", ".join(
            f"`{column.name}` {column.dataType.simpleString()} COMMENT "
            + "'" + column.metadata.get("comment", "").replace("\\", "\\\\").replace("'", "\\'") + "'"
            for column in self.schema if column.name not in present
        )  # fmt: skip

    def completed(self, rows: DataFrame) -> DataFrame:
        """Return the rows of an older version of the table with null in the columns that it lacks."""
        new = [column for column in self.schema if column.name not in rows.columns]
        return rows.withColumns({column.name: F.lit(None).cast(column.dataType) for column in new}) if new else rows


@cache
def _parsed(ddl: str) -> StructType:
    schema = _parse_datatype_string(ddl)
    assert isinstance(schema, StructType)
    return schema
