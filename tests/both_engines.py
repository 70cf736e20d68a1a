"""Rows of a view by Spark and by DuckDB, compared."""

from collections.abc import Sequence
from typing import Any

NEAR = 1e-8
"""By how much numbers may differ, in relation to them: sums in another order, and floats beside doubles."""


def difference(
    columns: Sequence[str], ours: Sequence[Any], their_columns: Sequence[str], theirs: Sequence[Any]
) -> str | None:
    """Return what differs between Spark's rows and DuckDB's; the order of the rows does not count."""
    if list(columns) != list(their_columns):
        return f"columns {list(columns)} in Spark, {list(their_columns)} in DuckDB"
    if len(ours) != len(theirs):
        return f"{len(ours)} rows in Spark, {len(theirs)} in DuckDB"
    ours, theirs = (sorted(map(plain, rows), key=in_order) for rows in (ours, theirs))
    unequal = [(one, other) for one, other in zip(ours, theirs, strict=True) if not close(one, other)]
    return f"{len(unequal)} of {len(ours)} rows differ, such as {unequal[0]}" if unequal else None


def in_order(row: Any) -> str:
    """Return by what rows are sorted: numbers by the digits that engines agree on."""
    if isinstance(row, list):
        return str([in_order(one) for one in row])
    return f"{row:.9g}" if isinstance(row, float) else str(row)


def plain(value: Any) -> Any:
    """Return a value as both engines can have it: numbers as floats, rows as lists of their values, sets in order."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float) or hasattr(value, "quantize"):
        return float(value)
    if hasattr(value, "asDict"):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return [plain(one) for one in value.values()]
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return str(value)


def close(one: Any, other: Any) -> bool:
    """Return whether two plain values are equal."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= NEAR * max(1.0, abs(one)) or (one != one and other != other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    return type(one) is type(other) and bool(one == other)
