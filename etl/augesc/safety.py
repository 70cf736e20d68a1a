"""Detect lines of a user that mention danger, which get a fixed answer instead of a model's (AugESC 7.4, ethics).

The rule is a list of English phrases. It prefers false alarms to misses, and is not a diagnosis.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from conf.wordlists import cased_words

PHRASES = "augesc/danger_phrases"
GAP = r"(?:\w+ ){0,3}?"
# Letters of other alphabets that look like Latin ones, and characters typed instead of letters.
_LOOKALIKES = str.maketrans("асԁеһіјкморѕтухαεικορτυνω", "acdehijkmopstyxaeikoptuvw")
_TYPED = str.maketrans("013457@$!|", "oieastasil")
_UNSEEN = ("Mn", "Cf", "Cc")
_MASK = re.compile(r"[^\W_]+(?:[*#_.%-]+[^\W_]+)+")


def danger(line: str) -> str | None:
    """Return the phrase in a user's line that mentions danger to a person; None without one.

    Phrases are also found with digits or stars for letters, blanks between letters, repeated letters, or letters of
    other alphabets.
    """
    for reading in _readings(line):
        found = _pattern().search(f"{reading} ")
        if found:
            return found[0].strip()
    return None


def danger_answer() -> str:
    """Return the answer to a line that mentions danger."""
    return "\n".join(cased_words("augesc/danger_answer"))


def chat_notice() -> str:
    """Return the notice at the start of a chat: a machine, under supervision, no help in an emergency."""
    return "\n".join(cased_words("augesc/chat_notice"))


def _readings(line: str) -> Iterator[str]:
    """Yield the line in plain lower-case words, as written and in possible other spellings."""
    letters = unicodedata.normalize("NFKD", line).casefold().translate(_LOOKALIKES)
    plain = "".join(letter for letter in letters if unicodedata.category(letter) not in _UNSEEN or letter.isspace())
    for text in (plain, _MASK.sub(_unmasked, plain)):
        yield _words(text)
        typed = _words(re.sub(r"\S*[^\W\d]\S*", lambda word: word[0].translate(_TYPED), text))
        yield typed
        yield re.sub(r"(\w)\1{2,}", r"\1", typed)
        yield re.sub(r"(\w)\1{2,}", r"\1\1", typed)
        yield re.sub(r"\b\w(?: \w){2,}\b", lambda spelled: spelled[0].replace(" ", ""), typed)


def _words(text: str) -> str:
    """Return the words separated by single blanks, without apostrophes, and with "my self" as one word."""
    words = " ".join(re.sub(r"[^\w\s]|_", " ", re.sub("['’`´ʼ]", "", text)).split())
    return re.sub(r"\b(my|her|him|your) self\b", r"\1self", words)


def _unmasked(word: re.Match[str]) -> str:
    """Return the listed word for a partly masked one, such as su*cide or k-ll."""
    if sum(letter.isalnum() for letter in word[0]) * 2 < len(word[0]) or len(word[0]) < 4:
        return word[0]
    mask = re.compile("".join(letter if letter.isalnum() else r"\w?" for letter in word[0]))
    return next((known for known in _long_words() if mask.fullmatch(known)), word[0])


@cache
def _long_words() -> tuple[str, ...]:
    words = {word.rstrip("*") for phrase in cased_words(PHRASES) for word in _phrase_words(phrase)}
    return tuple(sorted(word for word in words if len(word) > 3))


def _phrase_words(phrase: str) -> list[str]:
    return re.sub("['’]", "", phrase.lower()).split()


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile("|".join(rf"\b{_phrase(entry)}" for entry in cased_words(PHRASES)))


def _phrase(entry: str) -> str:
    """Return an entry as a pattern over words that each end with a blank."""
    return "".join(
        GAP if word == ".." else rf"{word[:-1]}\w* " if word.endswith("*") else f"{word} "
        for word in _phrase_words(entry)
    )
