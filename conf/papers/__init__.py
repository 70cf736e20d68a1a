"""The papers' printed tables, read from the CSV files beside this module.

A file begins with comments: what it holds, then a line ``# column: meaning`` for each column. The line after them names
the columns. An empty cell is null.
"""

import csv
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class PaperTable(NamedTuple):
    """A printed table: what it holds, what each of its columns means, its rows as text."""

    comment: str
    meanings: Mapping[str, str]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def paper_tables() -> list[str]:
    """Return the names of the printed tables, sorted."""
    names = (file.name for file in files(__name__).iterdir())
    return sorted(name.removesuffix(".csv") for name in names if name.endswith(".csv"))


@cache
def paper_table(name: str) -> PaperTable:
    """Read the printed table ``conf/papers/<name>.csv``."""
    lines = files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8").splitlines()
    comment, *described = (line.removeprefix("# ") for line in lines if line.startswith("#"))
    columns, *rows = csv.reader(line for line in lines if not line.startswith("#"))
    return PaperTable(comment, meanings_in(described, name), tuple(columns), tuple(map(tuple, rows)))


def meanings_in(lines: Iterable[str], name: str) -> dict[str, str]:
    """Return the meaning of each column by its name, from lines ``column: meaning``.

    Args:
        lines: one a column, in the order of the columns.
        name: of the view or printed table, for the message.

    Raises:
        ValueError: a line is of another form, or a column has two.
    """
    found: dict[str, str] = {}
    for line in lines:
        one = _MEANING.fullmatch(line)
        if one is None or one[1] in found:
            raise ValueError(f"{name}: {line!r} is not one column and its meaning, as in 'turns: turns with the label'")
        found[one[1]] = one[2]
    return found


_MEANING = re.compile(r"(\w+): (\S.*)")
