"""Find topics of utterances: communities of their similarity graph, with keywords (Emo Pillars 7, H)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from udfs.vectors import unit

KEYWORDS = 8
EXAMPLES = 20
"""Number of utterances from which a topic is named (Emo Pillars H)."""


class Topic(NamedTuple):
    """A row of ``emo_pillars.topics``."""

    emotion: str
    topic: int
    utterances: int
    keywords: list[str]
    examples: list[str]


def communities(vectors: NDArray[np.floating], above: float, seed: int) -> list[list[int]]:
    """Group rows into communities by Louvain's method, the largest first (Blondel et al., 2008).

    An edge joins two rows whose cosine exceeds the threshold, with the cosine as its weight. A row without edges is a
    separate community.

    Args:
        vectors: array of shape (n, size), in an order that depends on content.
        above: threshold, see ``emo_pillars.analysis.topic_similarity``.
    """
    import networkx

    rows = unit(vectors)
    product = np.triu(rows @ rows.T, k=1)
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(rows)))
    left, right = np.nonzero(product > above)
    graph.add_weighted_edges_from((int(a), int(b), float(product[a, b])) for a, b in zip(left, right, strict=True))
    found = networkx.community.louvain_communities(graph, seed=seed)
    return sorted((sorted(one) for one in found), key=lambda one: (-len(one), one))


def topics_of(
    emotion: str, texts: Sequence[str], vectors: NDArray[np.floating], above: float, seed: int
) -> list[Topic]:
    """Return the topics of one emotion's utterances, the largest first, with their keywords (ours).

    Args:
        texts: utterances in the order of their ids.
        above, seed: see ``communities``.
    """
    if not texts:
        return []
    found = communities(vectors, above, seed)
    words = keywords([" ".join(texts[place] for place in one) for one in found])
    return [
        Topic(emotion, number, len(one), top, [texts[place] for place in one[:EXAMPLES]])
        for number, (one, top) in enumerate(zip(found, words, strict=True), 1)
    ]


def keywords(documents: Sequence[str]) -> list[list[str]]:
    """Return each document's words of the highest tf-idf, ties in alphabetical order."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(stop_words="english", token_pattern=r"(?u)\b[^\W\d_]{3,}\b", sublinear_tf=True)
    try:
        weights = vectorizer.fit_transform(documents)
    except ValueError:  # the vocabulary is empty
        return [[] for _ in documents]
    names = vectorizer.get_feature_names_out()
    found = []
    for row in weights:
        order = sorted(zip(row.indices, row.data, strict=True), key=lambda one: (-round(one[1], 6), names[one[0]]))
        found.append([str(names[place]) for place, _ in order[:KEYWORDS]])
    return found
