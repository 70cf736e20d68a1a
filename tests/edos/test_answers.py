"""Which answers of the annotation page count, what a HIT's worker is owed, and the views over it (EDOS 3.2, 7)."""

import csv
import gzip
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.taxonomy import edos_labels
from etl.annotation.collecting import refuse_all_dropped
from etl.edos.answers import KEY_DDL, accepted_answers, assignments
from etl.edos.settings import AnnotationSettings
from etl.edos.tables import ANNOTATIONS, ANSWERS, ASSIGNMENTS
from etl.edos.votes import VOTE_COLUMNS, all_annotations
from etl.pipeline.outcome import DROPPED_DDL, Outcome
from tests.frames import outcome_computed
from tests.stand_ins import StandIns
from udfs.answer_files import DDL


def key(spark: SparkSession, hit: str = "h1") -> DataFrame:
    """A HIT of two dialogues and a quiz item."""
    known = (["sad", "proud", "angry"],)
    rows = [
        ("b1", "crowd", hit, f"{hit}i1", "7-1", 1, ["Hi .", "Bye ."], *known, None, "sad", 0.9, "0.9"),
        ("b1", "crowd", hit, f"{hit}i2", "7-9", 0, ["So ."], *known, None, "angry", 0.8, "0.8"),
        ("b1", "crowd", hit, f"{hit}i3", "hit:1", 0, ["I won ."], *known, "proud", None, None, None),
    ]
    return spark.createDataFrame(rows, KEY_DDL)


def given(worker: str | None, item: str | None, value: str | None, **more: object) -> tuple:
    row = {
        "place": f"f#{worker}{item}{value}",
        "batch_id": "made up",
        "hit_id": (item or "h1i")[:2],
        "worker_id": worker,
        "item_id": item,
        "question": "label",
        "value": value,
        "other": False,
        "seconds": 10.0,
        "submitted": "2024-05-01",
        "fault": None,
        "detail": None,
    }
    return tuple((row | more).values())


def whole(worker: str, *values: str, hit: str = "h1", **more: object) -> list[tuple]:
    return [given(worker, f"{hit}i{n}", value, **more) for n, value in enumerate(values, 1)]


ROWS = [
    *whole("w1", "sad", "Annoyed ", "proud"),
    *whole("w2", "sad", "dancing", "sad"),
    *whole("w3", "sad", "angry"),  # half done
    given("w1", "h1i1", "proud", submitted="2024-04-01", place="old"),  # she changed her mind, then downloaded again
    given("w1", "h1i9", "sad"),
    given("w1", "h2i1", "sad"),
    given(None, "h1i1", "sad"),
    given("w4", "h1i1", " (Other)"),
    given("w1", "h1i1", "so so", question="notes"),
    given(None, None, None, fault="not_readable", detail="no JSON: {", place="bad"),
]


def accepted(spark: SparkSession, **settings: object) -> Outcome:
    rows = spark.createDataFrame(ROWS, DDL).repartition(3)
    return outcome_computed(accepted_answers(rows, key(spark), edos_labels(), AnnotationSettings(**settings)))


@pytest.fixture(scope="module")
def by_default(spark: SparkSession) -> Outcome:
    return accepted(spark)


def told(outcome: Outcome) -> tuple[dict, dict]:
    """Return the accepted answers, and reason and detail of the others."""
    kept = outcome.rows.select(*ANSWERS.columns).collect()
    assert outcome.dropped is not None
    left = outcome.dropped.collect()
    assert len(kept) + sum(row["units"] for row in left) == len(ROWS)
    return (
        {(row["worker_id"], row["item_id"]): row for row in kept},
        {row["id"]: (row["reason"], row["detail"]) for row in left},
    )


