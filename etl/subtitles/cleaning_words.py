"""The word lists of the cleaning rules, by language."""

from collections.abc import Sequence
from dataclasses import dataclass

from conf.wordlists import words_of


@dataclass(frozen=True)
class CleaningWords:
    """Word lists from ``conf/``, in lower case.

    Attributes:
        not_names: words that no character name contains.
        profanity: words that make a dialogue profane.
        address_words: words with which speakers speak of themselves and to each other.
        recaps, credits: beginnings of recaps and credits in other languages than English, whose are patterns.
    """

    not_names: tuple[str, ...] = ()
    profanity: tuple[str, ...] = ()
    address_words: tuple[str, ...] = ()
    recaps: tuple[str, ...] = ()
    credits: tuple[str, ...] = ()


def cleaning_words(languages: Sequence[str] = ("en",)) -> CleaningWords:
    """Return the word lists of these languages, those of English without any."""
    names = ("not_names", "profanity", "address_words", "recaps", "credits")
    return CleaningWords(**{name: words_of(languages or ("en",), name) for name in names})
