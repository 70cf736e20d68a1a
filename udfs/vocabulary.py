"""Words that a dictionary does not have."""

import re
from functools import cache

import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as F

_SMALL_WORD = re.compile(r"(?<!\S)[a-z]+(?!\S)")


@cache
def english_words() -> frozenset[str]:
    """Return the lower-case words and lemmas of simplemma's English dictionary."""
    from simplemma.strategies.dictionaries.dictionary_factory import DefaultDictionaryFactory

    entries = DefaultDictionaryFactory().get_dictionary("en")
    return frozenset(entries) | frozenset(entries.values())


def count_words(text: str | None) -> tuple[int, int]:
    """Return how many tokens of a text are words in small letters, and how many of them the dictionary lacks.

    Names are capitalised and do not count.
    """
    known = english_words()
    words = _SMALL_WORD.findall(text or "")
    return len(words), sum(word not in known for word in words)


def small_words(text: Column) -> Column:
    """Return struct<small_words: int, unknown_words: int> of an English text: see ``count_words``."""

    @F.pandas_udf("struct<small_words: int, unknown_words: int>")  # type: ignore[call-overload]
    def counted(texts: pd.Series) -> pd.DataFrame:
        return pd.DataFrame([count_words(one) for one in texts], columns=["small_words", "unknown_words"])

    return counted(text)
