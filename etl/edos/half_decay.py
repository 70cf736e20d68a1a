"""The half decay of a dialogue's turns: each turn weighs half as much as the next (EDOS 3.3).

Dialogue embeddings weigh the embeddings of turns so (3.3, step 2), and the classifier the tokens of turns (3.3.1, C).
"""

import numpy as np
from numpy.typing import NDArray


def turn_weights(turns: int) -> tuple[float, ...]:
    """Return the weights of `turns` turns, newest first, which sum to 1: 4/7, 2/7, 1/7 of three (EDOS 3.3)."""
    total = 2**turns - 1
    return tuple(2 ** (turns - 1 - age) / total for age in range(turns))


def half_decay(turns: NDArray[np.float32], counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return each dialogue's embedding of length 1, in which each turn weighs half as much as the next.

    For v1, v2, v3 it is the direction of (4/7) v3 + (2/7) v2 + (1/7) v1 (EDOS 3.3).

    Args:
        turns: (all turns, size), concatenated dialogues, oldest turn first.
        counts: number of turns of each dialogue, at least 1.
    """
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    ages = np.repeat(starts + counts - 1, counts) - np.arange(len(turns))
    sums = np.add.reduceat(turns.astype(np.float64) * (0.5**ages)[:, None], starts, axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.where(lengths == 0, 1, lengths), dtype=np.float32)
