"""Column functions that several data sets use."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def with_columns_once(frame: DataFrame, **columns: Column) -> DataFrame:
    """Add or replace columns so that each one is evaluated once per row.

    Spark's optimizer inlines a column's expression wherever a later filter or lambda reads it, so an array that a
    lambda reads is evaluated once per element. The optimizer does not inline generators: `inline` emits the columns.
    """
    known = frame.columns
    # Fewer names are fewer calls of Java, which take most of the time to plan a rule.
    rest = [name for name in known if name not in columns] if columns.keys() & set(known) else ["*"]
    values = F.struct(*(column.alias(name) for name, column in columns.items()))
    return frame.select(*rest, F.inline(F.array(values)))


def with_computed(
    frame: DataFrame, columns: Mapping[str, str], compute: Callable[[pa.RecordBatch], Sequence[pa.Array]]
) -> DataFrame:
    """Add columns that are computed batch by batch.

    Args:
        columns: types of the new columns by name.
        compute: returns their values for a batch, in the order of ``columns``.
    """

    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([*batch.columns, *compute(batch)], [*batch.schema.names, *columns])

    known = {field.name: field.dataType.simpleString() for field in frame.schema}
    return frame.mapInArrow(add, ", ".join(f"`{name}` {kind}" for name, kind in [*known.items(), *columns.items()]))


def cosine(left: Column, right: Column) -> Column:
    """Return the cosine of two numeric arrays of equal length; 0 if one is null or all zeros."""

    def dot(one: Column, other: Column) -> Column:
        products = F.zip_with(one, other, lambda a, b: a.cast("double") * b.cast("double"))
        return F.aggregate(products, F.lit(0.0), lambda total, value: total + value)

    return F.coalesce(F.try_divide(dot(left, right), F.sqrt(dot(left, left) * dot(right, right))), F.lit(0.0))


def fault(reason: str, *detail: Column | str) -> Column:
    """Return struct(reason, detail), where detail is the concatenation of the given parts."""
    parts = [F.lit(part) if isinstance(part, str) else part.cast("string") for part in detail]
    return F.struct(F.lit(reason).alias("reason"), F.concat(*parts).alias("detail"))
