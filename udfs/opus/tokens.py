"""Sentences and tokens of plain text, in the writing of OPUS: ``don 't``, ``yes , sir ...``."""

import re
from functools import lru_cache

_STRAIGHT = str.maketrans(
    dict.fromkeys("\u2018\u2019\u0091\u0092`", "'")
    | dict.fromkeys("\u201c\u201d\u0093\u0094", '"')
    | dict.fromkeys("\u2013\u2014\u0096\u0097", "- ")
    | dict.fromkeys("\u2026\u0085", "...")
    | {"\u00a0": " "}
)
"""Maps typographic marks, also those of Windows-1252 decoded as Latin-1, to the ASCII that subtitles use."""
ABBREVIATIONS = {
    "en": ("Mr", "Mrs", "Ms", "Dr", "St", "Jr", "Sr", "Prof", "Capt", "Col", "Gen", "Lt", "Sgt"),
    "de": ("Hr", "Fr", "Dr", "Prof", "St", "Str", "Nr", "Hptm", "Mr", "Mrs", "ca", "bzw", "usw", "evtl", "ggf"),
}
"""Abbreviations by language, written with a full stop that ends no sentence; other languages use those of English."""
_OPENING = "\"'(\\[\u201e\u00ab\u00bb\u00bf\u00a1"
_CLOSING = "\"')\\]\u00bb\u00ab"
_END = re.compile(rf"((?<![.?!])[.?!]+[{_CLOSING}]*)\s+(?=[{_OPENING}]?[^\W_])")


def straight(text: str) -> str:
    """Return a text with the quotation marks, apostrophes and dashes of ASCII."""
    return text.translate(_STRAIGHT)


def split_sentences(text: str, language: str | None = None) -> list[str]:
    """Return the sentences of a text: an end mark, a blank and a capital or digit part two, except after titles."""
    sentences = []
    start = 0
    text = " ".join(straight(text).split())
    abbreviated = _abbreviated(language)
    for end in _END.finditer(text):
        opens = text[end.end() : end.end() + 2].lstrip(_OPENING.replace("\\", ""))[:1]
        ends = opens.isupper() or opens.isdigit()
        if ends and not abbreviated.search(text[max(start, end.end(1) - 40) : end.end(1)]):
            sentences.append(text[start : end.end(1)])
            start = end.end()
    return [sentence for sentence in (*sentences, text[start:]) if sentence.strip()]


def opus_tokens(sentence: str, language: str | None = None) -> str:
    """Return a sentence tokenised as in OPUS, with one blank between tokens: ``don 't``, ``yes , sir ...``."""
    return " ".join(_token(language).findall(sentence))


def _titles(language: str | None) -> str:
    return rf"(?:{'|'.join(ABBREVIATIONS.get(language or 'en', ABBREVIATIONS['en']))})\."


@lru_cache
def _abbreviated(language: str | None) -> re.Pattern[str]:
    return re.compile(rf"(?:^|[\s\"'(]){_titles(language)}$|(?:^|\s)(?:[^\W\d_]\.)+$")


@lru_cache
def _token(language: str | None) -> re.Pattern[str]:
    return re.compile(
        rf"{_titles(language)}|(?:[^\W\d_]\.){{2,}}|\.{{2,}}|\d+(?:[.,]\d+)*(?:st|nd|rd|th|s)?"
        r"|(?<=\w)'\w+|'(?:cause|em|til|bout)\b|[^\W_]+(?:-[^\W_]+)*-?|[^\w\s]|_",
        re.IGNORECASE,
    )
