"""A SQL shell on a lakehouse's tables by DuckDB: it opens at once, without Spark or Java."""

import cmd
import csv
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlparse

from conf.errors import InputError
from conf.taxonomy import load_taxonomy
from etl.cli.sql_statements import CHANGE, not_there, with_quotes
from etl.pipeline.tables import TABLES
from etl.publishing.duckdb_sql import translated
from etl.publishing.screen_tables import ROWS, aligned, csv_row, row_count, terminal_width
from etl.publishing.views import all_views

if TYPE_CHECKING:
    import duckdb

PROMPT = "edos> "
MORE = "  ...> "
LEAVING = {"quit", "exit"}
GREETING = """{names} tables and views of {root}, for example: SELECT * FROM {example} LIMIT 5;
SHOW TABLES; lists them, DESCRIBE {example}; says what its columns are; the tab key completes names.
Lists count from 1: turns[1] is the first. The shell only reads.
Statements end with a semicolon, `quit;` leaves. docs/cookbook.md has queries to copy."""
EXAMPLES = ("edos.turns", "emo_pillars.examples", "augesc.conversations", "subtitles.clean_dialogues")
"""Results of the data sets, the first of which that is there is a greeting's example."""
_LISTED = re.compile(r"SHOW\s+(?:ALL\s+)?(?:TABLES|VIEWS)(?:\s+(?:IN|FROM)\s+[\"`]?(\w+)[\"`]?)?", re.IGNORECASE)
_DESCRIBED = re.compile(r"(?:DESCRIBE|DESC)\s+(?:TABLE\s+)?[\"`]?(\w+)[\"`]?\.[\"`]?(\w+)[\"`]?", re.IGNORECASE)
_NO_COLUMN = re.compile(
    r'Referenced column "(\w+)" not found|does not have a column named "(\w+)"|Could not find key "(\w+)" in struct'
)
_NAMED_BY_SPARK = re.compile(r"_\w*|col\d*|pos|key|value", re.IGNORECASE)
"""Names that Spark gives by itself, to hidden columns and to those of functions such as ``explode``."""
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


def run_statements(
    lakehouse: "duckdb.DuckDBPyConnection", statements: Sequence[str], as_csv: bool, of_spark: bool = False
) -> Sequence[str]:
    """Run statements, and print the result of each as an aligned table or as CSV; return those that are left.

    Args:
        lakehouse: whose tables are read.
        statements: to run.
        as_csv: print all rows as CSV.
        of_spark: whether they are Spark's SQL; the first that DuckDB cannot answer is then left, with all behind it.

    Raises:
        InputError: DuckDB refuses one, in one line.
    """
    for place, statement in enumerate(statements):
        answer = answered_as_spark(lakehouse, statement) if of_spark else answered(lakehouse, statement)
        if answer is None:
            return statements[place:]
        if not answer.columns:
            continue
        if as_csv:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(answer.columns)
            writer.writerows(csv_row(row) for row in answer.rows)
        else:
            print("\n".join(shown(answer)))
    return ()


def answered(lakehouse: "duckdb.DuckDBPyConnection", statement: str) -> StatementResult:
    """Return the answer of a statement in DuckDB's SQL or, where that fails, in Spark's.

    Raises:
        InputError: it is neither, or would change a table.
    """
    import duckdb

    if change := CHANGE.match(statement):
        name = re.sub(r"[\"`]", "", change["name"]).lower()
        spark = " (`python -m jobs sql --engine spark -e ...` does)" if name in TABLES and not change["made"] else ""
        raise InputError(f"the shell only reads: it does not change {name}{spark}")
    try:
        return _known(lakehouse, statement) or _result(lakehouse.execute(statement))
    except duckdb.Error as error:
        # What DuckDB says about the statement as it was typed is what helps.
        line = f"{one_line(error)} (--engine spark asks Spark)"
    answer = answered_as_spark(lakehouse, statement)
    if answer is None:
        raise InputError(line)
    if "[" in statement:
        print("taken as Spark's SQL, whose lists count from 0", file=sys.stderr)
    return answer


