"""A conversation's utterances as vectors: how near each is to what was said before, and which speak of one thing."""

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.sql import DataFrame

Vectors = NDArray[np.float32]
TOPICS = "text_id string, turn int, neighbour_similarity double, before_similarity double, other_similarity double"
PAIRS = "text_id string, role string, first string, second string, similarity double"
DECIMALS = 4


def unit(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Rows brought to length 1; rows of nothing stay."""
    wide = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(wide, axis=-1, keepdims=True)
    return np.asarray(wide / np.where(lengths == 0, 1, lengths))


def nearness(vectors: Vectors, counted: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each utterance's cosine with the one before it, and with the mean of all counted ones before it.

    Args:
        vectors: (utterances, size), in order.
        counted: which are long enough to be about something.

    Returns:
        Two arrays, NaN for utterances that are not counted, and where nothing counted comes before.
    """
    rows = unit(vectors)
    neighbour, before = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    so_far = np.zeros(rows.shape[1])
    for place, row in enumerate(rows):
        if counted[place]:
            if so_far.any():
                neighbour[place] = row @ rows[place - 1]
                before[place] = row @ unit(so_far)
            so_far = so_far + row
    return neighbour, before


def topic_scores(conversations: DataFrame, least: int) -> DataFrame:
    """Rows of ``TOPICS``, one for each counted utterance with something before it.

    Args:
        conversations: text_id, vectors array<array<float>>, tokens array<int>, other array<array<float>>: the vectors
            of another conversation, with which the same is done for comparison.
        least: tokens of an utterance that is counted.
    """

    def score(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            rows = []
            for text_id, vectors, tokens, other in frame[["text_id", "vectors", "tokens", "other"]].itertuples(
                index=False
            ):
                own, counted = np.stack(list(vectors)), np.asarray(tokens) >= least
                neighbour, before = nearness(own, counted)
                elsewhere = None if other is None else unit(unit(np.stack(list(other))).sum(axis=0))
                for turn in np.flatnonzero(~np.isnan(before)):
                    far = None if elsewhere is None else round(float(unit(own[turn]) @ elsewhere), DECIMALS)
                    near = (round(float(one[turn]), DECIMALS) for one in (neighbour, before))
                    rows.append((text_id, int(turn), *near, far))
            yield pd.DataFrame(rows, columns=[part.split()[0] for part in TOPICS.split(", ")])

    return conversations.select("text_id", "vectors", "tokens", "other").mapInPandas(score, TOPICS)


def related_pairs(vectors: Vectors, floor: float, most: int) -> list[tuple[int, int, float]]:
    """The pairs of rows that are most alike, from a cosine of ``floor`` on; equal ones in order."""
    rows = unit(vectors)
    product = rows @ rows.T
    found = [(i, j, round(float(product[i, j]), DECIMALS)) for i, j in combinations(range(len(rows)), 2)]
    return sorted((one for one in found if one[2] >= floor), key=lambda one: (-one[2], one))[:most]


def pairs_of_speakers(conversations: DataFrame, least: int, floor: float, most: int) -> DataFrame:
    """Rows of ``PAIRS``: utterances of one speaker that speak of one thing, the earlier one first.

    Args:
        conversations: text_id, roles array<string>, texts array<string>, tokens array<int>, vectors.
        least: tokens of an utterance that is looked at.
        floor: least cosine.
        most: pairs of a speaker.
    """
    columns = ["text_id", "roles", "texts", "tokens", "vectors"]

    def pair(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            rows = []
            for text_id, roles, texts, tokens, vectors in frame[columns].itertuples(index=False):
                for role in ("seeker", "supporter"):
                    own = [n for n, one in enumerate(roles) if one == role and tokens[n] >= least]
                    if len(own) > 1:
                        found = related_pairs(np.stack([vectors[n] for n in own]), floor, most)
                        rows += [(text_id, role, texts[own[i]], texts[own[j]], cosine) for i, j, cosine in found]
            yield pd.DataFrame(rows, columns=[part.split()[0] for part in PAIRS.split(", ")])

    return conversations.select(*columns).mapInPandas(pair, PAIRS)
