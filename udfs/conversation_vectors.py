"""Similarities between the utterances of a conversation."""

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from udfs.vectors import unit

Vectors = NDArray[np.float32]
TOPICS = "text_id string, turn int, neighbour_similarity double, before_similarity double, other_similarity double"
PAIRS = "text_id string, role string, first string, second string, similarity double"
DECIMALS = 4


def nearness(vectors: Vectors, counted: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each utterance's cosine with the previous one and with the mean of the counted ones before it.

    Args:
        vectors: (utterances, size), in order.
        counted: whether an utterance is long enough to have a topic.

    Returns:
        Two arrays with NaN for utterances that are not counted or have no counted one before them.
    """
    rows = unit(vectors)
    neighbour = np.full(len(rows), np.nan)
    before = np.full(len(rows), np.nan)
    total = np.zeros(rows.shape[1])
    for place, row in enumerate(rows):
        if counted[place]:
            if total.any():
                neighbour[place] = row @ rows[place - 1]
                before[place] = row @ unit(total)
            total = total + row
    return neighbour, before


def topic_scores(conversations: DataFrame, least: int) -> DataFrame:
    """Return a row of ``TOPICS`` for each counted utterance with a counted one before it.

    Args:
        conversations: text_id, vectors array<array<float>>, tokens array<int>, other array<array<float>>: the vectors
            of another conversation for comparison, or null.
        least: minimum tokens of a counted utterance.
    """
    columns = ["text_id", "vectors", "tokens", "other"]

    def score(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            rows = []
            for text_id, vectors, tokens, other in frame[columns].itertuples(index=False):
                utterances = np.stack(list(vectors))
                neighbour, before = nearness(utterances, np.asarray(tokens) >= least)
                mean = None if other is None else unit(unit(np.stack(list(other))).sum(axis=0))
                for turn in np.flatnonzero(~np.isnan(before)):
                    far = None if mean is None else round(float(unit(utterances[turn]) @ mean), DECIMALS)
                    near = (round(float(one[turn]), DECIMALS) for one in (neighbour, before))
                    rows.append((text_id, int(turn), *near, far))
            yield pd.DataFrame(rows, columns=[part.split()[0] for part in TOPICS.split(", ")])

    return conversations.select(*columns).mapInPandas(score, TOPICS)


def related_pairs(vectors: Vectors, floor: float, most: int) -> list[tuple[int, int, float]]:
    """Return the ``most`` pairs of rows with the highest cosines of at least ``floor``; ties are in order of rows."""
    rows = unit(vectors)
    product = rows @ rows.T
    found = [(i, j, round(float(product[i, j]), DECIMALS)) for i, j in combinations(range(len(rows)), 2)]
    return sorted((one for one in found if one[2] >= floor), key=lambda one: (-one[2], one))[:most]


def pairs_of_speakers(conversations: DataFrame, least: int, floor: float, most: int) -> DataFrame:
    """Return rows of ``PAIRS``: similar utterances of one speaker, the earlier one first.

    Args:
        conversations: text_id, roles array<string>, texts array<string>, tokens array<int>, vectors.
        least: minimum tokens of an utterance.
        floor: minimum cosine.
        most: maximum number of pairs per speaker.
    """
    columns = ["text_id", "roles", "texts", "tokens", "vectors"]

    def pair(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            rows = []
            for text_id, roles, texts, tokens, vectors in frame[columns].itertuples(index=False):
                for role in ("seeker", "supporter"):
                    turns = [n for n, one in enumerate(roles) if one == role and tokens[n] >= least]
                    if len(turns) > 1:
                        found = related_pairs(np.stack([vectors[n] for n in turns]), floor, most)
                        rows += [(text_id, role, texts[turns[i]], texts[turns[j]], cosine) for i, j, cosine in found]
            yield pd.DataFrame(rows, columns=[part.split()[0] for part in PAIRS.split(", ")])

    return conversations.select(*columns).mapInPandas(pair, PAIRS)
