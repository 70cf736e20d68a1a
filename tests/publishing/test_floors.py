"""Floors beside the classifiers' figures and the raters' agreement, on worked examples."""

from statistics import mean

import pytest
from pyspark.sql import Row, SparkSession
from scipy import stats

from conf.papers import paper_table
from etl.publishing.without_spark import connected
from tests.stand_ins import StandIns


def test_synthetic_test_sets_have_three_floors(spark: SparkSession, stand_ins: StandIns) -> None:
    rows = [("emo_pillars_contextless", "plain", name, 0.5, support, 10) for name, support in (("joy", 5), ("fear", 1))]
    rows.append(("emo_pillars_contextless", "plain", "macro", 0.5, 6, 10))
    schema = "learner string, tested_on string, class string, f1 double, support bigint, passages bigint"
    stand_ins.give("emo_pillars.intra_dataset", spark.createDataFrame(rows, schema))
    shown = stand_ins.ask("emo_pillars_intra_dataset")
    assert sum(row.paper_f1 is not None for row in shown) == 10, "the paper's rows are there without a run"
    (row,) = (row for row in shown if row.passages)
    assert row.all_labels_f1 == pytest.approx((2 * 5 / 15 + 2 * 1 / 11) / 2, abs=1e-4)
    assert row.majority_f1 == pytest.approx((2 * 5 / 15) / 2, abs=1e-4)
    assert row.random_f1 == pytest.approx((0.5 + 0.1) / 2)


def test_the_papers_rows_are_there_before_any_table() -> None:
    rows = {
        "emo_pillars_intra_dataset": 10,
        "emo_pillars_transfer": len(paper_table("emo_pillars_paper_transfer").rows),
        "emo_pillars_transfer_classes": 29,
        "edos_weighting": 1,
    }
    with connected({}) as lakehouse:
        found = {view: lakehouse.execute(f"SELECT count(*) FROM analysis.{view}").fetchone()[0] for view in rows}
    assert found == rows


def test_peoples_sets_have_floors_of_both_averages(spark: SparkSession, stand_ins: StandIns) -> None:
    classes = [("joy", 6), ("fear", 2), ("macro", 8), ("micro", 8)]
    rows = [
        ("t", "emo_pillars_encoder", True, "7 emotions, strongest", name, 0.5, 0.5, 0.5, support, 8)
        for name, support in classes
    ]
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
    shown = stand_ins.ask("emo_pillars_transfer_classes")
    by_class = {row["class"]: row for row in shown if row.trials}
    printed = {row["class"]: row for row in shown if row.trials is None}
    assert len(printed) == 29
    assert (printed["grief"].paper_f1, printed["std"].paper_f1, printed["grief"].task) == (0.57, 0.16, "goemotions")
    assert by_class["joy"].always_f1 == pytest.approx(12 / 14, abs=1e-4)
    assert by_class["fear"].random_f1 == 0.25


def test_raters_at_random_agree_within_one_step_by_chance(spark: SparkSession, stand_ins: StandIns) -> None:
    rows = [("informativeness", "augmenter", "ed", "a", score) for score in (3, 2, 3)]
    schema = "aspect string, method string, source string, text_id string, score int"
    stand_ins.give("augesc.ratings", spark.createDataFrame(rows, schema))
    found = {row.aspect: row for row in stand_ins.ask("augesc_agreement") if row.samples}
    outcomes = [(a, b, c) for a in range(4) for b in range(4) for c in range(4)]
    expected = sum(max(one) - min(one) <= 1 for one in outcomes) / 64
    assert found["informativeness"].random_share == pytest.approx(expected, abs=1e-4)
    assert {row.random_mean for row in stand_ins.ask("augesc_table_3")} == {1.5}


def gains(spark: SparkSession, stand_ins: StandIns, trials: list[tuple[str, int, float]]) -> list[Row]:
    """Return the gains on ISEAR of trials of (model, seed, f1)."""
    rows = [
        (f"{model}{seed}", model, True, None, seed, 0, "7 emotions, strongest", "macro", f1, 90)
        for model, seed, f1 in trials
    ]
    schema = (
        "trial string, model string, tuned boolean, variant string, seed int, fold int, scored string, class string, "
        "f1 double, train_rows int"
    )
    stand_ins.give("emo_pillars.isear_results", spark.createDataFrame(rows, schema))
    return stand_ins.ask("emo_pillars_transfer_gains")


@pytest.mark.parametrize("pairs", [2, 3, 4, 5])
def test_a_gain_is_tested_pair_by_pair(spark: SparkSession, stand_ins: StandIns, pairs: int) -> None:
    plain = [0.50, 0.52, 0.47, 0.55, 0.51][:pairs]
    ours = [0.53, 0.52, 0.51, 0.54, 0.56][:pairs]
    trials = [("emo_pillars_encoder", seed, f1) for seed, f1 in enumerate(plain)]
    trials += [("emo_pillars_contextless", seed, f1) for seed, f1 in enumerate(ours)]
    (row,) = gains(spark, stand_ins, [*trials, ("emo_pillars_contextless", 77, 0.9)])  # has no pair
    expected = stats.ttest_rel(ours, plain)
    assert (row.pairs, row.gain) == (pairs, pytest.approx(mean(ours) - mean(plain), abs=1e-4))
    assert row.t == pytest.approx(expected.statistic, abs=0.01)
    assert row.p_two_sided == pytest.approx(expected.pvalue, abs=1e-4)


def test_one_pair_and_equal_gains_have_no_test(spark: SparkSession, stand_ins: StandIns) -> None:
    one = [("emo_pillars_encoder", 1, 0.5), ("emo_pillars_contextless", 1, 0.4)]
    (row,) = gains(spark, stand_ins, one)
    assert (row.gain, row.gain_sd, row.t, row.p_two_sided) == (-0.1, None, None, None)
    (row,) = gains(spark, stand_ins, [*one, ("emo_pillars_encoder", 2, 0.5), ("emo_pillars_contextless", 2, 0.4)])
    assert (row.gain, row.gain_sd, row.t, row.p_two_sided) == (-0.1, 0, None, None)
