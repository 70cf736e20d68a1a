"""spark-sql over the lakehouse, with tables and views by name in an in-memory metastore."""

import csv
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from conf.errors import InputError
from conf.places import local_path
from conf.settings import Settings
from etl.cli.sql_statements import CHANGE, FOR_DUCKDB, QUERY, not_there, with_quotes
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.session import close_session, spark_configuration, spark_session
from etl.pipeline.tables import TABLES, View
from etl.publishing.screen_tables import ROWS, aligned, csv_row, row_count, terminal_width
from etl.publishing.views import named_in, views_of

GREETING = """{tables} tables and views of {root}, for example: SELECT * FROM {example} LIMIT 5;
Statements end with a semicolon; `quit;` leaves. docs/cookbook.md has queries to copy."""


def open_sql(settings: Settings, statements: str | None = None, as_csv: bool = False, engine: str | None = None) -> int:
    """Open the shell, or run statements separated by ``;``; return the exit status.

    Args:
        settings: of the lakehouse.
        statements: to run; None opens the shell.
        as_csv: print all rows as CSV.
        engine: `duckdb` or `spark`, each with its own SQL; None: DuckDB for tables in a local folder, else Spark, and
            Spark for the first statement that DuckDB cannot answer as Spark does, and those behind it.

    Raises:
        InputError: CSV is asked for without statements, a statement makes a table, the engine refuses one, or DuckDB
            cannot read the tables.
    """
    if as_csv and statements is None:
        raise InputError("--csv prints the result of statements: give them with -e")
    import sqlparse

    left: Sequence[str] | None = statements and sqlparse.split(statements, strip_semicolon=True)
    if settings.lakehouse.catalog is None and any(map(_makes_table, left or ())):
        raise InputError(
            "tables of a lakehouse in a folder are made by stages alone, CREATE TABLE would leave one elsewhere: "
            "CREATE TEMPORARY VIEW names a query for the statements behind it, `--csv -e ... > FILE` keeps its rows"
        )
    if engine == "duckdb" or (engine is None and _duckdb_reads(settings) and _are_for_duckdb(left)):
        left = _in_duckdb(settings, left, as_csv, of_spark=engine is None)
        if not left:
            return 0
    spark = spark_session(settings, "edos-lakehouse sql")
    try:
        lakehouse = Lakehouse(spark, settings.lakehouse)
        if left is not None:
            views = views_of(settings)
            # To register all takes half a minute; only statements like SHOW TABLES and USE need them.
            queries = left if all(map(QUERY.match, left)) else None
            lakehouse.register(*((views,) if queries is None else named_in(queries, views)))
            for statement in statements_of_sets(lakehouse, views, queries):
                spark.sql(statement)
            for statement in left:
                try:
                    _show(spark.sql(with_quotes(lakehouse.named(statement))), as_csv)
                except AnalysisException as error:
                    there = {name for name, table in TABLES.items() if lakehouse.exists(table)}
                    raise InputError(refusal(error, views, there)) from None
            return 0
        views = views_of(settings)
        registered = [*lakehouse.catalog_statements(views), *statements_of_sets(lakehouse, views)]
        named = sum(not statement.startswith("CREATE SCHEMA") for statement in registered)
        root = settings.lakehouse.catalog or settings.lakehouse.root
        print(GREETING.format(tables=named, root=root, example=_example(lakehouse, registered)), flush=True)
    finally:
        close_session(spark, settings)
    from pyspark.find_spark_home import _find_spark_home

    with tempfile.TemporaryDirectory(prefix="edos-sql-") as folder:
        script = Path(folder, "tables.sql")
        script.write_text(";\n".join([*registered, "SET spark.sql.cli.print.header=true"]) + ";\n", encoding="utf-8")
        command = [str(Path(_find_spark_home(), "bin", "spark-sql")), "-S", "-i", str(script)]
        command += ["--master", settings.spark.master] if settings.spark.master else []
        for key, value in spark_configuration(settings).items():
            command += ["--conf", f"{key}={value}"]
        # On a cluster, executors must be able to reach the driver.
        local = {"SPARK_LOCAL_IP": "127.0.0.1"} if settings.spark.local else {}
        return subprocess.run(command, cwd=folder, env={**os.environ, **local}).returncode


