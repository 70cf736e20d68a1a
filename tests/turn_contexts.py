"""Contexts of sentence pairs, for tests of turn segmenters."""

from typing import Any

import numpy as np
import pyarrow as pa

from etl.subtitles.turn_features import PairContext, hashed_genres


def pair_context(same_block: list[int], **known: Any) -> PairContext:
    """Return a context of pairs of which only what is given is known: density, gap_ms, speeds, genres, language."""
    count = len(same_block)
    numbers = (np.array(known.get(name, [np.nan] * count), dtype=np.float64) for name in NUMBERS)
    genres = hashed_genres(pa.array(known.get("genres", [None] * count), pa.list_(pa.string())))
    language = np.array(known.get("language", [None] * count), dtype=object)
    return PairContext(np.array(same_block, np.int8), genres, *numbers, language)


NUMBERS = ("density", "gap_ms", "left_speed", "right_speed")
