"""A SQL shell on a lakehouse's tables by DuckDB: it opens at once, without Spark or Java."""

import cmd
import csv
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conf.errors import InputError
from etl.publishing.duckdb_sql import translated
from etl.publishing.screen_tables import ROWS, aligned, csv_row, row_count, terminal_width

if TYPE_CHECKING:
    import duckdb

PROMPT = "edos> "
MORE = "  ...> "
LEAVING = {"quit", "exit"}
GREETING = """{names} tables and views of {root}, for example: SELECT * FROM {example} LIMIT 5;
SHOW TABLES; lists them, DESCRIBE {example}; says what its columns are; the tab key completes names.
Statements end with a semicolon, `quit;` leaves. docs/cookbook.md answers twelve questions."""
EXAMPLES = ("edos.turns", "emo_pillars.examples", "augesc.conversations", "subtitles.clean_dialogues")
"""Results of the data sets, the first of which that is there is a greeting's example."""
_LISTED = re.compile(r"SHOW\s+(?:ALL\s+)?(?:TABLES|VIEWS)(?:\s+(?:IN|FROM)\s+[\"`]?(\w+)[\"`]?)?", re.IGNORECASE)
_DESCRIBED = re.compile(r"(?:DESCRIBE|DESC)\s+(?:TABLE\s+)?[\"`]?(\w+)[\"`]?\.[\"`]?(\w+)[\"`]?", re.IGNORECASE)
LIST = """
SELECT schema_name || '.' || name AS name, comment AS meaning FROM (
  SELECT schema_name, view_name AS name, comment, internal FROM duckdb_views()
  UNION ALL SELECT schema_name, table_name, comment, internal FROM duckdb_tables()
) WHERE NOT internal AND schema_name <> 'main' AND schema_name = coalesce(?, schema_name) ORDER BY name
"""
"""All tables and views, or those of a schema, with what a row of each is."""
COLUMNS = """
SELECT column_name AS "column", data_type AS type, comment AS meaning FROM duckdb_columns()
WHERE schema_name = ? AND table_name = ? ORDER BY column_index
"""


@dataclass(frozen=True)
class StatementResult:
    """The result of a statement.

    Attributes:
        columns: their names; none for a statement without a result.
        rows: read as they are asked for.
        whole: whether all rows are shown, with nothing shortened.
    """

    columns: list[str]
    rows: Iterator[tuple[Any, ...]]
    whole: bool = False


def run_statements(lakehouse: "duckdb.DuckDBPyConnection", statements: Iterable[str], as_csv: bool) -> None:
    """Run statements, and print the result of each as an aligned table or as CSV.

    Raises:
        InputError: DuckDB refuses one, in one line.
    """
    for statement in statements:
        answer = answered(lakehouse, statement)
        if not answer.columns:
            continue
        if as_csv:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(answer.columns)
            writer.writerows(csv_row(row) for row in answer.rows)
        else:
            print("\n".join(shown(answer)))


def answered(lakehouse: "duckdb.DuckDBPyConnection", statement: str) -> StatementResult:
    """Return the answer of a statement in DuckDB's SQL or, where that fails, in Spark's.

    Raises:
        InputError: it is neither.
    """
    import duckdb

    own = _own(statement)
    try:
        if own is not None and (rows := lakehouse.execute(*own).fetchall()):
            return StatementResult([str(one[0]) for one in lakehouse.description or ()], iter(rows), whole=True)
        result = lakehouse.execute(statement)
    except duckdb.Error as error:
        try:
            result = lakehouse.execute(translated(statement))
        except Exception:  # what DuckDB says about the statement as it was typed is what helps
            raise InputError(one_line(error)) from None
    return StatementResult([str(one[0]) for one in result.description or ()], _rows(result), whole=own is not None)


