"""Columns as the DDL of their tables declares them, with their comments."""

import pytest
from pyspark.sql import SparkSession

from etl.pipeline.tables import TABLES
from etl.pipeline.tables.column_comments import COMMENTS, OWN
from etl.pipeline.tables.model import Table, _parsed, _parts


@pytest.mark.parametrize(
    ("ddl", "expected"),
    [
        ("a int", [("a", "int", "a")]),
        (
            "a int COMMENT 'x, y', b array<struct<c: int, d: map<string, int>>>",
            [("a", "int", "x, y"), ("b", "array<struct<c: int, d: map<string, int>>>", "b")],
        ),
        (
            "a string COMMENT 'the page\\'s', b decimal(10, 2)",
            [("a", "string", "the page's"), ("b", "decimal(10, 2)", "b")],
        ),
        (
            "\n  a\n  bigint ,\n b   double\n  COMMENT 'a COMMENT b'\n",
            [("a", "bigint", "a"), ("b", "double", "a COMMENT b")],
        ),
        (
            "language string, word int, year int COMMENT ''",
            [("language", "string", COMMENTS["language"]), ("word", "int", "word"), ("year", "int", "")],
        ),
    ],
)
def test_columns_are_read_from_ddl_without_spark(ddl: str, expected: list[tuple[str, str, str]]) -> None:
    assert [tuple(column) for column in Table("x.y", "One.", ddl, ()).described] == expected


def test_comments_of_single_columns_are_of_columns_without_one() -> None:
    parts = [(table.name, part) for table in TABLES.values() for part in _parts(table.ddl)]
    assert set(OWN) <= {f"{name}.{part.split()[0]}" for name, part in parts if "COMMENT" not in part}


def test_spark_reads_the_same_columns(spark: SparkSession) -> None:
    for table in TABLES.values():
        schema = table.schema
        declared = _parsed(table.ddl)
        assert schema.names == declared.names == [column.name for column in table.described]
        assert [field.dataType for field in schema] == [field.dataType for field in declared]
        assert [field.metadata.get("comment") for field in schema] == [column.comment for column in table.described]
