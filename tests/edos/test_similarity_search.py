"""The search finds what a plain product of all pairs finds, however it is cut."""

import numpy as np
import pytest
import torch
from pyspark.sql import SparkSession

from etl.edos import similarity_search
from etl.edos.similarity_search import Targets, best_pairs, find_similar

EMBEDDINGS = "history_hash string, model string, embedding array<float>, error string"


def unit_vectors(number: int, size: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(number, size)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def targets_of(vectors: np.ndarray, best: int) -> Targets:
    return Targets(tuple(f"t{place:04}" for place in range(len(vectors))), vectors, best)


def plain(rows: np.ndarray, targets: np.ndarray, floor: float, best: int) -> list[tuple[int, int, float]]:
    """The same by sorting every pair."""
    scores = np.round(rows.astype(np.float64) @ targets.astype(np.float64).T, 4)
    found = []
    for row, line in enumerate(scores):
        order = sorted(range(len(line)), key=lambda target: (-line[target], target))[:best]
        found += [(row, target, line[target]) for target in order if line[target] >= floor]
    return found


@pytest.mark.parametrize("dtype", similarity_search.SLACK)
@pytest.mark.parametrize(("floor", "best", "block"), [(0.2, 3, 4096), (0.2, 3, 7), (-1.0, 5, 64), (0.99, 2, 16)])
def test_blocks_find_the_same_as_all_pairs(floor: float, best: int, block: int, dtype: torch.dtype) -> None:
    rows = unit_vectors(90, 24, 1)
    targets = unit_vectors(130, 24, 2)
    rows[3] = targets[50]
    targets[100] = targets[50]  # a tie: the smaller target comes first
    found = best_pairs(rows, targets_of(targets, best), floor, block=block, dtype=dtype)
    got = [tuple(pair) for pair in zip(found.rows, found.targets, found.scores, strict=True)]
    assert got == plain(rows, targets, floor, best)
    tied = [target for row, target, score in got if row == 3 and score == 1.0]
    assert tied == [50, 100]


def test_one_row_alone_gets_the_score_it_gets_among_others() -> None:
    rows = unit_vectors(64, 384, 3)
    targets = targets_of(unit_vectors(300, 384, 4), 4)
    together = best_pairs(rows, targets, 0.05)
    alone = [best_pairs(rows[place : place + 1], targets, 0.05, block=11) for place in range(64)]
    assert np.array_equal(together.scores, np.concatenate([one.scores for one in alone]))
    assert np.array_equal(together.targets, np.concatenate([one.targets for one in alone]))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_narrow_product_errs_by_less_than_half_its_margin(dtype: torch.dtype) -> None:
    left, right = (torch.from_numpy(unit_vectors(400, 384, seed)) for seed in (8, 9))
    right = torch.nn.functional.normalize(left + 0.3 * right)  # cosines up to 1
    exact = left.double() @ right.double().T
    error = (left.to(dtype) @ right.to(dtype).T).double() - exact
    assert exact.max() > 0.9
    assert error.abs().max() < similarity_search.SLACK[dtype] / 2


def test_nothing_near_is_nothing_found() -> None:
    found = best_pairs(unit_vectors(5, 8, 5), targets_of(unit_vectors(5, 8, 6), 2), 1.0, torch.device("cpu"))
    assert len(found.rows) == len(found.scores) == 0


@pytest.mark.parametrize("partitions", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_labelled_and_held_out_targets_keep_their_own_best(spark: SparkSession, partitions: int) -> None:
    vectors = {"q": [1.0, 0.0], "l1": [0.96, 0.28], "l2": [0.8, 0.6], "h1": [0.6, 0.8], "h2": [0.0, 1.0]}
    rows = [(name, "m@1", vector, None) for name, vector in vectors.items()]
    rows += [("q", "other", [0.0, 1.0], None), ("broken", "m@1", None, "failed")]
    embeddings = spark.createDataFrame(rows, EMBEDDINGS).repartition(partitions)
    targets = spark.createDataFrame(
        [("l1", "sad"), ("l2", "proud"), ("h1", None), ("h2", None), ("not there", "sad")],
        "history_hash string, label string",
    )
    found = find_similar(embeddings, targets, 0.5, 1, model="m@1").collect()
    assert {(row.history_hash, row.matched_hash): row.score for row in found if row.history_hash == "q"} == {
        ("q", "l1"): 0.96,
        ("q", "h1"): 0.6,
    }
    assert {(row.history_hash, row.matched_hash): row.score for row in found}["l2", "l2"] == 1.0
    assert not [row for row in found if row.history_hash == "broken"]


def test_without_a_target_nothing_is_found(spark: SparkSession) -> None:
    embeddings = spark.createDataFrame([("a", "m", [1.0, 0.0], None), ("b", "m", [0.0, 1.0], None)], EMBEDDINGS)
    nobody = spark.createDataFrame([], "history_hash string, label string")
    assert find_similar(embeddings, nobody, 0.5, 1, model="m").collect() == []


@pytest.mark.parametrize("part", [pytest.param(3, marks=pytest.mark.long), 13])
def test_more_targets_than_a_part_give_the_same_matches(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    vectors = unit_vectors(24, 6, 8)
    vectors[7] = vectors[5]  # a tie, perhaps over two parts
    rows = [(f"d{place:02}", "m", vector.tolist(), None) for place, vector in enumerate(vectors)]
    embeddings = spark.createDataFrame(rows, EMBEDDINGS)
    labels = [(row[0], None if place % 3 == 0 else "sad") for place, row in enumerate(rows)]
    targets = spark.createDataFrame(labels, "history_hash string, label string")
    whole = find_similar(embeddings, targets, 0.1, 2, model="m").collect()
    monkeypatch.setattr(similarity_search, "PART", part)
    parts = find_similar(embeddings, targets, 0.1, 2, model="m").collect()
    assert sorted(parts) == sorted(whole)
    assert len(whole) > 24
