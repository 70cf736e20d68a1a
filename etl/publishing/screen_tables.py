"""Tables as aligned text for a terminal, and as CSV."""

import json
import shutil
import struct
import sys
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

GAP = "  "
LEAST = 12
"""Columns are not shortened below this many characters."""
ROWS = 100
"""Rows of an answer to SQL that are shown; CSV has all of them."""


def terminal_width() -> int | None:
    """Return the width of the terminal, and None where the output goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def printable(text: str) -> str:
    """Return a text without characters that a terminal obeys."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def aligned(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], width: int | None = None, grouped: bool = True
) -> list[str]:
    """Return the lines of a table: numbers to the right, other values to the left.

    Args:
        rows: values; null is empty, floats have at most four decimals, nested values are JSON.
        width: columns of text are shortened until the lines fit; None: they are not.
        grouped: whether numbers have separators of thousands; answers to SQL have none, for a number may be a year.
    """
    table = list(rows)
    right = [_numeric(row[place] for row in table) for place in range(len(columns))]
    cells = [[printable(name) for name in columns], *([_cell(value, grouped) for value in row] for row in table)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    if width is not None:
        widths = _fitted(widths, [not numeric for numeric in right], width - len(GAP) * (len(columns) - 1))
    lines = []
    for row in cells:
        shown = [
            text.rjust(size) if to_right else _shortened(text, size).ljust(size)
            for text, size, to_right in zip(row, widths, right, strict=True)
        ]
        lines.append(GAP.join(shown).rstrip())
    return lines


def row_count(rows: int, cut: bool = False) -> str:
    """Return the line below an answer to SQL: how many rows it has, or that more are not shown."""
    return f"(first {ROWS} rows; --csv prints all)" if cut else f"({rows} row{'s' * (rows != 1)})"


def csv_row(values: Sequence[Any]) -> list[str]:
    """Return a row's values as CSV fields: null is ``NA``, which R and pandas know, nested values are JSON."""
    return ["NA" if value is None else _text(value) for value in values]


def _fitted(widths: list[int], shrinks: Sequence[bool], width: int) -> list[int]:
    """Return widths of which the widest that may shrink are reduced until their sum fits, or all are at the least."""
    found = list(widths)
    while sum(found) > width:
        wide = [place for place, size in enumerate(found) if shrinks[place] and size > LEAST]
        if not wide:
            break
        widest = max(wide, key=lambda place: found[place])
        others = sorted((found[place] for place in wide if place != widest), reverse=True)
        floor = max(LEAST, found[widest] - (sum(found) - width), min(others[0] if others else 0, found[widest] - 1))
        found[widest] = floor
    return found


def _numeric(values: Iterable[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in known
    )


def _cell(value: Any, grouped: bool) -> str:
    if value is None:
        return ""
    comma = "," if grouped else ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:{comma}}"
    if isinstance(value, float | Decimal):
        return f"{value:{comma}.4f}".rstrip("0").rstrip(".")
    return " ".join(printable(_text(value)).split())


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(_short(value))
    if isinstance(value, list | tuple | dict):
        return json.dumps(_plain(value), ensure_ascii=False, default=str)
    return str(value)


def _short(value: float) -> float:
    """Return the shortest number that is the same in single precision, if the value is a single-precision one."""
    if not (abs(value) < 1e38 and _single(value) == value):
        return value
    return next((near for digits in range(6, 10) if _single(near := float(f"{value:.{digits}g}")) == value), value)


def _single(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _plain(value: Any) -> Any:
    """Return nested values with Spark's rows as mappings, which JSON can hold."""
    if isinstance(value, float):
        return _short(value)
    if hasattr(value, "asDict"):
        return {name: _plain(one) for name, one in value.asDict().items()}
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _shortened(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[: size - 1]}…"
