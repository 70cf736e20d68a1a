"""A SQL shell on a lakehouse's tables by DuckDB: it opens at once, without Spark or Java."""

import csv
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conf.errors import InputError
from etl.analysis.duckdb_sql import translated
from etl.publishing.screen_tables import aligned, csv_row, terminal_width

if TYPE_CHECKING:
    import duckdb

PROMPT = "edos> "
MORE = "  ...> "
LEAVING = {"quit", "exit", ".quit", ".exit", "\\q"}
ROWS = 100
"""Rows of a result that are shown; CSV has all of them."""
GREETING = """{names} tables and views of {root}, for example: SELECT * FROM edos.turns LIMIT 5;
SHOW ALL TABLES; lists them, DESCRIBE edos.turns; a view's columns; the tab key completes names.
Statements end with a semicolon, `quit;` leaves. docs/cookbook.md answers twelve questions."""


def run_statements(lakehouse: "duckdb.DuckDBPyConnection", statements: Iterable[str], as_csv: bool) -> None:
    """Run statements, and print the result of each as an aligned table or as CSV.

    Raises:
        InputError: DuckDB refuses one, in one line.
    """
    for statement in statements:
        columns, rows = answered(lakehouse, statement)
        if not columns:
            continue
        if as_csv:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(csv_row(row) for row in rows)
        else:
            print("\n".join(shown(columns, rows)))


def answered(lakehouse: "duckdb.DuckDBPyConnection", statement: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Return the columns and rows of a statement in DuckDB's SQL or, where that fails, in Spark's.

    Raises:
        InputError: it is neither.
    """
    import duckdb

    try:
        result = lakehouse.execute(statement)
    except duckdb.Error as error:
        try:
            result = lakehouse.execute(translated(statement))
        except Exception:  # what DuckDB says about the statement as it was typed is what helps
            raise InputError(one_line(error)) from None
    columns = [str(one[0]) for one in result.description or ()]
    return columns, _rows(result)


def _rows(result: Any) -> Iterator[tuple[Any, ...]]:
    while part := result.fetchmany(1_000):
        yield from part


def one_line(error: Exception) -> str:
    """Return DuckDB's message in one line: what is wrong, and what it proposes."""
    lines = [line.strip() for line in str(error).splitlines()]
    proposals = [line for line in lines[1:] if line.startswith(("Did you mean", "Candidate"))]
    return " ".join([lines[0] if lines else type(error).__name__, *proposals])


def shown(columns: list[str], rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """Return the lines of a result: aligned, the first rows if there are many, and how many there are."""
    first = [row for row, _ in zip(rows, range(ROWS + 1), strict=False)]
    more = len(first) > ROWS
    told = f"(first {ROWS} rows; --csv prints all)" if more else f"({len(first)} row{'s' * (len(first) != 1)})"
    return [*aligned(columns, first[:ROWS], terminal_width()), told, ""]


def open_shell(lakehouse: "duckdb.DuckDBPyConnection", root: str | Path) -> int:
    """Read statements from the terminal, each up to its semicolon, until ``quit`` or the end; returns 0."""
    names = known_names(lakehouse)
    _complete(names)
    print(GREETING.format(names=sum("." in name for name in names), root=root))
    for statement in typed_statements():
        try:
            columns, rows = answered(lakehouse, statement)
            if columns:
                print("\n".join(shown(columns, rows)))
        except InputError as error:
            print(error)
        except KeyboardInterrupt:
            print("stopped")
    return 0


def typed_statements() -> Iterator[str]:
    """Yield the statements that are typed; an interrupt (Ctrl+C) leaves out the one that is begun."""
    begun: list[str] = []
    while True:
        try:
            line = input(MORE if begun else PROMPT)
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            print()
            begun = []
            continue
        if not begun and line.strip().rstrip(";").strip().lower() in LEAVING:
            return
        begun.append(line)
        text = "\n".join(begun).strip()
        if not text or text.endswith(";"):
            begun = []
            if text.rstrip("; \n"):
                yield text


def known_names(lakehouse: "duckdb.DuckDBPyConnection") -> list[str]:
    """Return the names of tables and views, as ``schema.name``, and of their columns."""
    found = lakehouse.execute(
        "SELECT DISTINCT schema_name || '.' || table_name AS full_name, column_name FROM duckdb_columns() "
        "WHERE NOT internal AND schema_name <> 'main'"
    ).fetchall()
    return sorted({name for row in found for name in row})


def _complete(names: list[str]) -> None:
    """Let the tab key complete names, where the terminal's library can."""
    with suppress(ImportError):
        import readline

        words = [*names, "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "JOIN", "DESCRIBE"]

        def nth(begun: str, number: int) -> str | None:
            like = [word for word in words if word.lower().startswith(begun.lower())]
            return like[number] if number < len(like) else None

        readline.set_completer(nth)
        readline.set_completer_delims(" \t\n,();=<>")
        readline.parse_and_bind("tab: complete")