def _own(statement: str) -> tuple[str, list[str | None]] | None:
    """Return query and values for a statement that is answered here, with the meaning of names; None for others.

    DuckDB's SHOW TABLES lists the names by which it knows our tables, and its DESCRIBE leaves out the comments.
    """
    statement = statement.strip().rstrip(";").strip()
    if listed := _LISTED.fullmatch(statement):
        return LIST, [listed[1]]
    if described := _DESCRIBED.fullmatch(statement):
        return COLUMNS, [described[1], described[2]]
    return None


def _rows(result: Any) -> Iterator[tuple[Any, ...]]:
    while part := result.fetchmany(1_000):
        yield from part


def one_line(error: Exception) -> str:
    """Return DuckDB's message in one line: what is wrong, and what it proposes."""
    lines = [line.strip() for line in str(error).splitlines()]
    proposals = [line for line in lines[1:] if line.startswith(("Did you mean", "Candidate"))]
    return " ".join([lines[0] if lines else type(error).__name__, *proposals])


def shown(answer: StatementResult) -> list[str]:
    """Return the lines of an answer: aligned, the first rows if there are many, and how many there are."""
    first = list(answer.rows) if answer.whole else list(islice(answer.rows, ROWS + 1))
    cut = not answer.whole and len(first) > ROWS
    width = None if answer.whole else terminal_width()
    lines = aligned(answer.columns, first[:ROWS] if cut else first, width, grouped=False)
    return [*lines, row_count(len(first), cut), ""]


def open_shell(lakehouse: "duckdb.DuckDBPyConnection", root: str | Path) -> int:
    """Read statements from the terminal, each up to its semicolon, until ``quit`` or the end; returns 0."""
    names = known_names(lakehouse)
    shell = Shell(lakehouse, names)
    tables = [name for name in names if "." in name]
    print(GREETING.format(names=len(tables), root=root, example=example_of(tables)))
    while True:
        try:
            shell.cmdloop()
        except KeyboardInterrupt:
            shell.forget()
            print()
        else:
            return 0


def example_of(tables: Sequence[str]) -> str:
    """Return the table or view that a greeting names: a result of a data set, else the first."""
    return next((name for name in EXAMPLES if name in tables), tables[0])


class Shell(cmd.Cmd):
    """Reads statements over several lines, and prints their results.

    Args:
        lakehouse: whose tables are read.
        names: of tables and columns, which the tab key completes.
    """

    prompt = PROMPT

    def __init__(self, lakehouse: "duckdb.DuckDBPyConnection", names: Sequence[str]) -> None:
        super().__init__()
        self._lakehouse = lakehouse
        self._names = [*names, "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "JOIN", "DESCRIBE"]
        self._begun: list[str] = []

    def forget(self) -> None:
        """Leave out the statement that is begun."""
        self._begun = []
        self.prompt = PROMPT

    def onecmd(self, line: str) -> bool:
        """Take a line; return whether it leaves the shell."""
        if line == "EOF" or (not self._begun and line.strip().rstrip(";").lower() in LEAVING):
            return True
        self._begun.append(line)
        statement = "\n".join(self._begun).strip()
        if not statement or statement.endswith(";"):
            self.forget()
        else:
            self.prompt = MORE
        if statement.endswith(";") and statement.rstrip("; \n"):
            try:
                run_statements(self._lakehouse, [statement], as_csv=False)
            except InputError as error:
                print(error)
        return False

    def completenames(self, text: str, *ignored: Any) -> list[str]:
        """Return the names that a word may be completed to."""
        return [name for name in self._names if name.lower().startswith(text.lower())]

    completedefault = completenames


def known_names(lakehouse: "duckdb.DuckDBPyConnection") -> list[str]:
    """Return the names of tables and views, as ``schema.name``, and of their columns."""
    found = lakehouse.execute(
        "SELECT DISTINCT schema_name || '.' || table_name AS full_name, column_name FROM duckdb_columns() "
        "WHERE NOT internal AND schema_name <> 'main'"
    ).fetchall()
    return sorted({name for row in found for name in row})