def test_each_rule_has_its_reason(by_default: Outcome) -> None:
    kept, left = told(by_default)
    assert set(kept) == {(worker, f"h1i{n}") for worker in ("w1", "w2") for n in (1, 2, 3)}
    annoyed = kept[("w1", "h1i2")]
    assert (annoyed["answer"], annoyed["label"], annoyed["specified"]) == ("Annoyed ", "annoyed", True)
    assert (annoyed["dialogue_id"], annoyed["turn"], annoyed["batch_id"], annoyed["model_label"]) == (
        "7-9",
        0,
        "b1",
        "angry",
    )
    assert kept[("w1", "h1i1")]["label"] == "sad"
    assert kept[("w2", "h1i2")]["label"] is None
    by_reason = {reason: sorted(name for name in left if left[name][0] == reason) for reason, _ in left.values()}
    assert by_reason == {
        "half_done": ["f#w3h1i1sad", "f#w3h1i2angry"],
        "answered_again": ["old"],
        "unknown_item": ["f#w1h1i9sad", "f#w1h2i1sad"],
        "no_worker": ["f#Noneh1i1sad"],
        "no_answer": ["f#w4h1i1 (Other)"],
        "other_question": ["f#w1h1i1so so"],
        "not_readable": ["bad"],
        "outside_taxonomy": ["f#w2h1i2dancing"],
    }


def test_answers_that_all_go_for_one_reason_are_an_error(spark: SparkSession) -> None:
    rows = spark.createDataFrame(whole("w1", None, None, None), DDL)
    outcome = outcome_computed(accepted_answers(rows, key(spark), edos_labels(), AnnotationSettings()))
    refused = r"edos\.annotation\.answers: all 3 answers were dropped as no_answer: w1, h1, h1i1"
    with pytest.raises(InputError, match=refused):
        refuse_all_dropped(Outcome(outcome.rows, outcome.dropped, rows_in=3), "edos.annotation.answers")
    assert outcome.dropped is not None
    other = F.when(F.col("id").contains("h1i2"), "half_done").otherwise(F.col("reason"))
    several = Outcome(outcome.rows, outcome.dropped.withColumn("reason", other), rows_in=3)
    assert refuse_all_dropped(several, "edos.annotation.answers") is several


def test_strangers_and_half_done_hits_by_setting(spark: SparkSession) -> None:
    kept, left = told(accepted(spark, known_workers=("w2", "w3"), keep_half_done=True))
    assert {worker for worker, _ in kept} == {"w2", "w3"}
    assert len(kept) == 5
    assert left["f#w1h1i1sad"][0] == "unknown_worker"
    assert left["bad"] == ("not_readable", "no JSON: {")


def test_only_the_crowds_dialogues_become_annotations(spark: SparkSession, by_default: Outcome) -> None:
    answers = by_default.rows
    own = all_annotations(None, answers, edos_labels())
    rows = own.rows.select(*ANNOTATIONS.columns).collect()
    assert sorted((row["dialogue_id"], row["turn"], row["worker_id"]) for row in rows) == [
        ("7-1", 1, "w1"),
        ("7-1", 1, "w2"),
        ("7-9", 0, "w1"),
        ("7-9", 0, "w2"),
    ]
    assert own.rows_in == 4
    assert {row["source"] for row in rows} == {"b1"}
    released = [("0.9-1", "7-9", "So .", "Sad", "Sad", "Proud")]
    votes = spark.createDataFrame(released, ", ".join(f"`{name}` string" for name in VOTE_COLUMNS))
    both = all_annotations(Outcome(votes, spark.createDataFrame([], DROPPED_DDL), None, 1), answers, edos_labels())
    assert both.rows.count() == 5
    assert both.rows_in == 7
    assert both.dropped is not None
    left = [(row["id"], row["reason"], row["units"]) for row in both.dropped.orderBy("id").collect()]
    assert left == [(f"b1/7-9/0/{w}", "released_with_votes", 1) for w in ("w1", "w2")]


