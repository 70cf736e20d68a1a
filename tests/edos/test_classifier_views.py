"""Table 5 and the ablation over trials of the test's own."""

import pytest
from pyspark.sql import SparkSession

from tests.stand_ins import StandIns

ALL = ("crowd", "similar", "self", "similar_self")
TRIALS = [
    # weighted, origins, seed, macro-F1, accuracy
    (True, ("crowd",), 1, 0.58, 0.60),
    (True, ("crowd",), 2, 0.60, 0.62),
    (False, ("crowd",), 1, 0.59, 0.61),
    (True, ALL, 1, 0.64, 0.65),
    (False, ALL, 1, 0.62, 0.66),
]


@pytest.fixture()
def trials(spark: SparkSession, stand_ins: StandIns) -> StandIns:
    rows = [
        (
            f"t{place}",
            weighted,
            list(origins),
            seed,
            f1,
            accuracy,
            f1 + 0.01,
            f1 + 0.02,
            [("sad", 0.5, 0.25, f1, 3), ("proud", 1.0, 1.0, 1.0, 2)],
        )
        for place, (weighted, origins, seed, f1, accuracy) in enumerate(TRIALS)
    ]
    schema = (
        "trial string, weighted boolean, origins array<string>, seed int, macro_f1 double, accuracy double, "
        "macro_precision double, macro_recall double, "
        "classes array<struct<label: string, precision: double, recall: double, f1: double, support: bigint>>"
    )
    stand_ins.give("edos.classifier_trials", spark.createDataFrame(rows, schema))
    return stand_ins


def test_table_5_has_means_over_seeds_beside_the_papers_row(trials: StandIns) -> None:
    rows = trials.ask("edos_table_5")
    others = rows[:7]
    ours = rows[7:11]
    floors = rows[11:]
    assert [row.paper_accuracy for row in others] == [62.5, 62.48, 56.56, 58.3, 64.7, 63.4, 65.25]
    assert all(row.macro_f1 is None and row.seeds == 0 for row in others)
    shown = [
        (row.classifier, row.trained_on, row.seeds, row.macro_f1, row.macro_f1_sd, row.accuracy, row.paper_macro_f1)
        for row in ours
    ]
    everything = " + ".join(ALL)
    assert shown == [
        ("EDOS, unweighted", "crowd", 1, 59.0, None, 61.0, None),
        ("EDOS, weighted", "crowd", 2, 59.0, 1.41, 61.0, None),
        ("EDOS, unweighted", everything, 1, 62.0, None, 66.0, None),
        ("EDOS, weighted", everything, 1, 64.0, None, 65.0, 63.86),
    ]
    # Supports of 3 and 2: the majority has 3 of 5, and its label's F1 is 2 * 0.6 / 1.6.
    assert [(row.classifier, row.macro_f1, row.accuracy) for row in floors] == [
        ("floor: the most frequent label", 37.5, 60.0),
        ("floor: labels at random", 49.49, 50.0),
    ]
    assert (ours[1].macro_precision, ours[1].macro_recall) == (60.0, 61.0)


def test_the_ceiling_of_table_5_is_a_worker_against_two_that_agree(spark: SparkSession, stand_ins: StandIns) -> None:
    votes = [(["sad", "sad", "sad"],), (["sad", "proud", "sad"],), (["a", "b", "c"],), (["sad", "sad"],)]
    stand_ins.give("edos.crowd_labels", spark.createDataFrame(votes, "votes array<string>"))
    last = stand_ins.ask("edos_table_5")[-1]
    assert (last.classifier, last.accuracy) == ("ceiling: a worker, where two others agree", 75.0)


def test_table_5_shows_the_papers_row_without_trials(stand_ins: StandIns) -> None:
    last = stand_ins.ask("edos_table_5")[-1]
    assert (last.classifier, last.seeds, last.macro_f1) == ("EDOS, weighted", 0, None)
    assert (last.paper_macro_f1, last.paper_accuracy) == (63.86, 65.0)
    assert (last.paper_macro_precision, last.paper_macro_recall, last.paper_seconds) == (64.11, 64.59, 546.84)


def test_weighting_is_judged_by_pairs_of_equal_seed(trials: StandIns) -> None:
    crowd, everything = trials.ask("edos_weighting")
    assert (crowd.seeds, crowd.weighted_f1, crowd.unweighted_f1, crowd.gain) == (1, 58.0, 59.0, -1.0)
    assert (crowd.seeds_it_helps, crowd.paper_gain) == (0, None)
    assert (everything.gain, everything.seeds_it_helps, everything.paper_gain) == (2.0, 1, 1.42)
