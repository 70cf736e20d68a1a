"""Phrases that mention danger (AugESC 7.4, ethics), in English and, fewer, in other languages.

They prefer false alarms to misses, and are not a diagnosis.
"""

import re
from collections.abc import Iterator
from functools import cache

from etl.safety.spelling import simplified, spelled_out, typed_letters, unmasked
from etl.safety.stored import entries

PHRASES = ("danger_phrases", "foreign_phrases")
DOUBTFUL = ("doubtful_phrases", "foreign_doubtful_phrases")
HARMFUL = ("harmful_replies",)
HARMLESS = ("harmless_phrases",)
"""Figures of speech, which are taken out of a line before the others are looked for."""
Lists = tuple[str, ...]
"""Names of files under ``data``, whose entries are looked for together."""
GAP = r"(?:\w+ ){0,3}?"
_WITHOUT_BLANKS = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")


def danger(line: str, *lists: Lists) -> str | None:
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
                found = _pattern(phrases).search(_pattern(HARMLESS).sub("", f"{reading} "))
            if found:
                return found[0].strip()
    return None


def _readings(line: str, phrases: Lists) -> Iterator[str]:
    """Yield the line in plain lower-case words, as written and in possible other spellings."""
    plain = simplified(line)
    for text in (plain, unmasked(plain, _long_words(phrases))):
        yield _words(text)
        letters = _words(typed_letters(text))
        yield letters
        yield re.sub(r"(\w)\1{2,}", r"\1", letters)
        yield re.sub(r"(\w)\1{2,}", r"\1\1", letters)
        yield spelled_out(letters)


def _words(text: str) -> str:
    """Return the words separated by single blanks, without apostrophes, and with "my self" as one word."""
    words = " ".join(re.sub(r"[^\w\s]|_", " ", re.sub("['’`´ʼ]", "", text)).split())
    return re.sub(r"\b(my|her|him|your) self\b", r"\1self", words)


@cache
def _long_words(phrases: Lists) -> tuple[str, ...]:
    words = {word.rstrip("*") for name in phrases for entry in entries(name) for word in _phrase_words(entry)}
    return tuple(sorted(word for word in words if len(word) > 3))


def _phrase_words(phrase: str) -> list[str]:
    return re.sub("['’]", "", simplified(phrase)).split()


@cache
def _pattern(phrases: Lists) -> re.Pattern[str]:
    listed = [entry for name in phrases for entry in entries(name)]
    parted = "|".join(_phrase(entry) for entry in listed if not _WITHOUT_BLANKS.search(entry))
    whole = "|".join(re.escape(simplified(entry)) for entry in listed if _WITHOUT_BLANKS.search(entry))
    return re.compile(rf"\b(?:{parted})" + (rf"|(?=[^\x00-\u1000])(?:{whole})" if whole else ""))


def _phrase(entry: str) -> str:
    """Return an entry as a pattern over words that each end with a blank."""
    return "".join(
        GAP if word == ".." else rf"{word[:-1]}\w* " if word.endswith("*") else f"{word} "
        for word in _phrase_words(entry)
    )
