"""Similar dialogues: ``find_similar`` in Spark against FAISS, from the same Delta tables to Delta tables.

    python -m tests.benchmarks.similarity [--seeds N] [--pool N] [--rounds N] [--small]

Vectors are drawn: their values do not matter to an exact search. One dialogue in twenty lies near a seed.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from etl.edos.similar import MATCHES
from etl.edos.similarity_search import find_similar
from tests.benchmarks.harness import Progress, Result, Row, alternate, arguments, hand_in, without_slowing_variables
from tests.benchmarks.sessions import cores, local_session

OURS = "ours"
FAISS = "FAISS flat"
SIZE = 384
MODEL = "drawn"
AIM = 1.0
Vectors = NDArray[np.float32]
CAUSE = (
    "the matrix products alone take about 4.5 s on two cores. The rest is reading the vectors in Spark and sending"
    " them to Python; deltalake reads columns straight into the process."
)


def drawn(seeds: int, pool: int) -> tuple[Vectors, Vectors]:
    """Unit vectors of seeds and of dialogues, some of these near a seed."""
    random = np.random.default_rng(7)
    left, right = (random.normal(size=(number, SIZE)).astype(np.float32) for number in (seeds, pool))
    near = random.choice(pool, pool // 20, replace=False)
    right[near] = left[random.integers(0, seeds, len(near))] + 0.6 * right[near]
    return tuple(rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (left, right))  # type: ignore[return-value]


def written(vectors: dict[str, Vectors], folder: Path) -> None:
    """Write ``edos.dialogue_embeddings`` as Delta: hash, model, embedding, error."""
    from deltalake import write_deltalake

    for kind, rows in vectors.items():
        flat = pa.array(rows.reshape(-1))
        lists = pa.ListArray.from_arrays(pa.array(np.arange(0, rows.size + 1, SIZE, dtype=np.int32)), flat)
        table = pa.table(
            {
                "history_hash": [f"{kind}{number:060d}" for number in range(len(rows))],
                "model": pa.array([MODEL] * len(rows)),
                "embedding": lists,
                "error": pa.nulls(len(rows), pa.string()),
            }
        )
        for start in range(0, len(rows), 25_000):
            write_deltalake(str(folder), table.slice(start, 25_000), mode="append")


def by_faiss(table: Path, target: Path, floor: float, best: int) -> None:
    """Read the Delta table, search with an exact index of the seeds, write the pairs as Delta."""
    import faiss
    from deltalake import DeltaTable, write_deltalake

    faiss.omp_set_num_threads(cores())
    read = pa.table(DeltaTable(str(table)).to_pyarrow_table(columns=["history_hash", "embedding"]))
    hashes = read.column("history_hash").combine_chunks()
    values = read.column("embedding").combine_chunks().flatten()
    vectors = values.to_numpy(zero_copy_only=False).reshape(-1, SIZE)
    seeds = np.flatnonzero([name.startswith("seed") for name in hashes.to_pylist()])
    index = faiss.IndexFlatIP(SIZE)
    index.add(vectors[seeds])
    scores, places = index.search(vectors, best)
    rows, ranks = np.nonzero(scores >= floor)
    found = {
        "history_hash": hashes.take(pa.array(rows)),
        "matched_hash": hashes.take(pa.array(seeds[places[rows, ranks]])),
        "score": pa.array(scores[rows, ranks].astype(np.float64).round(4)),
    }
    write_deltalake(str(target), pa.table(found), mode="overwrite")


def by_us(spark: SparkSession, table: Path, target: Path, floor: float, best: int) -> None:
    """Search as the stage ``search_similar`` does, and write the pairs as Delta."""
    embeddings = spark.read.format("delta").load(str(table))
    targets = embeddings.where("history_hash LIKE 'seed%'").selectExpr("history_hash", "'a label' AS label")
    found = find_similar(embeddings, targets, floor, best, model=MODEL, threads=1)
    found.write.format("delta").mode("overwrite").save(str(target))


def pairs(folder: Path) -> set[tuple[str, str]]:
    """The pairs in a Delta table."""
    from deltalake import DeltaTable

    read = pa.table(DeltaTable(str(folder)).to_pyarrow_table(columns=["history_hash", "matched_hash"]))
    return set(zip(read.column(0).to_pylist(), read.column(1).to_pylist(), strict=True))


def compared(seeds: int, pool: int, rounds: int) -> tuple[list[Row], int]:
    """Ours against FAISS, and how many pairs were found."""
    with tempfile.TemporaryDirectory() as scratch:
        spark, settings = local_session(Path(scratch))
        table, mine, theirs = (Path(scratch) / name for name in ("embeddings", "ours", "faiss"))
        left, right = drawn(seeds, pool)
        written({"seed": left, "pool": right}, table)
        floor = settings.edos.expansion.floor
        best = MATCHES
        works = {
            OURS: lambda: by_us(spark, table, mine, floor, best),
            FAISS: lambda: by_faiss(table, theirs, floor, best),
        }
        for work in works.values():
            work()
        took = alternate(works, rounds, Progress("similarity", 2 * rounds))
        spark.stop()
        found = pairs(mine)
        expected = pairs(theirs)
    # Pairs whose cosine is the floor to the last bit may be in one and not in the other.
    if len(found ^ expected) > 0.001 * len(expected):
        raise SystemExit(f"{len(found - expected)} pairs of ours are not FAISS's, {len(expected - found)} are missing")
    speeds = {who: f"{took[who]:.1f} s, {seeds * pool / took[who] / 1e6:,.0f} M pairs/s" for who in took}
    work = f"{seeds:,} seeds x {pool:,} dialogues, {SIZE} dimensions"
    return [Row(work, speeds[OURS], FAISS, speeds[FAISS], took[FAISS] / took[OURS], AIM)], len(found)


def main() -> int:
    """Measure and hand in."""
    parser = arguments(__doc__)
    parser.add_argument("--seeds", type=int, default=7_000)
    parser.add_argument("--pool", type=int, default=200_000)
    given = parser.parse_args()
    rows, found = compared(*((100, 3_000) if given.small else (given.seeds, given.pool)), given.rounds)
    result = Result(
        "Similar dialogues",
        "Seconds from a Delta table of embeddings to a Delta table of matches in a warm local session. The peer is"
        f" FAISS `IndexFlatIP` with {cores()} threads, reading and writing the same tables with deltalake. Both "
        f"find the same {found:,} pairs.",
        "random unit vectors, one dialogue in twenty near a seed",
        rows,
        CAUSE,
        ("faiss-cpu", "deltalake"),
    )
    return hand_in(result, given, "similarity")


if __name__ == "__main__":
    without_slowing_variables()
    sys.exit(main())
