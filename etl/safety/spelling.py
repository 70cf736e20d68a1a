"""Readings of words that are disguised or abbreviated: other alphabets, digits and stars, blanks, chat words."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from etl.safety.stored import entries

# Letters of other alphabets that look like Latin ones, and characters typed instead of letters.
_LOOKALIKES = str.maketrans("асԁеһіјкморѕтухαεικορτυνω", "acdehijkmopstyxaeikoptuvw")
_TYPED = str.maketrans("013457@$!|", "oieastasil")
_UNSEEN = ("Mn", "Cf", "Cc")
_MASK = re.compile(r"[^\W_]+(?:[*#_.%-]+[^\W_]+)+")
_KILOMETRES = re.compile(r"(?<=\d)\s*kms\b")
# A word with a letter on both sides of what is typed instead of one, at most two digits in a row: su1c1de, k!ll, m4t4r.
_DISGUISED = re.compile(r"\b(?=\w*[^\W\d_])(?!\w*\d{3})[^\W\d_]+(?:[013457@$!|]{1,2}[^\W\d_]+)+[013457]?(?!\w)")
_MASKED = (
    "suicide",
    "suicidal",
    "kill",
    "killing",
    "killed",
    "myself",
    "death",
    "rape",
    "raped",
    "murder",
    "overdose",
)
"""Words that people mask."""
_WORD = re.compile(r"[\w/'’]+")


def simplified(text: str) -> str:
    """Return a text in lower case without accents and unseen characters, and with look-alike letters as Latin ones."""
    letters = unicodedata.normalize("NFKD", text).casefold().translate(_LOOKALIKES)
    plain = "".join(letter for letter in letters if unicodedata.category(letter) not in _UNSEEN or letter.isspace())
    return _KILOMETRES.sub(" kilometres", plain)


def typed_letters(text: str) -> str:
    """Return a text with letters for the digits and signs that stand in words."""
    return re.sub(r"\S*[^\W\d]\S*", lambda word: word[0].translate(_TYPED), text)


def spelled_out(text: str) -> str:
    """Return a text with single letters between blanks joined to a word: s u i c i d e."""
    return re.sub(r"\b\w(?: \w){2,}\b", lambda spelled: spelled[0].replace(" ", ""), text)


def unmasked(text: str, known: Iterable[str]) -> str:
    """Return a text with known words for partly masked ones, such as su*cide or k-ll."""
    return _MASK.sub(lambda word: _unmasked(word[0], known), text)


def _unmasked(word: str, known: Iterable[str]) -> str:
    if sum(letter.isalnum() for letter in word) * 2 < len(word) or len(word) < 4:
        return word
    mask = re.compile("".join(letter if letter.isalnum() else r"\w?" for letter in word))
    return next((one for one in known if mask.fullmatch(one)), word)


def written_out(text: str) -> str:
    """Return a text as the classifiers read it: disguised words undone, and chat words written out (``spellings.txt``).

    Capitals, accents and points stay where nothing is undone.
    """
    plain = _KILOMETRES.sub(" kilometres", unicodedata.normalize("NFKC", text))
    plain = "".join(letter for letter in plain if unicodedata.category(letter) not in ("Cf", "Cc") or letter.isspace())
    plain = re.sub(r"\w+", lambda word: _latin(word[0]), plain)
    plain = unmasked(spelled_out(_DISGUISED.sub(lambda word: word[0].translate(_TYPED), plain)), _MASKED)
    return _WORD.sub(lambda word: _chat_words().get(word[0].lower().replace("’", "'"), word[0]), plain)


def _latin(word: str) -> str:
    """Return a word of Latin letters and look-alikes in Latin letters alone; other words as they are."""
    plain = word.casefold().translate(_LOOKALIKES)
    return plain if plain.isascii() and not word.isascii() else word


@cache
def _chat_words() -> dict[str, str]:
    return {word: meaning for word, _, meaning in (entry.partition(" = ") for entry in entries("spellings"))}
