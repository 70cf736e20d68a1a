"""The message of ``sql -e`` about a statement that Spark refuses."""

from contextlib import suppress

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from conf.taxonomy import load_taxonomy
from etl.cli.sql_shell import _makes_table, refusal
from etl.cli.sql_statements import QUERY, with_quotes
from etl.publishing.views import all_views, named_in


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        (
            "SELECT * FROM edos.turns",
            "edos.turns is not there yet: it reads edos.dialogues (`python -m jobs run --to annotate_dialogues` with",
        ),
        (
            "SELECT * FROM subtitles.files",
            "subtitles.files is not there yet (`python -m jobs run --to ingest_subtitles` ",
        ),
        (
            "SELECT * FROM analysis.edos_similarity_thresholds",
            "edos.similar_self_matches, edos.self_labelled (`python -m jobs run --to search_similar_again` with",
        ),
        (
            "SELECT * FROM analysis.cleaning_cost",
            "analysis.cleaning_cost needs columns that tables of another version lack",
        ),
        ("SELECT * FROM edos.turn", "table edos.turn is not known: did you mean edos.turns? (docs/tables.md"),
        ("SELECT * FROM unheard.of", "table unheard.of is not known (docs/tables.md, docs/views.md)"),
        ("SELECT labl FROM (SELECT 'sad' AS label)", "Did you mean one of the following? [`label`]"),
        ("SELECT * FORM edos.turns", "[PARSE_SYNTAX_ERROR]"),
    ],
)
def test_a_refused_statement_is_one_line_with_a_cure(spark: SparkSession, statement: str, line: str) -> None:
    for left in ("TABLE", "VIEW"):  # by other tests of the session
        for name in ("subtitles.files", "analysis.cleaning_cost", "analysis.edos_similarity_thresholds", "edos.turns"):
            with suppress(AnalysisException):
                spark.sql(f"DROP {left} {name}")
    with pytest.raises(AnalysisException) as refused:
        spark.sql(statement)
    said = refusal(refused.value, all_views(load_taxonomy("edos")), ["subtitles.clean_dialogues", "edos.weak_labels"])
    assert line in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("statement", "views", "tables"),
    [
        ("SELECT 1", (), ()),
        ("select * from `edos`.`Weak_Labels` w", (), ("edos.weak_labels",)),
        ("FROM spark_catalog.edos.seeds SELECT label", (), ("edos.seeds",)),
        ("SELECT * FROM edos.turnz", (), ()),
        (
            "SELECT * FROM analysis.edos_table_9 JOIN edos.turns USING (label)",
            ("analysis.edos_paper_table_9", "analysis.edos_taxonomy", "analysis.edos_table_9", "edos.turns"),
            ("edos.dialogues", "edos.weak_labels", "subtitles.clean_dialogues"),
        ),
    ],
)
def test_a_query_gets_the_views_and_tables_that_it_names(
    statement: str, views: tuple[str, ...], tables: tuple[str, ...]
) -> None:
    assert QUERY.match(statement)
    found, read = named_in([statement], all_views(load_taxonomy("edos")))
    assert (set(found), {table.name for table in read}) == (set(views), set(tables))


def test_statements_about_all_tables_get_all() -> None:
    assert not any(map(QUERY.match, ("SHOW TABLES IN edos", "USE edos", "DESCRIBE edos.turns", "CREATE VIEW a.b AS")))
    assert all(map(QUERY.match, ("-- all of them\n\n(SELECT 1)", "With a AS (SELECT 1) FROM a", "explain SELECT 1")))
    assert all(map(QUERY.match, ("DELETE FROM a.b", "update a.b SET c = 1", "INSERT INTO a.b SELECT 1")))


@pytest.mark.parametrize(
    ("statement", "refused"),
    [
        ("CREATE OR REPLACE TABLE edos.mine AS SELECT 1", True),
        ("create table if not exists `edos`.mine (a INT)", True),
        ("CREATE TABLE edos.mine USING delta LOCATION '/x/y'", False),
        ("CREATE TEMPORARY VIEW mine AS SELECT 1", False),
        ("DROP TABLE edos.seeds", False),
        ("ALTER TABLE edos.seeds DROP COLUMN turn", False),
    ],
)
def test_a_table_that_no_other_session_would_find_is_refused(statement: str, refused: bool) -> None:
    assert _makes_table(statement) == refused


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT 'it''s', ''", "SELECT 'it\\'s', ''"),
        ("SELECT \"a''b\", r'a''b', `a''b` -- it''s", "SELECT \"a''b\", r'a''b', `a''b` -- it''s"),
        ("SELECT 'a' /* '' */, 'c\\'''d'", "SELECT 'a' /* '' */, 'c\\'\\'d'"),
    ],
)
def test_two_quotation_marks_are_one_in_a_text(statement: str, expected: str) -> None:
    assert with_quotes(statement) == expected
