"""Duplicates across films and near-duplicates within a film: found, verified, deterministic, not quadratic."""

import itertools

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.common.near_duplicates import (
    NearDuplicates,
    candidate_pairs,
    dialogue_words,
    duplicates,
    exact_copies,
    minhash_bands,
    near_duplicate_pairs,
    shingles,
)
from tests.common.duplicates import CHANGED, CHANGED_AGAIN, LONG, duplicate_frame
from udfs import minhash

TEXTS = {
    # id: (film, turns)
    "10-0": ("a", LONG),
    "11-0": ("b", [turn.upper().replace(" .", " !") for turn in LONG]),  # another film, the same words
    "12-0": ("a", CHANGED),  # another upload, one word apart
    "13-0": ("b", CHANGED),  # the same as 12-0, in another film; like 11-0 in its own
    "14-0": ("c", CHANGED_AGAIN),  # like 12-0, but of another film: stays
    "15-0": ("a", [" ".join(LONG)]),  # another cut into turns: the same shingles
    "20-0": ("a", ["Good night ."]),
    "21-0": ("c", ["Good night !"]),
    "22-0": ("a", ["Good day ."]),  # too short for a shingle: only by exact match
    "23-0": ("a", ["Good night .", "Good day ."]),
    "30-0": ("a", ["?!"]),
    "31-0": ("a", ["..."]),
}


def shingled_frame(frame: DataFrame) -> DataFrame:
    words = frame.select(
        F.col("movie_id").alias("block"),
        F.col("dialogue_id").alias("id"),
        dialogue_words(F.col("texts")).alias("w"),
    )
    return words.select("block", "id", shingles(F.col("w"), 3).alias("shingles"))


def exact_jaccard(left: list[str], right: list[str]) -> float:
    def runs(turns: list[str]) -> set[tuple[str, ...]]:
        tokens = [word for word in " ".join(turns).lower().split() if word.isalnum()]
        return set(zip(tokens, tokens[1:], tokens[2:], strict=False))

    return len(runs(left) & runs(right)) / len(runs(left) | runs(right))


@pytest.mark.parametrize("partitions", [pytest.param(1, marks=pytest.mark.long), 5])
def test_duplicates_and_near_duplicates_and_what_is_neither(spark: SparkSession, partitions: int) -> None:
    near = NearDuplicates(jaccard=0.7)
    frame = duplicate_frame(spark, TEXTS).repartition(partitions, "texts")
    rows = duplicates(frame, exact_copies(frame), near).collect()
    found = {row["dialogue_id"]: (row["reason"], row["detail"]) for row in rows}
    alike = round(exact_jaccard(LONG, CHANGED), 4)
    assert alike > 0.7
    assert found == {
        "11-0": ("duplicate", "same text as 10-0"),
        "12-0": ("near_duplicate", f"like 10-0, Jaccard {alike:.4f}"),
        "13-0": ("duplicate", "same text as 12-0"),
        "15-0": ("near_duplicate", "like 10-0, Jaccard 1.0000"),
        "21-0": ("duplicate", "same text as 20-0"),
    }


@pytest.mark.parametrize(
    ("exact", "jaccard", "expected"),
    [
        (True, None, {"11-0", "13-0", "21-0"}),
        (False, 0.7, {"12-0", "13-0", "15-0"}),
        pytest.param(False, 0.95, {"15-0"}, marks=pytest.mark.long),
    ],
)
def test_each_kind_alone(spark: SparkSession, exact: bool, jaccard: float | None, expected: set[str]) -> None:
    near = None if jaccard is None else NearDuplicates(jaccard=jaccard)
    frame = duplicate_frame(spark, TEXTS)
    found = duplicates(frame, exact_copies(frame) if exact else None, near)
    assert {row["dialogue_id"] for row in found.collect()} == expected


def test_of_a_chain_only_what_has_no_earlier_near_duplicate_stays(spark: SparkSession) -> None:
    chain = {"1-0": ("a", LONG), "2-0": ("a", CHANGED), "3-0": ("a", CHANGED_AGAIN)}
    threshold = 0.7
    assert exact_jaccard(LONG, CHANGED) >= threshold
    assert exact_jaccard(CHANGED, CHANGED_AGAIN) >= threshold
    assert exact_jaccard(LONG, CHANGED_AGAIN) < threshold
    near = NearDuplicates(jaccard=threshold, bands=40, rows=2)
    frame = duplicate_frame(spark, chain)
    rows = duplicates(frame, exact_copies(frame), near).collect()
    found = {row["dialogue_id"]: row["detail"] for row in rows}
    assert {name: detail.split(",")[0] for name, detail in found.items()} == {
        "2-0": "like 1-0",
        "3-0": "like 2-0",
    }


