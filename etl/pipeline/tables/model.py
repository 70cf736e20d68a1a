"""The declarations of a table and of a view."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from pyspark.sql.types import StructType, _parse_datatype_string
from pyspark.sql.utils import is_remote

from etl.pipeline.tables.column_comments import comment_of

AND_ALSO = "\nUNION ALL /* where it is there */\n"
"""Separates the parts of a view over several tables; parts whose table is missing are left out."""


class Column(NamedTuple):
    """A column as its table's DDL declares it, with the comment of its name where the DDL has none."""

    name: str
    kind: str
    comment: str


class View(NamedTuple):
    """A view over tables.

    Attributes:
        columns: what each column of the query means, in their order.
    """

    comment: str
    sql: str
    columns: Mapping[str, str]


@dataclass(frozen=True)
class Table:
    """A Delta table of the lakehouse.

    Attributes:
        name: ``schema.table``; at ``<lakehouse.root>/schema/table`` when no catalog is set.
        comment: what one row is, for the catalog.
        ddl: the columns as Spark DDL, with comments where those of ``etl.pipeline.tables.column_comments`` do not fit.
        key: the columns that are unique together.
        checks: flat CHECK constraints by name (nested rules are expectations, not CHECKs).
        partitioned_by: partition columns, for the few tables that one stage replaces in part.
        by_command: a command writes it and no stage; until then it is not there.
        empty_if_absent: where it is not there, it has no rows to whoever asks: it tells what went wrong, and nothing
            did, or it stands beside printed rows, which are shown before there is a run.
        clustered_by: columns whose neighbours lie together after ``maintain`` has joined files, because batches ask
            for rows by them. They are among the first 32, of which Delta keeps the smallest and largest value.
    """

    name: str
    comment: str
    ddl: str
    key: tuple[str, ...]
    checks: Mapping[str, str] = field(default_factory=dict)
    partitioned_by: tuple[str, ...] = ()
    by_command: bool = False
    empty_if_absent: bool = False
    clustered_by: tuple[str, ...] = ()

    @property
    def schema(self) -> StructType:
        """The columns; a Spark session must be up, for Spark parses the DDL."""
        return _parsed(self.commented_ddl)

    @property
    def described(self) -> list[Column]:
        """The columns with types and comments, read without Spark."""
        return list(_described(self.name, self.ddl))

    @property
    def commented_ddl(self) -> str:
        """The DDL with a comment on every column that has one."""
        quoted = ((name, kind, comment.replace("'", "\\'")) for name, kind, comment in self.described)
        return ", ".join(f"{name} {kind}" + (f" COMMENT '{text}'" if text else "") for name, kind, text in quoted)

    @property
    def columns(self) -> list[str]:
        return self.schema.names

    def creation(self, reference: str, properties: Mapping[str, str]) -> str:
        """Return the SQL that creates the table under a name, with comments, CHECKs and properties."""
        properties = {**properties, **{f"delta.constraints.{name}": check for name, check in self.checks.items()}}
        parts = f"PARTITIONED BY ({', '.join(self.partitioned_by)})" if self.partitioned_by else ""
        return (
            f"CREATE TABLE IF NOT EXISTS {reference} ({self.commented_ddl}) USING delta {parts} "
            f"COMMENT {sql_text(self.comment)} TBLPROPERTIES "
            f"({', '.join(f'{sql_text(key)} = {sql_text(value)}' for key, value in properties.items())})"
        )


def sql_text(value: str) -> str:
    """Return a SQL string literal."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


@cache
def _parsed(ddl: str) -> StructType:
    if is_remote():  # over Spark Connect the server parses
        from pyspark.sql.connect.session import SparkSession

        return SparkSession.active().createDataFrame([], ddl).schema
    schema = _parse_datatype_string(ddl)
    assert isinstance(schema, StructType)
    return schema


@cache
def _described(table: str, ddl: str) -> tuple[Column, ...]:
    return tuple(_column(table, part) for part in _parts(ddl))


def _column(table: str, part: str) -> Column:
    """Return the column that a part of a DDL declares."""
    declared, *comment = re.split(r"(?<!\s)\s+COMMENT\s+", part, maxsplit=1)
    name, *kind = declared.split()
    text = comment[0].strip()[1:-1].replace("\\'", "'") if comment else comment_of(table, name)
    return Column(name, " ".join(kind), text)


def _parts(ddl: str) -> list[str]:
    """Return the parts of a DDL between commas that are in no brackets and no quotes."""
    parts = [""]
    depth = 0
    for token in re.findall(r"'(?:\\.?|[^'\\])*+(?:'|\Z)|.", ddl.strip(), re.DOTALL):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(token, 0)
        if token == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return [part.strip() for part in parts]
