"""The declaration of a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

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


@cache
def _parsed(ddl: str) -> StructType:
    schema = _parse_datatype_string(ddl)
    assert isinstance(schema, StructType)
    return schema
