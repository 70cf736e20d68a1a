"""Connected components of a graph whose nodes are named by text, for ``mapInArrow``."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_compute: Any = pc


def lowest_members(left: np.ndarray, right: np.ndarray, count: int) -> np.ndarray:
    """Return the lowest node of each node's component.

    Args:
        left, right: the links' nodes, from 0.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(left), dtype=bool), (left, right)), shape=(count, count))
    _, component = connected_components(links, directed=False)
    _, first = np.unique(component, return_index=True)
    return np.asarray(first[component])


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
