"""Columns that cost something, or that several places reckon with."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def computed_once(frame: DataFrame, **columns: Column) -> DataFrame:
    """Adds (or replaces) columns so that each is computed once a row, however often it is read.

    Spark's optimizer writes a column's expression again wherever a later filter or lambda reads it: an array
    read inside a lambda is then computed anew for each element. It does not look through a generator, so the
    columns come out of one that makes exactly one row.
    """
    rest = [name for name in frame.columns if name not in columns]
    values = F.struct(*(column.alias(name) for name, column in columns.items()))
    return frame.select(*rest, F.inline(F.array(values)))


def cosine(left: Column, right: Column) -> Column:
    """The cosine of two arrays of numbers, as long as each other; 0 where one is of zeros, or null."""

    def dot(one: Column, other: Column) -> Column:
        products = F.zip_with(one, other, lambda a, b: a.cast("double") * b.cast("double"))
        return F.aggregate(products, F.lit(0.0), lambda total, value: total + value)

    return F.coalesce(F.try_divide(dot(left, right), F.sqrt(dot(left, left) * dot(right, right))), F.lit(0.0))


def left_out(
    unit: str, key: Column | str, reason: Column | str, units: Column | int = 1, detail: Column | None = None
) -> list[Column]:
    """The columns of an ``Outcome``'s ``dropped``.

    Args:
        unit: what was left out, as ``text``.
        key: the column of its id.
        reason: why.
        units: how many of the stage's units it is.
        detail: more about it; nothing when None.
    """
    return [
        F.lit(unit).alias("unit"), (F.col(key) if isinstance(key, str) else key).alias("id"),
        F.lit(reason).alias("reason"), F.lit("" if detail is None else detail).alias("detail"),
        F.lit(units).cast("bigint").alias("units"),
    ]  # fmt: skip


def fault(reason: str, *detail: Column | str) -> Column:
    """Why a row is left out, with the evidence."""
    words = [F.lit(part) if isinstance(part, str) else part.cast("string") for part in detail]
    return F.struct(F.lit(reason).alias("reason"), F.concat(*words).alias("detail"))
