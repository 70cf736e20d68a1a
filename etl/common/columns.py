"""Column functions that several data sets use."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.redaction import HIDDEN, PATTERNS, SUSPECT, USER_INFO

MESSAGES = ("error", "detail")
ADDRESSES = ("source", "source_path")
"""The columns of all tables that hold messages and evidence, and where rows come from."""


def computed_once(frame: DataFrame, **columns: Column) -> DataFrame:
    """Add or replace columns so that each one is evaluated once per row.

    Spark's optimizer inlines a column's expression wherever a later filter or lambda reads it, so an array that a
    lambda reads is evaluated once per element. The optimizer does not inline generators: `inline` emits the columns.
    """
    known = frame.columns
    # Fewer names are fewer calls of Java, which take most of the time to plan a rule.
    rest = [name for name in known if name not in columns] if columns.keys() & set(known) else ["*"]
    values = F.struct(*(column.alias(name) for name, column in columns.items()))
    return frame.select(*rest, F.inline(F.array(values)))


def cosine(left: Column, right: Column) -> Column:
    """Return the cosine of two numeric arrays of equal length; 0 if one is null or all zeros."""

    def dot(one: Column, other: Column) -> Column:
        products = F.zip_with(one, other, lambda a, b: a.cast("double") * b.cast("double"))
        return F.aggregate(products, F.lit(0.0), lambda total, value: total + value)

    return F.coalesce(F.try_divide(dot(left, right), F.sqrt(dot(left, left) * dot(right, right))), F.lit(0.0))


def without_secrets(rows: DataFrame) -> DataFrame:
    """Hide keys and tokens in the columns of ``MESSAGES``, and the user-info of addresses in those of ``ADDRESSES``."""
    kinds = {**dict.fromkeys(MESSAGES, (SUSPECT, PATTERNS)), **dict.fromkeys(ADDRESSES, ("://", USER_INFO))}
    texts = {name for name, kind in rows.dtypes if kind == "string"}
    hidden = {
        name: F.when(F.col(name).rlike(suspect), redacted_text(F.col(name), patterns)).otherwise(F.col(name))
        for name, (suspect, patterns) in kinds.items()
        if name in texts
    }
    # Spark Connect refuses an empty dictionary.
    return rows.withColumns(hidden) if hidden else rows


def redacted_text(text: Column, patterns: Sequence[tuple[str, int]] = PATTERNS) -> Column:
    """Return a text without the secrets that patterns of ``conf.redaction`` match."""
    for pattern, kept in patterns:
        text = F.regexp_replace(text, pattern, f"${kept}{HIDDEN}" if kept else HIDDEN)
    return text


def left_out(
    unit: str, key: Column | str, reason: Column | str, units: Column | int = 1, detail: Column | str = ""
) -> list[Column]:
    """Return the columns of an ``Outcome``'s ``dropped``.

    Args:
        unit: what a dropped row is, such as ``text``.
        key: its id, or the name of the id's column.
        reason: why it is dropped.
        units: how many of the stage's units it counts as.
    """
    return [
        F.lit(unit).alias("unit"),
        (F.col(key) if isinstance(key, str) else key).alias("id"),
        F.lit(reason).alias("reason"),
        F.lit(detail).alias("detail"),
        F.lit(units).cast("bigint").alias("units"),
    ]


def fault(reason: str, *detail: Column | str) -> Column:
    """Return struct(reason, detail), where detail is the concatenation of the given parts."""
    parts = [F.lit(part) if isinstance(part, str) else part.cast("string") for part in detail]
    return F.struct(F.lit(reason).alias("reason"), F.concat(*parts).alias("detail"))
