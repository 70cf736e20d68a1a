"""Phrases that mention danger (AugESC 7.4, ethics), in English and, fewer, in other languages.

They prefer false alarms to misses, and are not a diagnosis.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from conf.wordlists import entries_of

PHRASES = ("danger_phrases", "foreign_phrases")
HARMFUL = ("harmful_replies",)
HARMLESS = ("harmless_phrases",)
"""Figures of speech, which are taken out of a line before the others are looked for."""
Lists = tuple[str, ...]
"""Names of files under ``data``, whose entries are looked for together."""
GAP = r"(?:\w+ ){0,3}?"
_WITHOUT_BLANKS = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
# Letters of other alphabets that look like Latin ones, and characters typed instead of letters.
_LOOKALIKES = str.maketrans("асԁеһіјкморѕтухαεικορτυνω", "acdehijkmopstyxaeikoptuvw")
_TYPED = str.maketrans("013457@$!|", "oieastasil")
_UNSEEN = ("Mn", "Cf", "Cc")
_MASKS = re.compile(r"(?<=[^\W\d_])[*#_%-]+(?=[^\W\d_])")
_LETTER = re.compile(r"[^\W\d]")
_KILOMETRES = re.compile(r"(?<=\d)\s*kms\b")


def data(name: str) -> str:
    """Return the text of ``etl/safety/data/<name>``."""
    return files("etl.safety").joinpath("data", name).read_text(encoding="utf-8")


def entries(name: str) -> tuple[str, ...]:
    """Return the entries of ``etl/safety/data/<name>.txt``, in the file's order, each once."""
    return entries_of(data(f"{name}.txt"))


def danger(line: str, phrases: Lists = PHRASES) -> str | None:
    """Return the first phrase of some lists in a line; None without one.

    Phrases are also found with digits or stars for letters, blanks between letters, repeated letters, or letters of
    other alphabets.
    """
    for reading in _readings(line):
        found = _pattern(phrases).search(reading)
        if found:
            found = _pattern(phrases).search(_pattern(HARMLESS).sub("", reading))
        if found:
            return found[0].strip()
    return None


def _readings(line: str) -> Iterator[str]:
    """Yield the line in plain lower-case words, each with a blank behind it, as written and in other spellings."""
    plain = _simplified(line)
    yield _words(plain)
    yield _words(_MASKS.sub("", plain))
    words = (word.translate(_TYPED) if _LETTER.search(word) else word for word in re.split(r"(\s+)", plain))
    letters = _words("".join(words))
    yield letters
    yield re.sub(r"(\w)\1{2,}", r"\1", letters)
    yield re.sub(r"(\w)\1{2,}", r"\1\1", letters)
    yield re.sub(r"\b\w(?: \w){2,}\b", lambda spelled: spelled[0].replace(" ", ""), letters)


def _simplified(text: str) -> str:
    """Return a text in lower case without accents and unseen characters, and with look-alike letters as Latin ones."""
    letters = unicodedata.normalize("NFKD", text).casefold().translate(_LOOKALIKES)
    plain = "".join(letter for letter in letters if unicodedata.category(letter) not in _UNSEEN or letter.isspace())
    return _KILOMETRES.sub(" kilometres", plain)


def _words(text: str) -> str:
    """Return the words, each with a blank behind it, without apostrophes, and with "my self" as one word."""
    words = " ".join(re.sub(r"[^\w\s]|_", " ", re.sub("['’`´ʼ]", "", text)).split())
    return re.sub(r"\b(my|her|him|your) self\b", r"\1self", words) + " "


@cache
def _pattern(phrases: Lists) -> re.Pattern[str]:
    listed = [entry for name in phrases for entry in entries(name)]
    parted = "|".join(_phrase(entry) for entry in listed if not _WITHOUT_BLANKS.search(entry))
    whole = "|".join(re.escape(_simplified(entry)) for entry in listed if _WITHOUT_BLANKS.search(entry))
    return re.compile(rf"\b(?:{parted})" + (rf"|(?=[^\x00-\u1000])(?:{whole})" if whole else ""))


def _phrase(entry: str) -> str:
    """Return an entry as a pattern over words that each end with a blank."""
    return "".join(
        GAP if word == ".." else rf"{word[:-1]}\w* " if word.endswith("*") else f"{word} "
        for word in re.sub("['’]", "", _simplified(entry)).split()
    )