def test_quiz_bonus_time_and_outliers(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("etl.edos.answers.QUIZ_TO_PASS", 1)
    rows = [
        row
        for n in range(8)
        for row in whole(f"w{n}", "sad", "sad", "proud" if n else "angry", seconds=4000.0 if n == 7 else 60.0 + n)
    ] + whole("half", "sad", "sad")
    kept = accepted_answers(
        spark.createDataFrame(rows, DDL), key(spark), edos_labels(), AnnotationSettings(keep_half_done=True)
    ).rows
    done = assignments(kept, reward=0.40, bonus=0.10).select(*ASSIGNMENTS.columns).collect()
    assert len(done) == 9
    by = {row["worker_id"]: row for row in done}
    assert (by["w0"]["quiz"], by["w0"]["quiz_right"], by["w0"]["passed"]) == (1, 0, False)
    assert (by["w0"]["reward"], by["w0"]["bonus"]) == (Decimal("0.40"), Decimal("0.00"))
    assert (by["w1"]["passed"], by["w1"]["bonus"], by["w1"]["seconds"]) == (True, Decimal("0.10"), 183.0)
    assert [row["worker_id"] for row in done if row["unusually_long"]] == ["w7"]
    assert (by["half"]["answers"], by["half"]["passed"], by["half"]["reward"]) == (2, None, Decimal("0.00"))


@pytest.fixture()
def view(stand_ins: StandIns) -> Callable[..., list[Row]]:
    """Runs a view over its tables."""

    def shown(name: str, **tables: DataFrame) -> list[Row]:
        for table, frame in tables.items():
            stand_ins.give(f"edos.{table}", frame)
        return stand_ins.ask(name)

    return shown


@pytest.mark.slow
def test_table_4_and_cost(spark: SparkSession, view, by_default: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("etl.edos.answers.QUIZ_TO_PASS", 1)
    kept = by_default.rows
    done = assignments(kept, reward=0.40, bonus=0.10)
    labels = spark.createDataFrame(
        [("7-1", 1, "sad", ["sad", "sad", "sad"]), ("7-9", 0, None, ["a", "b", "b"])],
        "dialogue_id string, turn int, label string, votes array<string>",
    )
    own = all_annotations(None, kept, edos_labels()).rows
    table = view("edos_table_4", crowd_labels=labels, assignments=done, annotations=own)
    # observed (1 + 1/3) / 2, expected (9 + 1 + 4) / 36
    kappa = (2 / 3 - 14 / 36) / (1 - 14 / 36)
    assert [row["value"] for row in table] == [2, 1, 50, pytest.approx(kappa, abs=1e-4), 50, 1, 2, 1, 1]
    assert [row["paper"] for row in table] == [10250, 8913, 86.96, 0.46, 77.75, 425, None, None, None]
    cost = {row["criterion"]: row["value"] for row in view("edos_crowd_cost", assignments=done)}
    assert cost["Rewards in dollars"] == pytest.approx(0.8)
    assert cost["Bonuses in dollars"] == pytest.approx(0.1)
    assert cost["Mean minutes a HIT, unusually long ones aside"] == 0.5
    assert cost["Dollars an hour by the reward alone"] == 48
    nothing = spark.createDataFrame([], done.schema)
    assert view("edos_crowd_cost", assignments=nothing)[0]["value"] == 0


RELEASED = {
    8187: {"majority": 7100, "bands": {"0.9": 6899, "0.8": 944, "0.7": 314, "0.6": 30}},
    10245: {
        "majority": 8919,
        "as given": 8913,
        "specified": (403, 425),
        "bands": {"0.9": 8593, "0.8": 1211, "0.7": 397, "0.6": 44},
    },
}
"""Figures of the released votes by their number of rows: of a part of the file, and of the complete one."""


@pytest.mark.slow
def test_the_released_votes_give_the_released_figures(spark: SparkSession, view, shared_data: Path) -> None:
    from etl.common.labelled_files import labelled_rows
    from etl.edos.votes import agree

    path = shared_data / "edos" / "mturk_groundtruth_labels_9k.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as file:
        raw = list(csv.DictReader(file))
    known = RELEASED[len(raw)]
    nobody = spark.createDataFrame([], ANSWERS.schema)
    votes = labelled_rows(spark, [str(path)], VOTE_COLUMNS, "edos.crowd_votes")
    annotations = all_annotations(votes, nobody, edos_labels())
    rows = annotations.rows.cache()
    labels = agree(rows, edos_labels()).rows.cache()
    done = assignments(nobody, reward=0.4, bonus=0.1)
    table = [row["value"] for row in view("edos_table_4", crowd_labels=labels, assignments=done, annotations=rows)]
    assert annotations.rows_in == 3 * len(raw) == rows.count()
    assert table[:3] == [len(raw), known["majority"], round(100 * known["majority"] / len(raw), 2)]
    assert table[4] is None
    assert table[3] == pytest.approx(0.45, abs=0.01)
    answers = [[row[f"Worker {n} answer"] for n in (1, 2, 3)] for row in raw]
    marked = [sum("(other)" in answer.lower() for answer in three) for three in answers]
    assert (table[5], table[6]) == (sum(map(bool, marked)), sum(marked)) == known.get("specified", (table[5], table[6]))
    assert table[7] == known.get("as given", table[7])
    assert Counter(row["Index"].split("-")[0] for row in raw) == known["bands"]