def test_banding_finds_what_all_pairs_find(spark: SparkSession) -> None:
    """Forty texts with one to three changed words: every pair over the threshold, none under it."""
    tokens = " ".join(LONG).split()
    texts = {}
    for number in range(40):
        changed = list(tokens)
        for place in range(number % 4):
            changed[(number * 7 + place * 11) % len(changed)] = f"word{number}"
        texts[f"{number:03}-0"] = ("a", [" ".join(changed)])
    near = NearDuplicates(jaccard=0.8)
    pairs = near_duplicate_pairs(shingled_frame(duplicate_frame(spark, texts)), near)
    found = {(row["earlier"], row["later"]) for row in pairs.collect()}
    expected = {
        (left, right)
        for left, right in itertools.combinations(sorted(texts), 2)
        if round(exact_jaccard(texts[left][1], texts[right][1]), 4) >= near.jaccard
    }
    assert len(expected) > 50
    assert found <= expected
    assert len(found) >= 0.995 * len(expected)


def test_a_crowded_bucket_costs_linear_pairs_and_still_leaves_one(spark: SparkSession) -> None:
    texts = {f"{number:04}-0": ("a", LONG if number % 2 else [" ".join(LONG)]) for number in range(100)}
    near = NearDuplicates(bucket_limit=10)
    frame = duplicate_frame(spark, texts)
    assert candidate_pairs(shingled_frame(frame), near).count() <= 100 * 10
    found = {row["dialogue_id"] for row in duplicates(frame, None, near).collect()}
    assert set(texts) - found == {"0000-0"}


def test_signatures_are_those_of_sparks_own_hash(spark: SparkSession) -> None:
    """The arrays of ``udfs.minhash`` against the same signature as column expressions."""
    near = NearDuplicates(bands=5, rows=3)
    sizes = (1, 2, 30, 0, 7, 200)
    hashed = [[hash((size, place)) for place in range(size)] for size in sizes]
    ends = [[-(2**63), 2**63 - 1, -1, 0]]
    rows = [("a film", str(number), numbers) for number, numbers in enumerate(hashed + ends)]
    shingled = spark.createDataFrame(rows, "block string, id string, shingles array<bigint>")

    def minimum(seed: int):
        return F.array_min(F.transform("shingles", lambda shingle: F.xxhash64(shingle, F.lit(seed))))

    bands = F.array(*(F.xxhash64(*(minimum(band * 3 + row) for row in range(3))) for band in range(5)))
    expected = shingled.where(F.size("shingles") > 0).select("block", "id", bands.alias("bands"))
    found = minhash_bands(shingled, near)
    assert sorted(found.collect()) == sorted(expected.collect())
    assert found.count() == len(rows) - 1


ENDS = [-(2**63), 2**63 - 1, -1, 0, 1]
SIZES = {
    "no text": [],
    "one text of one shingle": [1],
    "equal blocks": [4, 4, 4],
    "a text longer than a block first": [9, 1, 1],
    "in the middle": [1, 9, 1],
    "last": [1, 1, 9],
    "all longer": [9, 10, 11],
    "the ends of the numbers": [5] * 20,
}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("block", [1, 3, 4, 5, 8, 1000])
def test_blocks_do_not_change_a_signature(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text's signature in blocks against that of the text alone."""
    texts = [np.resize(np.array(ENDS, dtype=np.int64), size) + place for place, size in enumerate(SIZES[name])]
    alone = [minhash.band_keys(text, np.zeros(1, dtype=np.int64), 5, 3)[0].tolist() for text in texts]
    starts = np.cumsum([0, *SIZES[name]])[:-1]
    monkeypatch.setattr(minhash, "_BLOCK", block)
    together = minhash.band_keys(np.concatenate([*texts, np.empty(0, dtype=np.int64)]), starts, 5, 3)
    assert together.tolist() == alone


def test_equal_sets_of_shingles_have_equal_signatures_and_others_do_not() -> None:
    shingles = np.array([3, 1, 2, 1, 2, 3, 1, 1, 2, 3, 4, 5, 6], dtype=np.int64)
    one, other_order, repeated, other = minhash.band_keys(shingles, np.array([0, 3, 6, 10]), 16, 4).tolist()
    assert one == other_order
    assert one == repeated
    assert not set(one) & set(other)
