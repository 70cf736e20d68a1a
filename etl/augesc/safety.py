"""Phrases that mention danger, and the fixed texts that are said in place of a model's (AugESC 7.4, ethics).

The lists are English. They prefer false alarms to misses, and are not a diagnosis.
"""

import csv
import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from conf.resources import text as resource
from conf.safety_settings import ANY_COUNTRY, HOTLINES
from conf.wordlists import cased_words

PHRASES = "safety/danger_phrases"
DOUBTFUL = "safety/doubtful_phrases"
HARMFUL = "safety/harmful_replies"
GAP = r"(?:\w+ ){0,3}?"
# Letters of other alphabets that look like Latin ones, and characters typed instead of letters.
_LOOKALIKES = str.maketrans("асԁеһіјкморѕтухαεικορτυνω", "acdehijkmopstyxaeikoptuvw")
_TYPED = str.maketrans("013457@$!|", "oieastasil")
_UNSEEN = ("Mn", "Cf", "Cc")
_MASK = re.compile(r"[^\W_]+(?:[*#_.%-]+[^\W_]+)+")


def danger(line: str, *lists: str) -> str | None:
    """Return the first phrase of some lists in a line; None without one.

    Phrases are also found with digits or stars for letters, blanks between letters, repeated letters, or letters of
    other alphabets.

    Args:
        line: what was said.
        lists: names; by default those of users, ``PHRASES`` and ``DOUBTFUL``. ``HARMFUL`` is of models.
    """
    for phrases in lists or (PHRASES, DOUBTFUL):
        for reading in _readings(line, phrases):
            found = _pattern(phrases).search(f"{reading} ")
            if found:
                return found[0].strip()
    return None


def chat_notice(country: str | None = None) -> str:
    """Return the notice at the start of a chat: a machine, under supervision, no help in an emergency."""
    return _filled("chat_notice", country)


def danger_answer(country: str | None = None) -> str:
    """Return the answer to a line that mentions danger, with the help that there is in a country."""
    return _filled("danger_answer", country)


def state_answer(country: str | None = None) -> str:
    """Return the answer to every line after one that mentioned danger."""
    return _filled("danger_state", country)


def withheld_reply(country: str | None = None) -> str:
    """Return what is said in place of a model's line that mentions danger or could do harm."""
    return _filled("withheld_reply", country)


def _filled(name: str, country: str | None) -> str:
    """Return the text ``conf/safety/<name>.txt`` with a country's numbers."""
    rows = {row["country"]: row for row in csv.DictReader(resource(HOTLINES).splitlines())}
    numbers = rows[country or ANY_COUNTRY]
    lines = "\n".join(cased_words(f"safety/{name}"))
    return lines.format(emergency=numbers["emergency"], people=numbers["people"])


def _readings(line: str, phrases: str) -> Iterator[str]:
    """Yield the line in plain lower-case words, as written and in possible other spellings."""
    letters = unicodedata.normalize("NFKD", line).casefold().translate(_LOOKALIKES)
    plain = "".join(letter for letter in letters if unicodedata.category(letter) not in _UNSEEN or letter.isspace())
    for text in (plain, _MASK.sub(lambda word: _unmasked(word, phrases), plain)):
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


def _unmasked(word: re.Match[str], phrases: str) -> str:
    """Return the listed word for a partly masked one, such as su*cide or k-ll."""
    if sum(letter.isalnum() for letter in word[0]) * 2 < len(word[0]) or len(word[0]) < 4:
        return word[0]
    mask = re.compile("".join(letter if letter.isalnum() else r"\w?" for letter in word[0]))
    return next((known for known in _long_words(phrases) if mask.fullmatch(known)), word[0])


@cache
def _long_words(phrases: str) -> tuple[str, ...]:
    words = {word.rstrip("*") for phrase in cased_words(phrases) for word in _phrase_words(phrase)}
    return tuple(sorted(word for word in words if len(word) > 3))


def _phrase_words(phrase: str) -> list[str]:
    return re.sub("['’]", "", phrase.lower()).split()


@cache
def _pattern(phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(rf"\b{_phrase(entry)}" for entry in cased_words(phrases)))


def _phrase(entry: str) -> str:
    """Return an entry as a pattern over words that each end with a blank."""
    return "".join(
        GAP if word == ".." else rf"{word[:-1]}\w* " if word.endswith("*") else f"{word} "
        for word in _phrase_words(entry)
    )
