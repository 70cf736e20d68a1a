"""What a data set of certain turns costs."""

import pytest
from pyspark.sql import SparkSession

from etl.subtitles.tables import TURN
from etl.subtitles.trade_off import trade_off

COLUMNS = f"turns array<{TURN}>, certainties array<float>, border_certainties array<float>, certainty float"


def test_spans_and_first_turns_are_counted_by_the_probability_asked(spark: SparkSession) -> None:
    turns = [(text, 0, 0, n, n) for n, text in enumerate(["One .", "Two or so .", "Three .", "Four ."])]
    rows = [(turns, [0.9, 1.0, 0.9, 1.0], [1.0, 0.9, 1.0, 0.9], 0.81), (turns[:2], [0.6, 0.9], [0.7, 0.9], 0.378)]
    found = {(row["way"], row["asked"]): row for row in trade_off(spark.createDataFrame(rows, COLUMNS), (0.5, 0.85))}
    assert found["pool", 0.0]["dialogues"] == 2
    assert found["pool", 0.0]["faults"] == pytest.approx(1 - (0.81 + 0.378) / 2)
    assert [found[way, 0.5]["dialogues"] for way in ("spans", "first", "closing")] == [1, 2, 2]
    assert [found[way, 0.85]["dialogues"] for way in ("spans", "first", "closing")] == [2, 1, 2]
    assert found["first", 0.85]["turns"] == 2
    assert found["first", 0.85]["tokens"] == 3
    assert found["spans", 0.85]["faults"] == pytest.approx(0.1)
    assert found["spans", 0.85]["share"] == 1.0
