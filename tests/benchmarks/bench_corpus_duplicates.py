"""Near-duplicates in the whole corpus: recall against brute force, survivors by cores, and cost by size.

    python -m tests.benchmarks.bench_corpus_duplicates [--dialogues N] [--cores 1 2 4] [--factor 8]

Generated dialogues: words of a frequency like 1 / rank, one in four a copy of another one with some words changed.
Brute force multiplies the sparse matrix of all shingles by itself. Seconds are of the CPU: Java and Python workers.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.common.corpus_duplicates import corpus_duplicates, groups_of, similar_pairs
from etl.common.near_duplicates import NearDuplicates
from tests.benchmarks.processes import children
from tests.benchmarks.sessions import local_session

NEAR = NearDuplicates()
_WORDS = 20_000
_COPIES = 0.25
_ROWS = 2_000


def generated(count: int, seed: int = 0) -> pd.DataFrame:
    """Return dialogue_id and texts (lists of turns); the first n dialogues do not depend on the count."""
    rng = random.Random(seed)
    ranks = np.cumsum(1 / np.arange(30, _WORDS + 30))
    cumulative = (ranks / ranks[-1]).tolist()
    names = [f"w{number:x}" for number in range(_WORDS)]
    rows: list[list[str]] = []
    for _ in range(count):
        if rows and rng.random() < _COPIES:
            words = list(rows[rng.randrange(max(0, len(rows) - 5_000), len(rows))])
            for _ in range(rng.choice((0, 1, 1, 2, 3, 5, 8))):
                words[rng.randrange(len(words))] = rng.choice(names)
        else:
            words = rng.choices(names, cum_weights=cumulative, k=rng.randint(4, 90))
        rows.append(words)
    ids = [f"{number * 7919 % 1_000_003}-{number}" for number in range(count)]
    return pd.DataFrame({"dialogue_id": ids, "texts": [[" ".join(row[:9]), " ".join(row[9:])] for row in rows]})


def pairs_by_brute_force(dialogues: pd.DataFrame, least: float, size: int = NEAR.shingle_words) -> set[tuple[str, str]]:
    """Return all pairs (earlier, later) of ids whose shingles have at least this Jaccard similarity."""
    from scipy.sparse import csr_matrix

    number: dict[tuple[str, ...], int] = {}
    places = []
    starts = [0]
    for texts in dialogues["texts"]:
        words = " ".join(texts).split()
        found = {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}
        places += [number.setdefault(one, len(number)) for one in found]
        starts.append(len(places))
    matrix = csr_matrix((np.ones(len(places), np.int32), places, starts), (len(dialogues), len(number)))
    sizes = np.diff(starts)
    ids = dialogues["dialogue_id"].to_numpy()
    pairs: set[tuple[str, str]] = set()
    columns = matrix.T.tocsr()
    for first in range(0, len(dialogues), _ROWS):
        common = (matrix[first : first + _ROWS] @ columns).tocoo()
        left = common.row + first
        right = common.col
        union = sizes[left] + sizes[right] - common.data
        alike = (left < right) & (np.round(common.data / union, 4) >= least)
        pairs |= {tuple(sorted(pair)) for pair in zip(ids[left[alike]], ids[right[alike]], strict=True)}
    return pairs


def frame_of(spark: SparkSession, dialogues: pd.DataFrame) -> DataFrame:
    """Return generated dialogues as a frame."""
    return spark.createDataFrame(dialogues, "dialogue_id string, texts array<string>")


def survivors(spark: SparkSession, dialogues: DataFrame) -> list[str]:
    """Return the sorted ids of the dialogues that stay."""
    dropped, _ = corpus_duplicates(dialogues, NEAR, DataFrame.persist)
    kept = [row[0] for row in dialogues.select("dialogue_id").join(dropped, "dialogue_id", "left_anti").collect()]
    spark.catalog.clearCache()
    return sorted(kept)


def first_of_groups(pairs: set[tuple[str, str]]) -> dict[str, str]:
    """Return each paired dialogue's first of its group, by union-find."""
    from etl.common.splits import connected

    return connected(pairs)


def _cpu_seconds() -> float:
    """Return the CPU time of all processes under this one, Java and Python workers among them."""
    found = 0
    for process in children(os.getpid()):
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found += sum(map(int, fields[11:15]))
    return found / os.sysconf("SC_CLK_TCK")


def one_session(cores: int, sizes: list[int]) -> dict[str, object]:
    """Return survivors and CPU seconds by size, and the pairs of the first size, on so many cores."""
    with tempfile.TemporaryDirectory() as scratch:
        spark, _ = local_session(Path(scratch), cores)
        spark.conf.set("spark.sql.shuffle.partitions", 4 * cores)
        told: dict[str, object] = {}
        for place, size in enumerate([min(sizes), *sizes]):  # the first one warms up
            path = f"{scratch}/{place}"
            frame_of(spark, generated(size)).repartition(8).write.parquet(path)
            rows = spark.read.parquet(path)
            began = time.monotonic()
            cpu = _cpu_seconds()
            kept = survivors(spark, rows)
            if place:
                used = _cpu_seconds() - cpu
                took = time.monotonic() - began
                digest = hashlib.sha256("\n".join(kept).encode()).hexdigest()[:16]
                told[str(size)] = {
                    "kept": len(kept),
                    "digest": digest,
                    "cpu": round(used, 1),
                    "seconds": round(took, 1),
                }
        spark.stop()
    return told


def recall_of(spark: SparkSession, dialogues: pd.DataFrame) -> tuple[float, float, int]:
    """Return the share of brute force's pairs that are found and of its dropped dialogues, and the number of pairs."""
    truth = pairs_by_brute_force(dialogues, NEAR.jaccard)
    pairs, _ = similar_pairs(frame_of(spark, dialogues), NEAR, DataFrame.persist)
    pairs = pairs.persist()
    found = {(row["earlier"], row["later"]) for row in pairs.select("earlier", "later").collect()}
    dropped = {row["dialogue_id"] for row in groups_of(pairs).filter(F.expr("dialogue_id != first")).collect()}
    expected = {one for one, first in first_of_groups(truth).items() if one != first}
    spark.catalog.clearCache()
    assert found <= truth, "a pair or a drop that brute force does not know"
    assert dropped <= expected, "a pair or a drop that brute force does not know"
    return len(found & truth) / len(truth), len(dropped & expected) / len(expected), len(truth)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=100_000)
    parser.add_argument("--cores", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--factor", type=int, default=8)
    parser.add_argument("--session", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    sizes = [given.dialogues // given.factor, given.dialogues]
    if given.session:
        print(json.dumps(one_session(given.session, sizes)))
        return 0
    for cores in given.cores:
        command = [sys.executable, "-m", "tests.benchmarks.bench_corpus_duplicates", "--session", str(cores)]
        command += ["--dialogues", str(given.dialogues), "--factor", str(given.factor)]
        told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
        each = [told[str(size)]["cpu"] / size * 1000 for size in sizes]
        print(
            f"{cores} cores: {told}; ms a dialogue {each[0]:.2f} and {each[1]:.2f}: {each[1] / each[0]:.2f}", flush=True
        )
    with tempfile.TemporaryDirectory() as scratch:
        spark, _ = local_session(Path(scratch))
        pairs, dropped, count = recall_of(spark, generated(given.dialogues))
        spark.stop()
    print(f"recall of {count:,} pairs {pairs:.4f}, of dropped dialogues {dropped:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
