"""Table 5 and the ablation over trials of the test's own."""

from datetime import datetime

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
            "pkg:small#sha256:1",
            3 + seed,
        )
        for place, (weighted, origins, seed, f1, accuracy) in enumerate(TRIALS)
    ]
    schema = (
        "trial string, weighted boolean, origins array<string>, seed int, macro_f1 double, accuracy double, "
        "macro_precision double, macro_recall double, "
        "classes array<struct<label: string, precision: double, recall: double, f1: double, support: bigint>>, "
        "encoder string, epochs int"
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
    assert {(row.encoder, row.epochs) for row in ours} == {("pkg:small", 4), ("pkg:small", 5)}
    assert ours[1].epochs == 5
    assert {(row.encoder, row.epochs) for row in (*others, *floors)} == {(None, None)}


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
    assert (everything.encoder, everything.epochs) == ("pkg:small", 4)


def test_weighting_shows_the_papers_row_without_trials(stand_ins: StandIns) -> None:
    (row,) = stand_ins.ask("edos_weighting")
    assert (row.seeds, row.gain, row.paper_weighted_f1, row.paper_unweighted_f1) == (None, None, 64.86, 63.44)


RUNS = "stage string, event string, started timestamp, settings map<string, string>, figures map<string, double>"


def test_the_models_stand_beside_the_papers_figures_with_rows_encoder_and_epochs(
    spark: SparkSession, stand_ins: StandIns
) -> None:
    def printed() -> list[tuple]:
        rows = stand_ins.ask("edos_models")
        return [(row.model, row.figure, row.value, row.paper, row.rows, row.encoder, row.epochs) for row in rows]

    assert printed() == [
        ("turn_segmenter", "accuracy", None, 76.69, None, None, None),
        ("weak_labeler", "accuracy", None, 65.88, None, None, None),
        ("emotion_classifier", "macro_f1", None, 63.86, None, None, None),
        ("emotion_classifier", "accuracy", None, 65.0, None, None, None),
    ]
    weak = {"models.weak_encoder": '"pkg:small"', "training.weak_labeler.epochs": "3"}
    runs = [
        ("train_turn_segmenter", "done", datetime(2026, 1, 1), {"training.turn_segmenter.kind": '"svm"'}, None),
        ("train_weak_labeler", "done", datetime(2026, 1, 1), weak, {"accuracy": 0.5, "rows": 3544.0}),
        ("train_weak_labeler", "done", datetime(2026, 1, 2), weak, {"accuracy": 0.6115, "rows": 3225.0}),
        ("train_weak_labeler", "failed", datetime(2026, 1, 3), weak, None),
        ("clean_dialogues", "done", datetime(2026, 1, 4), {}, None),
    ]
    stand_ins.give("ops.stage_runs", spark.createDataFrame(runs, RUNS))
    assert printed()[:3] == [
        ("turn_segmenter", "accuracy", None, 76.69, None, "svm", None),
        ("weak_labeler", "accuracy", 61.15, 65.88, 3225, "pkg:small", 3),
        ("emotion_classifier", "macro_f1", None, 63.86, None, None, None),
    ]


def test_table_4_prints_the_paper_and_the_recount_apart(stand_ins: StandIns) -> None:
    rows = {row.place: (row.paper, row.paper_recount) for row in stand_ins.ask("edos_table_4")}
    assert [rows[place] for place in (1, 2, 3, 6)] == [(10250, 10245), (8913, 8919), (86.96, 87.06), (425, 403)]
    assert round(100 * 8919 / 10245, 2) == rows[3][1]
    assert [rows[place] for place in (7, 8, 9)] == [(None, 425), (None, 8913), (None, None)]
