"""The search for similar dialogues alone, without Spark: ``best_pairs`` against FAISS, one thread, vectors in memory.

    python -m tests.benchmarks.cosines [--seeds N] [--rounds N] [--small]

What ``similarity`` measures beyond it is reading, writing and Spark.
"""

import sys
import time
from collections.abc import Callable
from functools import partial

import torch

from etl.edos.similarity_search import ROWS, Targets, best_pairs
from tests.benchmarks.harness import Progress, Result, Row, alternate, arguments, hand_in, without_slowing_variables
from tests.benchmarks.similarity import SIZE, drawn
from udfs.devices import chosen_precision

OURS = "ours"
FAISS = "FAISS flat"
FLOOR = 0.85
BEST = 5
AIM = 1.0


def compared(seeds: int, rounds: int) -> list[Row]:
    """Return ours against FAISS in CPU seconds, where both find the same number of pairs."""
    import faiss

    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    left, right = drawn(seeds, ROWS)
    targets = Targets(tuple(f"{number:06d}" for number in range(seeds)), left, BEST)
    index = faiss.IndexFlatIP(SIZE)
    index.add(left)
    # As a task chooses it.
    rough = chosen_precision("auto", torch.device("cpu")).name == "bf16"
    ours = partial(best_pairs, right, targets, FLOOR, rough=rough)
    theirs = partial(index.search, right, BEST)
    works: dict[str, Callable[[], object]] = {OURS: ours, FAISS: theirs}
    found = len(ours().rows)
    expected = int((theirs()[0] >= FLOOR).sum())
    # Ours compares cosines rounded to 4 decimals with the floor.
    if abs(found - expected) > max(1, 0.02 * expected):
        raise SystemExit(f"ours finds {found} pairs, FAISS {expected}")
    took = alternate(works, rounds, Progress("cosines", 2 * rounds), time.process_time)
    told = {name: f"{seeds * ROWS / took[name] / 1e6:,.0f} M pairs/s" for name in works}
    work = f"{seeds:,} seeds x {ROWS:,} dialogues, {SIZE} dimensions, rows chosen in {'bf16' if rough else 'fp32'}"
    return [Row(work, told[OURS], FAISS, told[FAISS], took[FAISS] / took[OURS], AIM, before="0.90")]


def main() -> int:
    """Measure and hand in."""
    parser = arguments(__doc__, rounds=9)
    parser.add_argument("--seeds", type=int, default=7_000)
    given = parser.parse_args()
    result = Result(
        "Similar dialogues: the search alone",
        "CPU seconds of one thread with the vectors in memory: `best_pairs`, which a task of `search_similar` calls "
        f"for each {ROWS:,} dialogues, against a search of FAISS `IndexFlatIP`. Reading, writing and Spark are left "
        "out. Where the processor multiplies bf16 faster than fp32, a product in bf16 chooses the rows whose product "
        "in fp32 is computed; the pairs are the same.",
        "drawn unit vectors, one dialogue in twenty near a seed",
        compared(100 if given.small else given.seeds, given.rounds),
        "",
        ("faiss-cpu",),
    )
    return hand_in(result, given, "cosines")


if __name__ == "__main__":
    without_slowing_variables()
    sys.exit(main())
