"""Connected components of a graph whose nodes are named by text, for ``mapInArrow``."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_compute: Any = pc


def lowest_members(left: np.ndarray, right: np.ndarray, count: int) -> np.ndarray:
    """Return the lowest node of each node's component.

    Each round hooks the roots of linked nodes to the lower one and shortens all paths. The result does not depend on
    the order of the links.

    Args:
        left, right: the links' nodes, from 0.
        count: number of nodes.
    """
    root = np.arange(count)
    while True:
        low = np.minimum(root[left], root[right])
        hooked = root.copy()
        np.minimum.at(hooked, root[left], low)
        np.minimum.at(hooked, root[right], low)
        while (shorter := hooked[hooked]).tobytes() != hooked.tobytes():
            hooked = shorter
        if np.array_equal(hooked, root):
            return root
        root = hooked


def component_adder(node: str, first: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function that maps links, two columns of names, to (node, its component's first name, size).

    One call must get all links. They take about 200 bytes each.
    """

    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        links = list(batches)
        if not sum(batch.num_rows for batch in links):
            return
        columns = [pa.chunked_array([batch.column(place) for batch in links]) for place in (0, 1)]
        names = _compute.unique(pa.chunked_array(columns[0].chunks + columns[1].chunks))
        names = names.take(_compute.sort_indices(names))
        left, right = (np.asarray(_compute.index_in(column, names), dtype=np.int64) for column in columns)
        root = lowest_members(left, right, len(names))
        sizes = np.bincount(root, minlength=len(root))[root]
        yield pa.RecordBatch.from_arrays(
            [names, names.take(pa.array(root)), pa.array(sizes, pa.int64())], names=[node, first, "size"]
        )

    return add
