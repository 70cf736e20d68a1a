"""Tables on the screen: alignment, shortening, numbers, nested values."""

from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Row

from etl.publishing.screen_tables import LEAST, aligned, csv_row, row_count


def test_numbers_stand_right_and_text_left() -> None:
    lines = aligned(("stage", "rows", "share"), [("a", 1234, 0.5), ("longer", None, 12.34567)])
    assert lines == [
        "stage    rows    share",
        "a       1,234      0.5",
        "longer         12.3457",
    ]


def test_years_and_other_answers_to_sql_have_no_separators() -> None:
    lines = aligned(("year", "mean", "sum"), [(1999, Decimal("1234.50"), 12345.0)], grouped=False)
    assert lines == ["year    mean    sum", "1999  1234.5  12345"]


@pytest.mark.parametrize(
    ("rows", "cut", "line"),
    [
        (0, False, "(0 rows)"),
        (1, False, "(1 row)"),
        (2, False, "(2 rows)"),
        (101, True, "(first 100 rows; --csv prints all)"),
    ],
)
def test_rows_are_counted_below_them(rows: int, cut: bool, line: str) -> None:
    assert row_count(rows, cut) == line


def test_no_rows_leave_the_head() -> None:
    assert aligned(("a", "b"), []) == ["a  b"]


@pytest.mark.parametrize("width", [45, 60, 80, 100])
def test_lines_fit_and_numbers_are_never_cut(width: int) -> None:
    rows = [("x" * 70, 1_000_000, "y" * 30, "z"), ("short", 2, "also short", "z")]
    lines = aligned(("text", "number", "other", "last"), rows, width)
    assert max(map(len, lines)) <= width
    assert "1,000,000" in lines[1]
    assert ("…" in lines[1]) == (width < 70 + 9 + 30 + 4 + 6)
    assert "short" in lines[2]


def test_columns_are_not_shortened_below_the_least() -> None:
    lines = aligned(("a", "b", "c"), [("x" * 50, "y" * 50, "z" * 50)], 20)
    assert [len(cell) for cell in lines[1].split()] == [LEAST] * 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NA"),
        ("", ""),
        (True, "true"),
        (0, "0"),
        (1.5, "1.5"),
        ("a,b", "a,b"),
        (["ü", None], '["ü", null]'),
        ([Row(text="no", label="sad")], '[{"text": "no", "label": "sad"}]'),
        ({1: (2, 3)}, '{"1": [2, 3]}'),
        (0.35989999771118164, "0.3599"),
        ([0.35989999771118164], "[0.3599]"),
        (0.1, "0.1"),
        (1 / 3, str(1 / 3)),
        (1e300, "1e+300"),
        (float("nan"), "nan"),
        (16777216.0, "16777216.0"),
    ],
)
def test_csv_fields(value: Any, text: str) -> None:
    assert csv_row([value]) == [text]


def test_line_breaks_do_not_break_the_table() -> None:
    assert aligned(("a",), [("one\n two\tthree",)]) == ["a", "one two three"]


def test_no_text_moves_the_cursor() -> None:
    assert aligned(("a\x1b[2J",), [("\x1b[31mred \x9b5A\u202e\x07",)]) == ["a [2J", "[31mred 5A"]
