"""What a data set of certain turns costs."""

import pytest
from pyspark.sql import SparkSession

from etl.subtitles.tables import TURN
from etl.subtitles.trade_off import trade_off

COLUMNS = f"turns array<{TURN}>, certainties array<float>, border_certainties array<float>, certainty float"


def test_spans_are_counted_by_the_probability_asked(spark: SparkSession) -> None:
    texts = ["The farm was sold .", "Who sold the farm ?", "Your brother and his wife .", "Who told you ?"]
    turns = [(text, 0, 0, n, n) for n, text in enumerate(texts)]
    rows = [(turns, [0.9, 1.0, 0.9, 1.0], [1.0, 0.9, 1.0, 0.9], 0.81), (turns[:2], [0.6, 0.9], [0.7, 0.9], 0.378)]
    frame = spark.createDataFrame(rows, COLUMNS)
    found = {row["asked"]: row for row in trade_off(frame, {"the", "was", "who", "and"}, (0.5, 0.85))}
    assert found[0.0]["dialogues"] == 2
    assert found[0.0]["faults"] == pytest.approx(1 - (0.81 + 0.378) / 2)
    assert (found[0.5]["dialogues"], found[0.5]["turns"]) == (1, 3)
    assert found[0.5]["faults"] == pytest.approx(0.19)
    assert found[0.85]["turns"] == 2
    assert found[0.85]["faults"] == pytest.approx(0.1)
    assert found[0.85]["share"] == found[0.85]["dialogues"] / 2
