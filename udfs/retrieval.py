"""Retrieval of texts by TF-IDF or embeddings in executors: baselines that generated replies are compared with."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from udfs.vectors import of_length_1

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


def nearest_by_embedding(
    queries: DataFrame, texts: Sequence[str], answers: Sequence[str], encoder: Mapping[str, Any]
) -> DataFrame:
    """Add `reply` to the queries: the answer of the text with the most similar embedding, the first of equal ones.

    Args:
        queries, texts, answers: see `nearest_answers`.
        encoder: arguments of `udfs.predict.embed_texts`.
    """
    from udfs.predict import embed_texts

    spark = queries.sparkSession
    numbered = [(str(place), text) for place, text in enumerate(texts)]
    given = spark.createDataFrame(numbered, "text_hash string, text string")
    known = {int(row.text_hash): row.embedding for row in embed_texts(given, **encoder).collect() if row.embedding}
    if not known:
        return queries.withColumn("reply", F.lit(None).cast("string"))
    places = sorted(known)
    matrix = of_length_1(np.array([known[place] for place in places], dtype=np.float32))
    chosen = [answers[place] for place in places]
    distinct = queries.select(F.col("query").alias("text_hash"), F.col("query").alias("text")).distinct()
    asked = embed_texts(distinct, **encoder).where(F.col("embedding").isNotNull())

    def answered(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            cosines = np.round(of_length_1(np.stack(list(frame["embedding"]))) @ matrix.T, DECIMALS)
            best = [chosen[place] for place in cosines.argmax(axis=1)]
            yield pd.DataFrame({"query": frame["text_hash"], "reply": best})

    return queries.join(asked.mapInPandas(answered, "query string, reply string"), "query", "left")


def _with_reply(queries: DataFrame) -> str:
    fields = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in queries.schema.fields)
    return f"{fields}, reply string"
