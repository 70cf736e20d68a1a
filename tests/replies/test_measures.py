"""The metrics of Table 7 against NLTK, numpy and worked examples."""

import math

import numpy as np
import pytest
from nltk import ngrams
from pyspark.sql import SparkSession

from etl.common.hashes import text_hash
from etl.replies.measures import distinct_ngrams, perplexities, similarities, table_7

REPLIES = ["I am sorry , I am .", "Don't be sorry !", "", "Sorry .", "I am ."]


def test_perplexity_counts_tokens_alike_and_words_too(spark: SparkSession) -> None:
    rows = [
        ("a", "os", 10.0, 4, 2, None),
        ("a", "os", 2.0, 1, 1, None),
        ("a", "edos", 3.0, 3, 2, None),
        ("a", "os", None, None, None, "too long"),
    ]
    given = spark.createDataFrame(
        rows, "generator string, source string, nats double, tokens int, words int, error string"
    )
    found = {row.source: (row.perplexity, row.word_perplexity) for row in perplexities(given).collect()}
    assert found["os"] == pytest.approx((math.exp(12 / 5), math.exp(12 / 3)))
    assert found["edos"] == pytest.approx((math.e, math.exp(1.5)))


def test_distinct_ngrams_are_those_of_nltk(spark: SparkSession) -> None:
    given = spark.createDataFrame(
        [("a", "os", reply) for reply in REPLIES], "generator string, source string, reply string"
    )
    (row,) = distinct_ngrams(given).collect()
    said = [
        ["i", "am", "sorry", ",", "i", "am", "."],
        ["don't", "be", "sorry", "!"],
        [],
        ["sorry", "."],
        ["i", "am", "."],
    ]
    total = sum(map(len, said))
    assert row.distinct_1 == pytest.approx(len({gram for one in said for gram in ngrams(one, 1)}) / total)
    assert row.distinct_2 == pytest.approx(len({gram for one in said for gram in ngrams(one, 2)}) / total)
    assert row.mean_words == pytest.approx(total / 5)


def test_similarity_is_the_mean_cosine(spark: SparkSession) -> None:
    vectors = {"one": [1.0, 2.0, -1.0], "two": [0.5, 0.1, 4.0], "three": [-1.0, 0.0, 0.2]}
    texts = spark.createDataFrame(list(vectors.items()), "text string, embedding array<float>")
    embedded = texts.selectExpr("*", "'m' AS model", "CAST(NULL AS string) AS error").withColumn(
        "text_hash", text_hash(texts.text)
    )
    other = embedded.selectExpr("text", "array(1F, 1F, 1F) AS embedding", "'old' AS model", "error", "text_hash")
    pairs = [("one", "two"), ("two", "three"), ("three", "three"), ("one", "not embedded")]
    given = spark.createDataFrame(
        [("a", "os", *pair) for pair in pairs], "generator string, source string, reply string, expected string"
    )
    (row,) = similarities(given, embedded.unionByName(other), "m").collect()

    def cosine(left: str, right: str) -> float:
        a = np.array(vectors[left])
        b = np.array(vectors[right])
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    assert row.similarity == pytest.approx(np.mean([cosine(*pair) for pair in pairs[:3]]), abs=1e-4)


def test_a_cell_of_table_7_tells_what_failed(spark: SparkSession) -> None:
    scored = "generator string, source string, nats double, tokens int, words int, error string"
    said = (
        "generator string, source string, model string, example_id string, reply string, expected string, error string"
    )
    cells = table_7(
        spark.createDataFrame([("edos", "edos", 4.0, 4, 2, None), ("edos", "os", 8.0, 4, 2, None)], scored),
        spark.createDataFrame(
            [
                ("edos", "edos", "m", "1", "yes .", "no", None),
                ("edos", "edos", "m", "2", None, "no", "failed"),
                ("edos", "os", "m", "3", None, "no", "failed"),
            ],
            said,
        ),
        spark.createDataFrame(
            [("echo", "edos", "1", "so ?", "no", None), ("echo", "edos", "2", "so ? so", "no", None)],
            said.replace("model string, ", ""),
        ),
        spark.createDataFrame([], "text_hash string, model string, embedding array<float>, error string"),
        "e",
    )
    found = {row.source: row for row in cells.where("kind = 'model'").collect()}
    row = found["edos"]
    assert (row.examples, row.failed, row.held_out, row.perplexity) == (2, 1, True, 2.7183)
    assert (row.distinct_1, row.distinct_2, row.similarity, row.word_perplexity) == (1.0, 0.5, None, 7.3891)
    echo = cells.where("generator = 'echo'").first()
    assert (echo.kind, echo.held_out, echo.model, echo.examples, echo.mean_words) == ("floor", None, None, 2, 2.5)
    assert (row.kind, row.distinct_replies, echo.distinct_replies) == ("model", 1, 1)
    assert (found["os"].held_out, found["os"].distinct_1, found["os"].failed) == (False, None, 1)
