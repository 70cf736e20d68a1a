"""Floors beside the classifiers' figures and the raters' agreement, on worked examples."""

import pytest
from pyspark.sql import SparkSession

from tests.stand_ins import StandIns


def test_synthetic_test_sets_have_three_floors(spark: SparkSession, stand_ins: StandIns) -> None:
    rows = [("emo_pillars_contextless", "plain", name, 0.5, support, 10) for name, support in (("joy", 5), ("fear", 1))]
    rows.append(("emo_pillars_contextless", "plain", "macro", 0.5, 6, 10))
    schema = "learner string, tested_on string, class string, f1 double, support bigint, passages bigint"
    stand_ins.give("emo_pillars.intra_dataset", spark.createDataFrame(rows, schema))
    (row,) = stand_ins.ask("emo_pillars_intra_dataset")
    assert row.all_labels_f1 == pytest.approx((2 * 5 / 15 + 2 * 1 / 11) / 2, abs=1e-4)
    assert row.majority_f1 == pytest.approx((2 * 5 / 15) / 2, abs=1e-4)
    assert row.random_f1 == pytest.approx((0.5 + 0.1) / 2)


def test_peoples_sets_have_floors_of_both_averages(spark: SparkSession, stand_ins: StandIns) -> None:
    classes = [("joy", 6), ("fear", 2), ("macro", 8), ("micro", 8)]
    rows = [("t", "emo_pillars_encoder", True, "7 emotions, strongest", name, 0.5, 0.5, 0.5, support, 8)
            for name, support in classes]  # fmt: skip
    schema = (
        "trial string, model string, tuned boolean, scored string, class string, precision double, recall double, "
        "f1 double, support bigint, test_rows int"
    )
    stand_ins.give("emo_pillars.isear_results", spark.createDataFrame(rows, schema))
    found = {row.average: row for row in stand_ins.ask("emo_pillars_transfer") if row.trials}
    assert found["macro"].majority_f1 == pytest.approx(2 * 6 / 14 / 2, abs=1e-4)
    assert found["macro"].random_f1 == pytest.approx(0.5)
    assert found["micro"].majority_f1 == pytest.approx(0.75)  # one class a row: the share of the largest
    assert found["micro"].random_f1 == pytest.approx((36 + 4) / 8 / 8)
    by_class = {row["class"]: row for row in stand_ins.ask("emo_pillars_transfer_classes")}
    assert by_class["joy"].always_f1 == pytest.approx(12 / 14, abs=1e-4) and by_class["fear"].random_f1 == 0.25


def test_raters_at_random_agree_within_one_step_by_chance(spark: SparkSession, stand_ins: StandIns) -> None:
    rows = [("informativeness", "augmenter", "ed", "a", score) for score in (3, 2, 3)]
    schema = "aspect string, method string, source string, text_id string, score int"
    stand_ins.give("augesc.ratings", spark.createDataFrame(rows, schema))
    found = {row.aspect: row for row in stand_ins.ask("augesc_agreement") if row.samples}
    outcomes = [(a, b, c) for a in range(4) for b in range(4) for c in range(4)]
    expected = sum(max(one) - min(one) <= 1 for one in outcomes) / 64
    assert found["informativeness"].random_share == pytest.approx(expected, abs=1e-4)
    assert {row.random_mean for row in stand_ins.ask("augesc_table_3")} == {1.5}