def _example(lakehouse: Lakehouse, registered: Sequence[str]) -> str:
    """Return the name of a table or view among those that statements create, a result of a data set if there is one."""
    from etl.cli.duckdb_shell import EXAMPLES

    heads = [statement.partition("(")[0].partition(" AS ")[0].split() for statement in registered]
    names = [lakehouse.named(name) for name in (*EXAMPLES, *TABLES)]
    return next((name for name in names if any(name in head for head in heads)), names[-1])


def statements_of_sets(
    lakehouse: Lakehouse, views: Mapping[str, View], queries: Sequence[str] | None = None
) -> list[str]:
    """Return the SQL that gives the tables and views of named sets their names, such as ``edos_trusted.turns``.

    Args:
        lakehouse: of a folder; a catalog has the names already.
        views: all, by name.
        queries: only what these name is registered; None: everything.
    """
    found: list[str] = []
    for name in lakehouse.sets():
        own = lakehouse.of_set(name, named=True)
        plain = [query.replace("`", "").lower().replace(f"_{name}.", ".") for query in queries or ()]
        if queries is None:
            found += own.catalog_statements(views)
        elif any(f"_{name}." in query.replace("`", "").lower() for query in queries):
            found += own.catalog_statements(*named_in(plain, views))
    return found


def _makes_table(statement: str) -> bool:
    """Return whether a statement makes a table in the session's own folder, which no other session reads."""
    change = CHANGE.match(statement)
    made = ((change and change["made"]) or "").lower().split()
    return made[:1] == ["create"] and "table" in made and not re.search(r"\blocation\b", statement, re.IGNORECASE)


def _are_for_duckdb(statements: Sequence[str] | None) -> bool:
    """Return whether DuckDB may answer all statements; None is the shell."""
    return statements is None or all(map(FOR_DUCKDB.match, statements))


def _duckdb_reads(settings: Settings) -> bool:
    """Return whether DuckDB is there, and the tables are in a local folder."""
    where = settings.lakehouse
    local = where.catalog is None and not where.set and local_path(where.root) is not None
    return local and settings.spark.local and all(find_spec(name) is not None for name in ("duckdb", "sqlglot"))


def _in_duckdb(settings: Settings, statements: Sequence[str] | None, as_csv: bool, of_spark: bool) -> Sequence[str]:
    """Open the shell or run statements in DuckDB; return the statements that are left for Spark."""
    root = local_path(settings.lakehouse.root)
    if root is None or settings.lakehouse.catalog is not None:
        raise InputError(f"DuckDB reads tables in local folders, not {settings.lakehouse.root}: use --engine spark")
    try:
        from etl.cli.duckdb_shell import open_shell, run_statements
        from etl.publishing.without_spark import connect

        lakehouse = connect(root, views_of(settings))
    except ModuleNotFoundError as error:
        raise InputError(
            f"{error.name} is not installed: pip install 'edos-lakehouse[local]', or --engine spark"
        ) from None
    except FileNotFoundError as error:
        raise InputError(str(error)) from None
    try:
        if statements is None:
            open_shell(lakehouse, settings.lakehouse.root)
            return ()
        return run_statements(lakehouse, statements, as_csv, of_spark)
    finally:
        lakehouse.close()


def refusal(error: AnalysisException, views: Mapping[str, View], there: Collection[str]) -> str:
    """Return what is wrong with a statement, in one line, and where a table is missing, how to go on.

    Args:
        error: of Spark.
        views: all, by name.
        there: names of the tables that are there.
    """
    if error.getErrorClass() != "TABLE_OR_VIEW_NOT_FOUND":
        return next(filter(None, map(str.strip, str(error).splitlines())), type(error).__name__)
    name = (error.getMessageParameters() or {}).get("relationName", "").replace("`", "").removeprefix("spark_catalog.")
    return not_there(name, views, there)


def _show(result: DataFrame, as_csv: bool) -> None:
    """Print a result as aligned text or as CSV; statements without columns print nothing."""
    if not result.columns:
        return
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(result.columns)
        writer.writerows(csv_row(row) for row in result.toLocalIterator())
        return
    rows = result.take(ROWS + 1)
    print("\n".join(aligned(result.columns, rows[:ROWS], terminal_width(), grouped=False)))
    print(f"{row_count(len(rows), len(rows) > ROWS)}\n")
