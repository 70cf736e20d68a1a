"""Near-duplicates in the whole corpus: groups, survivors whatever the partitions, recall against brute force."""

import random
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from etl.common.corpus_duplicates import OVERSIZED_BUCKET, REASON, corpus_duplicates
from etl.common.near_duplicates import NearDuplicates
from etl.common.splits import connected
from tests.benchmarks.bench_corpus_duplicates import frame_of, generated, recall_of, survivors
from tests.common.duplicates import CHANGED, CHANGED_AGAIN, LONG, duplicate_frame
from udfs.components import component_adder, lowest_members


def test_components_are_those_of_union_find_in_any_order() -> None:
    rng = random.Random(1)
    for count in (1, 2, 30, 400):
        links = [(rng.randrange(count), rng.randrange(count)) for _ in range(count // 2 + 1)]
        expected = connected((f"{left:03}", f"{right:03}") for left, right in links)
        for _ in range(3):
            rng.shuffle(links)
            left, right = np.array(links).T
            found = lowest_members(left, right, count)
            assert {f"{node:03}": f"{found[node]:03}" for pair in links for node in pair} == expected
    chain = np.arange(5_000)
    assert not lowest_members(chain[1:], chain[:-1], 5_000).any()


def test_components_of_named_nodes() -> None:
    batches = [pa.record_batch({"a": ["c", "x"], "b": ["b", "y"]}), pa.record_batch({"a": ["a"], "b": ["b"]})]
    (found,) = component_adder("id", "first")(iter(batches))
    assert found.to_pydict() == {
        "id": ["a", "b", "c", "x", "y"],
        "first": ["a", "a", "a", "x", "x"],
        "size": [3, 3, 3, 2, 2],
    }
    assert list(component_adder("id", "first")(iter(batch.slice(0, 0) for batch in batches))) == []


def test_the_first_of_a_connected_group_stays_in_any_film(spark: SparkSession) -> None:
    texts = {
        "1-0": ("a", LONG),
        "2-0": ("b", CHANGED),
        "3-0": ("c", CHANGED_AGAIN),
        "4-0": ("d", ["Good night ."]),
        "5-0": ("e", ["Good night ."]),
        "6-0": ("f", ["Where is the lamp that I left on the pier this morning ?"]),
    }
    near = NearDuplicates(jaccard=0.7, bands=40, rows=2)
    dropped, crowded = corpus_duplicates(duplicate_frame(spark, texts), near)
    found = {row["dialogue_id"]: (row["reason"], row["detail"]) for row in dropped.collect()}
    assert set(found) == {"2-0", "3-0"}
    assert {reason for reason, _ in found.values()} == {REASON}
    assert all(detail.startswith("in the group of 1-0, 3 dialogues; highest Jaccard") for _, detail in found.values())
    assert crowded.count() == 0


def test_a_crowded_band_is_reported_and_bounded(spark: SparkSession) -> None:
    texts = {f"{number:03}-0": (str(number), [f"{' '.join(LONG)} {number % 3}"]) for number in range(60)}
    dropped, crowded = corpus_duplicates(duplicate_frame(spark, texts), NearDuplicates(bucket_limit=10))
    assert dropped.count() == 59
    rows = crowded.collect()
    assert rows
    assert {(row["unit"], row["reason"], row["units"]) for row in rows} == {("band", OVERSIZED_BUCKET, 0)}
    assert any("60 dialogues, each compared with the first 10" in row["detail"] for row in rows)


@pytest.mark.long
def test_recall_and_survivors_of_a_small_corpus(spark: SparkSession) -> None:
    dialogues = generated(800)
    pairs, dropped, count = recall_of(spark, dialogues)
    assert count > 50
    assert pairs >= 0.98
    assert dropped >= 0.98
    kept = [survivors(spark, frame_of(spark, dialogues).repartition(parts, "texts")) for parts in (1, 2, 4)]
    assert kept[0] == kept[1] == kept[2]
    assert 0 < len(kept[0]) < len(dialogues)


@pytest.mark.slow
def test_recall_of_100_000_dialogues(spark: SparkSession) -> None:
    pairs, dropped, count = recall_of(spark, generated(100_000))
    assert count > 10_000
    assert pairs >= 0.98
    assert dropped >= 0.98


@pytest.mark.slow
def test_survivors_are_the_same_on_1_2_and_4_cores() -> None:
    command = [sys.executable, "-m", "tests.benchmarks.bench_corpus_duplicates", "--session"]
    told = []
    for cores in ("1", "2", "4"):
        done = subprocess.run([*command, cores, "--dialogues", "8000"], capture_output=True, text=True, check=True)
        told.append(done.stdout.splitlines()[-1])
    digests = {part for one in told for part in one.split('"') if len(part) == 16}
    assert len(digests) == 2, told
