"""A user's line that speaks of danger gets a fixed answer before any model's text (AugESC 7.4, and its ethics).

A rule with a list of phrases: it errs on the side of answering. It knows English alone, and it is no diagnosis.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from conf.wordlists import cased_words

PHRASES = "augesc/danger_phrases"
GAP = r"(?:\w+ ){0,3}?"
# Letters of other alphabets that look like ours, and what is typed for letters.
_LOOKALIKES = str.maketrans("асԁеһіјкморѕтухαεικορτυνω", "acdehijkmopstyxaeikoptuvw")
_TYPED = str.maketrans("013457@$!|", "oieastasil")
_UNSEEN = ("Mn", "Cf", "Cc")
_MASK = re.compile(r"[^\W_]+(?:[*#_.%-]+[^\W_]+)+")


def danger(line: str) -> str | None:
    """The phrase by which a user's line speaks of danger to somebody; None where it does not.

    Found as well: spelled with digits, stars, blanks between letters or drawn-out vowels, in other alphabets' letters.
    """
    for reading in _readings(line):
        found = _pattern().search(f"{reading} ")
        if found:
            return found[0].strip()
    return None


def danger_answer() -> str:
    """What is said to such a line."""
    return "\n".join(cased_words("augesc/danger_answer"))


def chat_notice() -> str:
    """What a chat begins with: a machine, under supervision, no help in an emergency."""
    return "\n".join(cased_words("augesc/chat_notice"))


def _readings(line: str) -> Iterator[str]:
    """The line in plain lower-case words, as it is and as it may be meant."""
    letters = unicodedata.normalize("NFKD", line).casefold().translate(_LOOKALIKES)
    plain = "".join(
        letter for letter in letters if unicodedata.category(letter) not in ("Mn", "Cf", "Cc") or letter.isspace()
    )
    for text in (plain, _MASK.sub(_unmasked, plain)):
        yield _words(text)
        typed = _words(re.sub(r"\S*[^\W\d]\S*", lambda word: word[0].translate(_TYPED), text))
        yield typed
        yield re.sub(r"(\w)\1{2,}", r"\1", typed)
        yield re.sub(r"(\w)\1{2,}", r"\1\1", typed)
        yield re.sub(r"\b\w(?: \w){2,}\b", lambda spelled: spelled[0].replace(" ", ""), typed)


def _words(text: str) -> str:
    """Words with single blanks between them; apostrophes close up, and so does what is written apart."""
    words = " ".join(re.sub(r"[^\w\s]|_", " ", re.sub("['’`´ʼ]", "", text)).split())
    return re.sub(r"\b(my|her|him|your) self\b", r"\1self", words)


def _unmasked(word: re.Match[str]) -> str:
    """A word of the list for one whose letters are partly masked: su*cide, k-ll."""
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
    """An entry as a pattern over words that each end with a blank."""
    parts = []
    for word in _phrase_words(entry):
        parts.append(GAP if word == ".." else rf"{word[:-1]}\w* " if word.endswith("*") else f"{word} ")
    return "".join(parts)
