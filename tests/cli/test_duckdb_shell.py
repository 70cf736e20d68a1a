"""The SQL shell by DuckDB."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from conf.errors import InputError
from conf.settings import load_settings
from etl.cli.duckdb_shell import Shell, known_names, run_statements
from etl.cli.sql_shell import _are_for_duckdb, _duckdb_reads, open_sql
from etl.pipeline.tables import TABLES
from etl.publishing.duckdb_sql import duckdb_type, translated
from etl.publishing.without_spark import connect


@pytest.fixture()
def root(tmp_path: Path) -> Path:
    """A lakehouse with one table."""
    import deltalake

    rows = pa.table({"label": ["sad", "glad", "sad"], "dialogue_id": ["1-0", "2-0", "3-0"], "turn": [0, 0, 1]})
    deltalake.write_deltalake(str(tmp_path / "edos" / "seeds"), rows)
    return tmp_path


@pytest.fixture()
def lakehouse(root: Path) -> Iterator[Any]:
    with connect(root) as found:
        yield found


@pytest.mark.parametrize(
    ("statement", "printed"),
    [
        (
            "SELECT label, count(*) AS n FROM edos.seeds GROUP BY label ORDER BY n DESC",
            "label  n\nsad    2\nglad   1\n(2 rows)",
        ),
        ("SELECT label FROM edos.seeds WHERE turn = 7", "label\n(0 rows)"),
        (
            "SELECT p FROM edos.seeds LATERAL VIEW explode(split(dialogue_id, '-')) AS p WHERE turn = 1 ORDER BY p",
            "p\n0\n3",
        ),
        ("SELECT * FROM ops.dropped", "(0 rows)"),
        ("SELECT 1999 AS year, 2.50::decimal(5, 2) AS mean", "year  mean\n1999   2.5\n(1 row)"),
        ("SELECT 'it''s' AS t, p FROM edos.seeds LATERAL VIEW explode(array(turn)) AS p WHERE turn = 1", "it's  1"),
    ],
)
def test_results_are_aligned(lakehouse: Any, capsys: pytest.CaptureFixture[str], statement: str, printed: str) -> None:
    run_statements(lakehouse, [statement], as_csv=False)
    assert printed in capsys.readouterr().out


def test_csv_has_all_rows(lakehouse: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run_statements(lakehouse, ["SELECT range AS n FROM range(250)"], as_csv=True)
    assert capsys.readouterr().out.splitlines() == ["n", *map(str, range(250))]


@pytest.mark.parametrize("statement", ["SELECT lable FROM edos.seeds", "SELECT * FROM edos.seed", "SELEC 1"])
def test_an_error_is_one_line(lakehouse: Any, statement: str) -> None:
    with pytest.raises(InputError) as refused:
        run_statements(lakehouse, [statement], as_csv=False)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        (
            "SELECT * FROM edos.Turns",
            "it reads subtitles.clean_dialogues, edos.weak_labels, edos.dialogues (`python",
        ),
        (
            'SELECT * FROM "edos".dialogues',
            "edos.dialogues is not there yet (`python -m jobs run --to annotate_dialogues`",
        ),
        ("SELECT explode_all(turn) FROM edos.seeds", "(--engine spark asks Spark)"),
    ],
)
def test_what_is_not_there_or_not_known_comes_with_what_to_do(lakehouse: Any, statement: str, line: str) -> None:
    with pytest.raises(InputError) as refused:
        run_statements(lakehouse, [statement], as_csv=False)
    assert line in str(refused.value)


@pytest.mark.parametrize(
    ("statement", "by_duckdb"),
    [
        ("-- one\nWITH a AS (SELECT 2) FROM a", True),
        ("(SELECT 1)", True),
        ("SHOW TABLES IN edos", True),
        ("DESCRIBE edos.seeds", True),
        ("DESCRIBE HISTORY edos.seeds", False),
        ("SHOW CREATE TABLE edos.seeds", False),
        ("EXPLAIN SELECT 1", False),
        ("DELETE FROM subtitles.quarantine", False),
        ("WITH a AS (SELECT 1)\nINSERT INTO subtitles.quarantine SELECT * FROM a", False),
        ("CREATE TABLE a.b AS SELECT 1", False),
    ],
)
def test_statements_that_only_read_are_for_duckdb(statement: str, by_duckdb: bool) -> None:
    assert _are_for_duckdb(["SELECT 1", statement]) == by_duckdb


@pytest.mark.parametrize(
    ("select", "printed"),
    [
        ("array(5, 6)[1]", "6"),
        ("concat('a', NULL) IS NULL", "true"),
        ("split('a.b', '[.]')[1]", "b"),
        ("list_sum(array(1, 2))", "3"),
    ],
)
def test_statements_of_spark_go_to_duckdb_by_themselves(
    root: Path, capsys: pytest.CaptureFixture[str], select: str, printed: str
) -> None:
    settings = load_settings("local", [], {"lakehouse.root": str(root)})
    assert open_sql(settings, f"SELECT {select} AS n", as_csv=True) == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == (f"n\n{printed}\n", "")


def test_what_duckdb_cannot_answer_is_left_for_spark(lakehouse: Any, capsys: pytest.CaptureFixture[str]) -> None:
    statements = ["SELECT 1 AS n", "SELECT soundex('a')", "SELECT 2"]
    assert run_statements(lakehouse, statements, as_csv=True, of_spark=True) == statements[1:]
    assert capsys.readouterr().out == "n\n1\n"


@pytest.mark.parametrize("statement", ["SHOW TABLES", "show all tables;"])
def test_tables_and_views_are_listed_by_the_names_that_queries_use(
    lakehouse: Any, capsys: pytest.CaptureFixture[str], statement: str
) -> None:
    run_statements(lakehouse, [statement], as_csv=False)
    names = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line}
    assert {"edos.seeds", "ops.dropped", "analysis.edos_taxonomy"} <= set(names)
    assert TABLES["ops.dropped"].comment in names["ops.dropped"]
    assert TABLES["edos.seeds"].comment in names["edos.seeds"]
    assert not [name for name in names if "__" in name]


@pytest.mark.parametrize("statement", ["SHOW TABLES IN edos", "show tables from edos;"])
def test_a_schemas_tables_are_listed(lakehouse: Any, capsys: pytest.CaptureFixture[str], statement: str) -> None:
    run_statements(lakehouse, [statement], as_csv=False)
    head, first, *_, count, _ = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "meaning"]
    assert first.startswith("edos.")
    assert count.endswith(("rows)", "row)"))


@pytest.mark.parametrize("statement", ["DESCRIBE ops.dropped", 'desc table "ops".dropped;'])
def test_a_tables_columns_are_described(lakehouse: Any, capsys: pytest.CaptureFixture[str], statement: str) -> None:
    run_statements(lakehouse, [statement], as_csv=False)
    printed = capsys.readouterr().out
    for column in TABLES["ops.dropped"].described:
        assert any(
            line.startswith(f"{column.name} ") and line.endswith(column.comment) for line in printed.splitlines()
        ), column


def test_the_shell_opens_by_duckdb_and_ends(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "sys.stdin", io.StringIO("SELECT count(*)\n  AS n FROM edos.seeds;\n;\nSELECT x;\nexit\nSELECT 8")
    )
    assert open_sql(load_settings("local", [], {"lakehouse.root": str(root)})) == 0
    printed = capsys.readouterr().out
    assert re.findall(r"FROM (\S+) LIMIT|DESCRIBE (\S+);", printed)[0][0] in known_names(connect(root))
    assert "edos.turns" not in printed
    assert "n\n3\n(1 row)" in printed
    assert "Binder Error" in printed
    assert "8" not in printed.partition("Binder Error")[2]


def test_each_statement_of_a_line_is_answered(lakehouse: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell(lakehouse, [])
    for line in (
        "SELECT 'a;b' AS one; SELECT 2 AS two; -- both",
        "-- none",
        "SELECT 3",
        "  AS three; SELECT",
        "4 AS four;",
    ):
        shell.onecmd(line)
    printed = capsys.readouterr().out
    assert re.findall(r"one|two|three|four", printed) == ["one", "two", "three", "four"]
    assert "a;b" in printed


def test_names_of_tables_and_columns_are_completed(lakehouse: Any) -> None:
    shell = Shell(lakehouse, known_names(lakehouse))
    assert shell.completenames("edos.s") == ["edos.seeds"]
    assert "dialogue_id" in shell.completenames("dialogue")


@pytest.mark.parametrize(
    ("settings", "reads"),
    [
        ({"lakehouse.root": "a b"}, True),
        ({"lakehouse.root": "s3://bucket/lakehouse"}, False),
        ({"lakehouse.catalog": "main"}, False),
        ({"spark.master": "spark://host:7077"}, False),
    ],
)
def test_the_engine_follows_the_place_of_the_tables(settings: dict[str, str], reads: bool) -> None:
    assert _duckdb_reads(load_settings("local", [], settings)) == reads


def test_tables_elsewhere_are_refused_with_the_cure() -> None:
    with pytest.raises(InputError, match="--engine spark"):
        open_sql(load_settings("local", [], {"lakehouse.root": "s3://b/l"}), engine="duckdb")
    with pytest.raises(InputError, match=r"lakehouse\.root"):
        open_sql(load_settings("local", [], {"lakehouse.root": "/nowhere"}), engine="duckdb")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT get(array(7, 8), 1) AS n", [(8,)]),
        ("SELECT get(array(7), 5) AS n", [(None,)]),
        ("SELECT stack(2, 1, 'a', 2, 'b') AS (n, name)", [(1, "a"), (2, "b")]),
        (
            "SELECT t.k, n, name FROM (SELECT 5 AS k) AS t LATERAL VIEW stack(2, 1, 'a', k, 'b') AS n, name",
            [(5, 1, "a"), (5, 5, "b")],
        ),
        ("SELECT inline(array(named_struct('a', 1, 'b', 2)))", [(1, 2)]),
        (
            "SELECT aggregate(zip_with(array(1D, 2D), array(3D, 4D), (x, y) -> x * y), 0D, (s, v) -> s + v) AS dot",
            [(11.0,)],
        ),
        ("SELECT array_sort(array_union(array(1, 2), array(2, 3))) AS a", [([1, 2, 3],)]),
        ("SELECT format_number(0.256D, 2) AS t", [("0.26",)]),
        (
            "SELECT substring_index('7-3/2', '/', 1), substring_index('7-3/2', '/', -1), substring_index('7', '/', -1)",
            [("7-3", "2", "7")],
        ),
        ("SELECT try_divide(1, 0) AS n", [(None,)]),
        ("SELECT count_if(n > 1) AS n FROM (SELECT explode(array(1, 2, 3)) AS n) AS t WHERE n > 5", [(0,)]),
        (
            "SELECT n, v FROM (SELECT array('x', 'y') AS a) AS t LATERAL VIEW posexplode(a) AS n, v",
            [(0, "x"), (1, "y")],
        ),
    ],
)
def test_functions_of_spark_are_translated(query: str, found: list[tuple[Any, ...]]) -> None:
    import duckdb

    assert sorted(duckdb.connect().execute(translated(query)).fetchall()) == found


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("string", "TEXT"),
        ("array<struct<a: int, b: string>>", "STRUCT(a INT, b TEXT)[]"),
        ("map<string, bigint>", "MAP(TEXT, BIGINT)"),
    ],
)
def test_types_are_translated(kind: str, expected: str) -> None:
    assert duckdb_type(kind) == expected


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        (
            "SELECT s.lable FROM edos.seeds s",
            "column lable is not there: did you mean label? (its columns: DESCRIBE edos",
        ),
        ("SELECT x FROM (SELECT label AS foo FROM edos.seeds)", "column x is not there (its columns"),
        ("WITH a AS (SELECT label AS foo FROM edos.seeds) SELECT fooo FROM a", "did you mean foo?"),
        ("SELECT named_struct('dot', 1).dto", "column dto is not there: did you mean dot?"),
        ("SELECT label FROM edos.seds", "table edos.seds is not known: did you mean edos.seeds?"),
        ("SELECT label FROM eods.seeds", "table eods.seeds is not known: did you mean edos.seeds?"),
        ("SELECT soundex(label) FROM edos.seeds", None),
        ("SELECT col FROM (SELECT explode(array(1)))", None),
        ("SELECT id FROM range(3)", None),
        ("SELECT _metadata.file_path FROM edos.seeds", None),
        ("SELECT * FROM delta.`/a/b`", None),
        ("SELECT label FROM", None),
    ],
)
def test_a_misspelt_name_is_told_without_spark(lakehouse: Any, statement: str, line: str | None) -> None:
    if line is None:  # Spark may know better
        assert run_statements(lakehouse, [statement], as_csv=True, of_spark=True) == [statement]
        return
    with pytest.raises(InputError, match=re.escape(line)):
        run_statements(lakehouse, [statement], as_csv=True, of_spark=True)


@pytest.mark.parametrize(
    ("statement", "by_spark"),
    [
        ("INSERT INTO ops.dropped SELECT * FROM ops.dropped", True),
        ('DELETE FROM "edos".Seeds', True),
        ("UPDATE edos.seeds SET label = 'x'", True),
        ("DELETE FROM edos.turns", False),
        ("-- mine\nCREATE OR REPLACE TABLE edos.mine AS SELECT 1", False),
        ("DROP TABLE IF EXISTS edos.seeds", False),
    ],
)
def test_the_shell_only_reads(lakehouse: Any, statement: str, by_spark: bool) -> None:
    with pytest.raises(InputError, match="the shell only reads: it does not change ") as refused:
        run_statements(lakehouse, [statement], as_csv=False)
    assert ("--engine spark" in str(refused.value)) == by_spark
    run_statements(lakehouse, ["CREATE TEMP TABLE mine AS SELECT 1 AS a", "INSERT INTO mine VALUES (2)"], as_csv=True)


def test_a_list_that_counts_from_0_is_told(lakehouse: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run_statements(lakehouse, ["SELECT array(5, 6)[1] AS n", "SELECT [5, 6][1] AS n"], as_csv=True)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("n\n6\nn\n5\n", "taken as Spark's SQL, whose lists count from 0\n")
