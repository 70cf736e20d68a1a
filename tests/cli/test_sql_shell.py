"""The message of ``sql -e`` about a statement that Spark refuses."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from etl.cli.sql_shell import refusal

KNOWN = ["edos.turns", "edos.dialogues", "analysis.edos_table_9"]


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("SELECT * FROM edos.turns", "edos.turns has no rows to read in mine yet: run the stage that writes it"),
        ("SELECT * FROM edos.turn", "table edos.turn is not known: did you mean edos.turns? (docs/tables.md"),
        ("SELECT * FROM unheard.of", "table unheard.of is not known (docs/tables.md, docs/views.md)"),
        ("SELECT labl FROM (SELECT 'sad' AS label)", "Did you mean one of the following? [`label`]"),
        ("SELECT * FORM edos.turns", "[PARSE_SYNTAX_ERROR]"),
    ],
)
def test_a_refused_statement_is_one_line_with_a_cure(spark: SparkSession, statement: str, line: str) -> None:
    with pytest.raises(AnalysisException) as refused:
        spark.sql(statement)
    said = refusal(refused.value, KNOWN, "mine")
    assert line in said and "\n" not in said
