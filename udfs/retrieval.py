"""Retrieval of texts by TF-IDF or embeddings in executors: baselines that generated replies are compared with."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame

WORDS = r"(?u)[\w']+"
ROWS_AT_ONCE = 256
DECIMALS = 6


class TfidfIndex:
    """The texts to search, each with what is returned for it.

    Args:
        texts: that queries are compared with.
        answers: one a text.
    """

    def __init__(self, texts: Sequence[str], answers: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.answers = list(answers)
        self.vectorizer = TfidfVectorizer(token_pattern=WORDS, sublinear_tf=True, dtype=np.float64)
        # A text without words would leave an index of such texts without a vocabulary.
        self.matrix: Any = self.vectorizer.fit_transform([*texts, "word"])[:-1].T.tocsc()

    def nearest(self, queries: Sequence[str]) -> list[tuple[str, float]]:
        """Return the answer of each query's most similar text, and their cosine; the first of equal ones."""
        found: list[tuple[str, float]] = []
        for start in range(0, len(queries), ROWS_AT_ONCE):
            some = self.vectorizer.transform(queries[start : start + ROWS_AT_ONCE])
            cosines = np.round((some @ self.matrix).toarray(), DECIMALS)
            best = cosines.argmax(axis=1)
            found += [(self.answers[place], float(row[place])) for place, row in zip(best, cosines, strict=True)]
        return found


def nearest_answers(queries: DataFrame, texts: Sequence[str], answers: Sequence[str]) -> DataFrame:
    """Add `reply` to the queries: the answer of the most similar text by TF-IDF.

    Args:
        queries: with the column `query`.
        texts: that queries are compared with.
        answers: one a text.
    """
    index = TfidfIndex(texts, answers)

    def answered(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            replies = [answer for answer, _ in index.nearest(list(frame["query"]))]
            yield frame.assign(reply=pd.Series(replies, index=frame.index, dtype=object))

    return queries.mapInPandas(answered, _with_reply(queries))


def _with_reply(queries: DataFrame) -> str:
    fields = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in queries.schema.fields)
    return f"{fields}, reply string"
