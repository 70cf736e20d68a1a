"""Self-labels: over 0.9, or the most confident of each class; never what has a label already."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from etl.edos.labelled_rows import pool_of
from etl.edos.self_labels import self_labels
from etl.pipeline.outcome import Outcome
from tests.edos.expansions import LABELLED, RELEASED, SEEDS, balanced, clean_frame, told
from tests.frames import computed

SCORES = "history_hash string, model string, label string, confidence float, error string"
ANSWERS = {
    "a": ("sad", 0.9, None),
    "b": ("sad", 0.9001, None),
    "c": ("sad", 0.89995, None),  # 0.9 in four decimals
    "d": ("sad", 0.8999, None),
    "e": ("proud", 0.3, None),
    "f": ("proud", 0.3, None),
    "g": (None, None, "ValueError: no"),
    "seed": ("sad", 0.99, None),
    "similar": ("sad", 0.98, None),
}


@pytest.fixture(scope="module")
def given(spark: SparkSession) -> tuple[DataFrame, ...]:
    """(pool, scores, seeds, similar dialogues, released dialogues)."""
    clean = clean_frame(spark, {name: ("film", ["so", f"words of {name}"]) for name in ANSWERS})
    pool = computed(pool_of(clean, True, 1.0))
    key = {row.dialogue_id: row.history_hash for row in pool.collect()}
    rows = [(key[name], "m@2", *answer) for name, answer in ANSWERS.items()]
    rows.append((key["e"], "m@1", "proud", 0.99, None))
    seeds = spark.createDataFrame([("s", 1, ["So !", "words of seed"], "proud", "train")], SEEDS)
    similar = spark.createDataFrame(
        [("similar", 1, ["so", "words of similar"], "proud", "similar", 0.95, "s/1", "pool")], LABELLED
    )
    released = spark.createDataFrame(
        [
            ("self", "r", 0, ["released"], "sad", 0.64, None, None),
            ("similar", "r2", 0, ["of another step"], "sad", 0.95, None, None),
        ],
        RELEASED,
    )
    return pool, spark.createDataFrame(rows, SCORES).repartition(3), seeds, similar, released


def labelled(given: tuple[DataFrame, ...], least: float | None, per_class: int | None, model: str = "m@2") -> Outcome:
    pool, scores, *known = given
    return self_labels(pool, scores, model, *known, least, per_class)


@pytest.mark.parametrize(
    ("least", "per_class", "chosen"),
    [
        (0.9, None, {"a", "b", "c"}),
        (None, 3, {"a", "b", "c", "e", "f"}),
        pytest.param(None, None, {"a", "b", "c", "d", "e", "f"}, marks=pytest.mark.long),
    ],
)
def test_both_rules(given: tuple, least: float | None, per_class: int | None, chosen: set[str]) -> None:
    outcome = labelled(given, least, per_class)
    rows = outcome.rows.collect()
    assert {row.dialogue_id for row in rows} == {*chosen, "r"}
    assert {(row.origin, row.source) for row in rows} == {("self", "pool"), ("self", "released")}
    assert balanced(outcome)


def test_reasons(given: tuple) -> None:
    left_out = told(labelled(given, 0.9, 2))
    assert left_out == {
        "c/1": ("below_rank", "sad 0.9000, rank 3"),
        "d/1": ("below_confidence", "sad 0.8999"),
        "e/1": ("below_confidence", "proud 0.3000"),
        "f/1": ("below_confidence", "proud 0.3000"),
        "g/1": ("model_failed", "ValueError: no"),
        "seed/1": ("labelled_already", "s/1 is proud by crowd"),
        "similar/1": ("labelled_already", "similar/1 is proud by similar"),
    }


def test_another_model_gives_other_labels(given: tuple) -> None:
    rows = labelled(given, 0.9, None, model="m@1").rows.collect()
    assert {(row.dialogue_id, row.score) for row in rows} == {("e", 0.99), ("r", 0.64)}
