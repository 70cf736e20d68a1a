"""The papers' printed tables, read from the CSV files beside this module.

The first line of a file is a comment that says what it holds, the second names the columns. An empty cell is null.
"""

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class PaperTable(NamedTuple):
    """A printed table: what it holds, its columns, its rows as text."""

    comment: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def paper_tables() -> list[str]:
    """Return the names of the printed tables, sorted."""
    names = (file.name for file in files(__name__).iterdir())
    return sorted(name.removesuffix(".csv") for name in names if name.endswith(".csv"))


@cache
def paper_table(name: str) -> PaperTable:
    """Read the printed table ``conf/papers/<name>.csv``."""
    first, *lines = files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8").splitlines()
    columns, *rows = csv.reader(lines)
    return PaperTable(first.removeprefix("# "), tuple(columns), tuple(map(tuple, rows)))
