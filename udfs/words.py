"""NLTK's word tokens (AugESC 4.2); Punkt's English parameters come from a package, not from a download."""

from collections.abc import Callable, Iterator
from functools import cache

import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as F

LONGEST = 20_000
"""Maximum characters tokenised at once, because Punkt takes more than linear time on long runs of full stops."""


@cache
def _tokenizers() -> tuple[Callable[[str], list[str]], Callable[[str], list[str]]]:
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    from punkt.data import english

    parameters = PunktParameters()
    parameters.abbrev_types = set(english.ABBREV_TYPES)
    parameters.collocations = set(english.COLLOCATIONS)
    parameters.sent_starters = set(english.SENT_STARTERS)
    parameters.ortho_context.update(english.ORTHO_CONTEXT)
    return PunktSentenceTokenizer(parameters).tokenize, NLTKWordTokenizer().tokenize


def word_tokens(text: str) -> list[str]:
    """Return the tokens of ``nltk.word_tokenize``; texts above ``LONGEST`` characters are cut into pieces first."""
    sentences, words = _tokenizers()
    pieces = (text[start : start + LONGEST] for start in range(0, len(text), LONGEST))
    return [word for piece in pieces for sentence in sentences(piece) for word in words(sentence)]


def token_count(text: Column) -> Column:
    """Return the number of NLTK word tokens of a text; 0 for null."""

    def count(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        for batch in batches:
            yield batch.map(lambda one: len(word_tokens(one)) if isinstance(one, str) else 0).astype("int32")

    return F.pandas_udf(count, "int")(text)  # type: ignore[call-overload, no-any-return]


def lower_words(texts: Column) -> Column:
    """Return a list of lower-case words for each text in an array: the NLTK tokens with a letter."""

    def words(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        for batch in batches:
            yield batch.map(lambda several: [words_with_letters(one) for one in several])

    return F.pandas_udf(words, "array<array<string>>")(texts)  # type: ignore[call-overload, no-any-return]


def words_with_letters(text: str | None) -> list[str]:
    """Return the lower-case tokens of a text that have a letter."""
    return [token.lower() for token in word_tokens(text or "") if any(letter.isalpha() for letter in token)]
