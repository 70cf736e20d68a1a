"""English glosses of Spanish, German and French lines, word by word: for classifiers that learnt from English lines.

"Ya no quiero vivir" becomes "already not I want live": no translation, yet a sentence encoder finds it similar to "I do
not want to live". The lists (``data/glossaries``) hold the words that such lines are made of.
"""

import re
from functools import cache
from typing import NamedTuple

from etl.safety.spelling import simplified, written_out
from etl.safety.stored import entries

LANGUAGES = ("de", "es", "fr")
LEAST_SHARE = 0.5
"""Of a line's words that a language's list has to know."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ELISION = re.compile(r"\b([cdjlmnst]|qu)['’]", re.IGNORECASE)
_ENGLISH = frozenset(
    [
        "i",
        "i'm",
        "im",
        "me",
        "my",
        "you",
        "your",
        "he",
        "she",
        "it",
        "we",
        "they",
        "the",
        "a",
        "an",
        "and",
        "or",
        "but",
        "of",
        "to",
        "in",
        "on",
        "at",
        "for",
        "with",
        "is",
        "am",
        "are",
        "was",
        "be",
        "been",
        "have",
        "has",
        "had",
        "do",
        "does",
        "did",
        "not",
        "don't",
        "no",
        "this",
        "that",
        "what",
        "how",
        "when",
        "who",
        "will",
        "would",
        "can",
        "could",
        "so",
        "just",
        "if",
        "from",
        "up",
        "out",
        "about",
        "all",
        "his",
        "her",
        "them",
        "him",
        "us",
        "there",
        "their",
        "want",
        "going",
        "get",
        "got",
        "like",
        "know",
    ]
)
"""Words that tell that a line is English; those that another language has as well count for both."""


class Glossary(NamedTuple):
    """The words of a language and their English, and beginnings of words with theirs, the longest first."""

    words: dict[str, str]
    beginnings: tuple[tuple[str, str], ...]

    def gloss(self, word: str) -> str | None:
        """Return the English of a word in lower case without accents; None where it is not known."""
        found = self.words.get(word)
        if found is None:
            found = next((meaning for start, meaning in self.beginnings if word.startswith(start)), None)
        return found


def reading(text: str) -> str:
    """Return a line as the classifiers read it: disguised and chat words written out, and other languages glossed."""
    return glossed(written_out(text))


def glossed(text: str) -> str:
    """Return a Spanish, German or French line with English for each known word; other lines as they are."""
    parted = _ELISION.sub(r"\1 ", text)
    words = [simplified(word) for word in _WORD.findall(parted)]
    language = _language(words)
    if language is None:
        return text
    glossary = _glossary(language)
    return _WORD.sub(lambda word: glossary.gloss(simplified(word[0])) or word[0], parted)


def _language(words: list[str]) -> str | None:
    """Return the language whose list knows most of the words, if it is half of them and more than English has."""
    known = {code: sum(_glossary(code).gloss(word) is not None for word in words) for code in LANGUAGES}
    best = max(LANGUAGES, key=lambda code: known[code])
    english = sum(word in _ENGLISH for word in words)
    return best if known[best] > english and known[best] >= LEAST_SHARE * len(words) else None


@cache
def _glossary(language: str) -> Glossary:
    pairs = [entry.split(" = ", 1) for entry in entries(f"glossaries/{language}")]
    words = {simplified(word): meaning for word, meaning in pairs if not word.endswith("*")}
    starts = [(simplified(word[:-1]), meaning) for word, meaning in pairs if word.endswith("*")]
    return Glossary(words, tuple(sorted(starts, key=lambda pair: -len(pair[0]))))
