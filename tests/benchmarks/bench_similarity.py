"""How fast the exact search is: pairs a second on one core, and what that makes at the paper's size.

python -m tests.benchmarks.bench_similarity [dimensions]
"""

import sys
import time

import numpy as np
import torch

from udfs.similarity import ROWS, Targets, best_pairs

SEEDS, POOL = 7_000, 4_000_000
SECONDS = 10.0


def unit_vectors(number: int, size: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(number, size)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def main(size: int = 384) -> None:
    torch.set_num_threads(1)
    targets = Targets(tuple(map(str, range(SEEDS))), unit_vectors(SEEDS, size, 1), 5)
    rows = unit_vectors(ROWS, size, 2)
    rows[:20] = targets.vectors[:20]  # about the share that matches
    best_pairs(rows, targets, 0.85)
    began, batches = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        best_pairs(rows, targets, 0.85)
        batches += 1
    speed = batches * ROWS * SEEDS / (time.perf_counter() - began)
    print(f"{size} dimensions, one core: {speed / 1e6:.0f} M pairs/s")
    print(f"{SEEDS:,} seeds against {POOL:,} dialogues: {SEEDS * POOL / speed / 60:.1f} core minutes")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
