"""Lemmas of the distinct words of a corpus.

A dictionary lemmatizer ignores context, so it needs each word only once. Both backends read simplemma's dictionary and
give the same table. ``spark-nlp`` runs its Tokenizer and Lemmatizer on the words as documents. ``simplemma`` looks the
words up in Python workers, for runtimes without Spark NLP's jar.
"""

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError

BACKENDS = ("spark-nlp", "simplemma")
_ARROW = "->"
_TAB = "\t"
_LETTERS = re.compile(r"[^\W\d_]{1,40}")
_WORD = r"^[\p{L}\p{M}]{1,40}$"


@cache
def lemma_dictionary(language: str) -> Mapping[str, str]:
    """Return a mapping from word to lemma, in lower case, of the words of letters that differ from their lemma.

    The lower-case entry of a word takes precedence over entries in other cases.

    Raises:
        InputError: simplemma has no dictionary of the language.
    """
    from simplemma.strategies.dictionaries.dictionary_factory import DefaultDictionaryFactory

    try:
        entries = DefaultDictionaryFactory().get_dictionary(language)
    except ValueError as error:
        raise InputError(f"lemmas: simplemma has no dictionary of language {language!r}") from error
    found: dict[str, str] = {}
    for word in sorted(entries, key=lambda word: (word == word.lower(), word)):
        lemma = entries[word].lower()
        if _LETTERS.fullmatch(word.lower()) and _LETTERS.fullmatch(lemma):
            found[word.lower()] = lemma
    return {word: lemma for word, lemma in sorted(found.items()) if word != lemma}


def vocabulary(texts: DataFrame, column: str | Column) -> DataFrame:
    """Return the distinct words of letters, in lower case, as column word.

    Args:
        texts: rows with the column.
        column: a string column of blank-separated tokens, such as ``left_text`` or ``F.explode("sentences.text")``.
    """
    tokens = texts.select((F.col(column) if isinstance(column, str) else column).alias("text"))
    words = tokens.select(F.explode(F.split(F.lower("text"), " ")).alias("word"))
    return words.filter(F.col("word").rlike(_WORD)).distinct()


def lemmas_of_all(words: DataFrame, *, backend: str, language: str = "en") -> DataFrame:
    """Return (word, lemma) of every word; a word that the dictionary lacks is its lemma.

    Args:
        words: column word, from :func:`vocabulary`.
        backend: ``spark-nlp`` or ``simplemma``, with equal results.

    Raises:
        InputError: The backend is unknown, the language has no dictionary, or Spark NLP is not installed.
    """
    if backend not in BACKENDS:
        raise InputError(f"subtitles.lemmatizer: {backend!r} is not one of {', '.join(BACKENDS)}")
    dictionary = lemma_dictionary(language)
    return _by_spark_nlp(words, dictionary) if backend == "spark-nlp" else _by_look_up(words, language)


def _by_look_up(words: DataFrame, language: str) -> DataFrame:
    def look_up(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        dictionary = lemma_dictionary(language)
        for batch in batches:
            word = batch["word"]
            yield pd.DataFrame({"word": word, "lemma": [dictionary.get(text, text) for text in word]})

    return words.select("word").mapInPandas(look_up, "word string, lemma string")


def _by_spark_nlp(words: DataFrame, dictionary: Mapping[str, str]) -> DataFrame:
    try:
        from sparknlp.annotator import Lemmatizer, Tokenizer
        from sparknlp.base import DocumentAssembler
    except ImportError as error:
        raise InputError("subtitles.lemmatizer: no package spark-nlp; set it to simplemma") from error
    try:
        assembler = DocumentAssembler().setInputCol("word").setOutputCol("document")
    except TypeError as error:
        raise InputError(
            "subtitles.lemmatizer: Spark NLP's jar is not on the class path; add it, or set simplemma"
        ) from error
    tokenizer = Tokenizer().setInputCols(["document"]).setOutputCol("token")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lemmas.txt"
        path.write_text(_as_lines(dictionary), encoding="utf-8")
        lemmatizer = Lemmatizer().setInputCols(["token"]).setOutputCol("lemma")
        lemmatizer = lemmatizer.setDictionary(path.as_uri(), key_delimiter=_ARROW, value_delimiter=_TAB)
        documents = assembler.transform(words.select("word"))
        tokens = tokenizer.fit(documents).transform(documents)
        lemmas = lemmatizer.fit(tokens).transform(tokens)
    return lemmas.select("word", F.array_join("lemma.result", "").alias("lemma"))


def _as_lines(dictionary: Mapping[str, str]) -> str:
    """Return the dictionary in Spark NLP's format: a lemma, an arrow, and its words separated by tabs."""
    words_of: dict[str, list[str]] = {}
    for word, lemma in dictionary.items():
        words_of.setdefault(lemma, []).append(word)
    return "".join(f"{lemma}{_ARROW}{_TAB.join(words)}\n" for lemma, words in sorted(words_of.items()))
