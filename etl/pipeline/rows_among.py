"""The rows of a large table that belong to a batch, or that are new, without a shuffle or a read of the rest."""

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from urllib.parse import unquote, urlsplit

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

MOST_NAMED = 5_000
"""Values of a batch that are named in a filter; of more, the table is read whole."""
MOST_RANGES = 16
"""Ranges of a batch's values that are compared with the statistics of a table's stored files; 80 conditions are more
than Java compiles."""
MOST_FILES = 16
"""Stored files of a table that are read whole: to look which of them have the rows takes longer."""
STORED = "_metadata.file_path"
_GLOB = "__globPaths__"


def rows_among(table: DataFrame, column: str, batch: DataFrame) -> DataFrame:
    """Return the rows of a table whose column has a value of the batch.

    A join would send the table's rows, with the sentences of every film, through the network. Here the batch's values
    go to the tasks. First the column alone is read, to learn which stored files have rows of the batch; only those are
    read then. So a batch costs what it holds, and not what the table holds. Of a small batch the column is read only
    in files between whose least and greatest value one of the batch lies.

    Args:
        table: rows as `Lakehouse.read` returns them.
        column: of table and batch.
    """
    wanted = batch.select(column).where(F.col(column).isNotNull()).distinct()
    named = sorted(row[0] for row in wanted.limit(MOST_NAMED + 1).collect())
    if len(named) > MOST_NAMED:
        return table.join(F.broadcast(wanted), column, "left_semi").select(*table.columns)
    among = is_one_of(column, named)
    stored = _holding(table, among)
    return (table if stored is None else stored).where(among)


def rows_added(now: DataFrame, then: DataFrame) -> DataFrame | None:
    """Return the rows that a table has gained since an earlier version, read from the stored files that are new.

    Args:
        now: rows as `Lakehouse.read` returns them.
        then: the same table's, as `Lakehouse.read_version` returns them.

    Returns:
        None where anything but added rows has changed: stored files of the earlier version are gone, or rows of them.
    """
    try:
        (files, before) = (now.inputFiles(), set(then.inputFiles()))
        added = [name for name in files if name not in before]
        if len(added) != len(files) - len(before) or not all(path.endswith(".parquet") for path in added):
            return None
        found = _stored_in(now, added)
        same = not added or then.count() + found.count() == now.count()
    except (PySparkException, Py4JError):  # files of a catalog that lets nobody read them
        return None
    return found if same else None


def _stored_in(rows: DataFrame, files: Iterable[str]) -> DataFrame:
    """Return the rows in stored files, named as Spark's ``inputFiles`` does, with the columns of a table's rows."""
    paths = sorted(name.removeprefix("file:") for name in files)
    if not paths:
        return rows.limit(0)
    return rows.sparkSession.read.schema(rows.schema).option(_GLOB, "false").parquet(*paths)


def is_one_of(column: str, values: Sequence[str]) -> Column:
    """Return the condition that a column has one of some values.

    Of a list, Delta compares the range alone with the least and the greatest value of each stored file, so that values
    from the whole corpus would leave no file out. So neighbouring values share a list.
    """
    named = sorted(values)
    size = max(1, math.ceil(len(named) / MOST_RANGES))
    lists = [named[start : start + size] for start in range(0, len(named), size)] or [[]]
    return reduce(or_, (F.col(column).isin(one) for one in lists))


def is_named(batch: DataFrame) -> bool:
    """Return whether a batch is so small that its rows are named, and what belongs to them fits into memory."""
    return batch.limit(MOST_NAMED + 1).count() <= MOST_NAMED


def _holding(table: DataFrame, among: Column) -> DataFrame | None:
    """Return the stored files that have such rows as a table; None where all are read, or rows of them do not count.

    A file may have rows that do not count any more where another program wrote deletion vectors.
    """
    spark = table.sparkSession
    if len(table.inputFiles()) <= MOST_FILES:
        return None
    try:
        counted = table.where(among).groupBy(F.col(STORED).alias("file")).count().collect()
        paths = [_path(row.file) for row in counted]
        if not paths or not all(path.endswith(".parquet") for path in paths):
            return None
        found = spark.read.schema(table.schema).option(_GLOB, "false").parquet(*paths)
        same = found.where(among).count() == sum(row[1] for row in counted)
    except (PySparkException, Py4JError):  # rows that are in no files, or a catalog that lets nobody read its files
        return None
    return found if same else None


def _path(uri: str) -> str:
    """Return a stored file's path; Spark encodes it in the metadata of a row, and nowhere else."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme in ("", "file") else unquote(uri)