def answered_as_spark(lakehouse: "duckdb.DuckDBPyConnection", statement: str) -> StatementResult | None:
    """Return the rows that a statement has in Spark, whose lists count from 0; None where DuckDB cannot tell.

    Raises:
        InputError: a table, view or column that it names is not there.
    """
    try:
        return _known(lakehouse, statement) or _result(lakehouse.execute(translated(with_quotes(statement))))
    except Exception as error:  # of `duckdb` or of `sqlglot`, which has many
        if missing := _missing(lakehouse, statement, str(error)):
            raise InputError(missing) from None
        return None


def _missing(lakehouse: "duckdb.DuckDBPyConnection", statement: str, error: str) -> str | None:
    """Return in one line which table, view or column of a statement is not there; None where Spark may know better.

    Args:
        lakehouse: whose tables are read.
        statement: in Spark's SQL.
        error: DuckDB's, about its translation.
    """
    import sqlglot  # type: ignore[import-not-found]
    from sqlglot import exp

    try:
        tree = sqlglot.parse_one(with_quotes(statement), read="spark")
    except sqlglot.errors.SqlglotError:
        return None
    there = {name for name in known_names(lakehouse) if "." in name}
    views = all_views(load_taxonomy("edos"))
    known = {*TABLES, *views, *there}
    schemas = {name.partition(".")[0] for name in known}
    named = {f"{table.db}.{table.name}".lower() for table in tree.find_all(exp.Table) if table.db}
    for name in sorted(named - there):
        if name.partition(".")[0] in schemas or get_close_matches(name, known, 1, 0.8):
            return not_there(name, views, there)
    found = _NO_COLUMN.search(error)
    column = found and (found[1] or found[2] or found[3]).lower()
    # What the statement itself names, DuckDB may lack only because of its translation.
    own = {
        one.name.lower()
        for one in tree.find_all(exp.Identifier, exp.Literal)
        if isinstance(one, exp.Literal) or not isinstance(one.parent, exp.Column | exp.Dot)
    }
    if (
        not column
        or column in own
        or _NAMED_BY_SPARK.fullmatch(column)
        or (column == "id" and "range" in statement.lower())
    ):
        return None
    columns = [row[0] for name in sorted(named) for row in lakehouse.execute(COLUMNS, name.split(".")).fetchall()]
    columns += re.findall(r'"(\w+)"', error.partition("Candidate")[2].partition("\n")[0])
    like = ", ".join(get_close_matches(column, dict.fromkeys(columns)))
    where = f" (its columns: {'; '.join(f'DESCRIBE {name}' for name in sorted(named))})" if named else ""
    return f"column {column} is not there{f': did you mean {like}?' if like else ''}{where}"


def _known(lakehouse: "duckdb.DuckDBPyConnection", statement: str) -> StatementResult | None:
    """Return the answer of a statement that asks for names, with their meaning; None for others.

    DuckDB's SHOW TABLES lists the names by which it knows our tables, and its DESCRIBE leaves out the comments.
    """
    statement = statement.strip().rstrip(";").strip()
    if listed := _LISTED.fullmatch(statement):
        return replace(_result(lakehouse.execute(LIST, [listed[1]])), whole=True)
    if described := _DESCRIBED.fullmatch(statement):
        rows = lakehouse.execute(COLUMNS, [described[1], described[2]]).fetchall()
        return StatementResult(["column", "type", "meaning"], iter(rows), whole=True) if rows else None
    return None


def _result(result: "duckdb.DuckDBPyConnection") -> StatementResult:
    return StatementResult([str(one[0]) for one in result.description or ()], _rows(result))


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
        statements = sqlparse.split("\n".join([*self._begun, line]))
        bare = [sqlparse.format(one, strip_comments=True).strip() for one in statements]
        self.forget()
        if statements and bare[-1] and not bare[-1].endswith(";"):
            self._begun, self.prompt = [statements.pop()], MORE
        for statement, said in zip(statements, bare, strict=False):
            if said.rstrip("; \n"):
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
