"""Columns that cost something."""

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
