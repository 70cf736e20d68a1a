"""Lemmas of a vocabulary, by either backend."""

import pytest
from pyspark.sql import functions as F

from conf.errors import InputError
from udfs.lemmas import BACKENDS, lemma_dictionary, lemmas_of_all, vocabulary

WORDS = ["went", "children", "was", "house", "zzqx", "élan", "better", "geese"]


@pytest.fixture(scope="module")
def lemma_words(spark):
    return spark.createDataFrame([(word,) for word in WORDS], "word string").cache()


def test_lemma_vocabulary_is_distinct_lower_case_words(spark) -> None:
    files = spark.createDataFrame(
        [([("I don 't go , Anna .",), ("",), ("GO",)],), (None,)], "sentences array<struct<text: string>>"
    )
    words = vocabulary(files, F.explode("sentences.text"))
    assert sorted(row["word"] for row in words.collect()) == ["anna", "don", "go", "i"]
    assert vocabulary(spark.createDataFrame([("a a b",)], "text string"), "text").count() == 2


def test_lemma_dictionary_is_lower_case_letters() -> None:
    dictionary = lemma_dictionary("en")
    assert dictionary["went"] == "go"
    assert dictionary["children"] == "child"
    assert all(word == word.lower() != lemma == lemma.lower() for word, lemma in dictionary.items())
    assert len(dictionary) > 50_000
    with pytest.raises(InputError, match="no dictionary of language 'xx'"):
        lemma_dictionary("xx")


def test_lemma_backends_give_the_same_table(lemma_words) -> None:
    tables = [
        {row["word"]: row["lemma"] for row in lemmas_of_all(lemma_words, backend=backend).collect()}
        for backend in BACKENDS
    ]
    assert tables[0] == tables[1]
    assert set(tables[0]) == set(WORDS)
    assert tables[0]["went"] == "go"
    assert tables[0]["zzqx"] == "zzqx"


def test_lemma_changed_words_alone(lemma_words) -> None:
    rows = {
        row["word"]: row["lemma"]
        for row in lemmas_of_all(lemma_words, backend="simplemma").where("word != lemma").collect()
    }
    assert rows["geese"] == "goose"
    assert "house" not in rows
    assert "zzqx" not in rows


def test_lemma_unknown_backend(lemma_words) -> None:
    with pytest.raises(InputError, match=r"subtitles\.lemmatizer: 'nltk' is not one of spark-nlp, simplemma"):
        lemmas_of_all(lemma_words, backend="nltk")
