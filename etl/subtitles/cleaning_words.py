"""The word lists of the cleaning rules, by language."""

from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from conf.resources import text
from conf.wordlists import words_in_languages


@dataclass(frozen=True)
class CleaningWords:
    """Word lists from ``conf/``, in lower case.

    Attributes:
        not_names: words that no character name contains.
        profanity: words that make a dialogue profane.
        address_words: words with which speakers speak of themselves and to each other.
        function_words: words that say little by themselves.
        credit_patterns: regular expressions that a turn with a credit or an advert has, of English and the languages.
        recaps, credits: beginnings of recaps and credits in other languages than English, whose are patterns.
    """

    not_names: tuple[str, ...] = ()
    profanity: tuple[str, ...] = ()
    address_words: tuple[str, ...] = ()
    function_words: tuple[str, ...] = ()
    recaps: tuple[str, ...] = ()
    credits: tuple[str, ...] = ()
    credit_patterns: tuple[str, ...] = ()


def cleaning_words(languages: Sequence[str] = ("en",)) -> CleaningWords:
    """Return the word lists of these languages, those of English without any."""
    names = ("not_names", "profanity", "address_words", "function_words", "recaps", "credits")
    lists = {name: words_in_languages(languages or ("en",), name) for name in names}
    return CleaningWords(**lists, credit_patterns=credit_patterns(languages))


def credit_patterns(languages: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the patterns of ``conf/credit_patterns.yaml`` for English, for any language, and for these."""
    table: dict[str, list[str]] = yaml.safe_load(text("credit_patterns.yaml"))
    wanted = {"en", "any", *languages}
    return tuple(pattern for language, patterns in table.items() if language in wanted for pattern in patterns)
