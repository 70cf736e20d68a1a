"""Find texts that models wrote in another language than English (ours)."""

import re
from collections.abc import Sequence
from functools import lru_cache

from simplemma import in_target_language

from udfs.opus.languages import language_of

LEAST_WORDS = 5
"""Different words of two letters or more, below which a text can be of any language."""
LEAST_LETTERS = 5
MOST_ENGLISH = 0.7
"""Share of English words up to which a text is foreign, if the classifier is sure, too."""
SURE = 0.9
MOST_CHARACTERS = 2_000
"""Of a text, by which its language is detected."""
_WORD = re.compile(r"[^\W\d_]{2,}+")
_LAST_LATIN = "\u024f"


@lru_cache(maxsize=16)
def is_foreign(text: str) -> bool:
    """Return whether a text is surely not English: by its letters, or by its words and a classifier."""
    start = text[:MOST_CHARACTERS]
    letters = [letter for letter in start if letter.isalpha()]
    if len(letters) >= LEAST_LETTERS and 2 * sum(letter > _LAST_LATIN for letter in letters) > len(letters):
        return True
    if len(set(_WORD.findall(start.lower()))) < LEAST_WORDS:
        return False
    code, probability = language_of(start)
    return code != "en" and probability >= SURE and in_target_language(start, lang="en") <= MOST_ENGLISH


def foreign_texts(texts: Sequence[str], prompt: str = "") -> list[bool]:
    """Return which texts of an answer are not English, though its prompt is.

    Short texts, which could be of any language, count as foreign where the answer as a whole is.
    """
    if is_foreign(prompt):
        return [False] * len(texts)
    foreign = [is_foreign(text) for text in texts]
    whole = is_foreign("\n".join(texts)) or 2 * sum(foreign) >= len(texts)
    return [one or (whole and not _is_english(text)) for one, text in zip(foreign, texts, strict=True)]


def _is_english(text: str) -> bool:
    return language_of(text)[0] == "en" and in_target_language(text, lang="en") > MOST_ENGLISH
