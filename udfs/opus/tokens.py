"""Sentences and tokens of plain text, in the writing of OPUS: ``don 't``, ``yes , sir ...``."""

import re
from collections.abc import Iterable
from functools import lru_cache

from udfs.opus.abbreviations import (
    ABBREVIATIONS,
    ABROAD,
    BEFORE_NUMBERS,
    BEGINNINGS,
    NO_IS_A_WORD,
    ONE_LETTER,
    ORDINALS,
)
from udfs.opus.normal_form import marks

_STRAIGHT = str.maketrans(
    dict.fromkeys("\u2018\u2019\u0091\u0092`", "'")
    | dict.fromkeys("\u201c\u201d\u0093\u0094", '"')
    | dict.fromkeys("\u2012\u2013\u2014\u2015\u2212\u0096\u0097\uff0d\ufe63\u2043\u2500", "- ")
    | dict.fromkeys("\u2010\u2011", "-")
    | {"\u2026": "...", "\u0085": "...", "\u00a0": " "}
)
"""Maps typographic marks, also those of Windows-1252 decoded as Latin-1, to the ASCII that subtitles use."""
_SPACED_ELLIPSIS = re.compile(r"(?<!\.)\.(?: \.)+(?![.\w])")
_OPENING = "\"'(\\[\u201e\u00ab\u00bb\u00bf\u00a1"
_CLOSING = "\"')\\]\u00bb\u00ab"
_ENDS = ".?!\u061f\u06d4\u0964\u0965\u0589\u1362\u1367\u17d4\u104b"
_WIDE_ENDS = "\u3002\uff01\uff1f\uff61"
_WIDE_CLOSING = "\u300d\u300f\u201d\"')\uff09\u3011"
_SPEAKER = "-|>{2,}|/"
"""Marks of a change of speaker: OPUS's dash, the chevrons of live captions, and the slash of some scripts."""
_END = re.compile(
    rf"((?<![{_ENDS}])[{_ENDS}]+[{_CLOSING}]*)\s+(?=(?:(?:{_SPEAKER})\s?)?[{_OPENING}]*[^\W_])"
    rf"|((?<![{_WIDE_ENDS}])[{_WIDE_ENDS}]+[{_WIDE_CLOSING}]*)\s*(?=\S)"
    rf"|((?:(?<!-)-{{2,}}|(?<![.?!])[.?!]+)[{_CLOSING}]*)\s*(?=(?:-(?!-)|>{{2,}})\s?[{_OPENING}]*[^\W\d_])"
    r"|()(?<!\s)\s++(?=>{2,}\s?\S)"
    r"|((?<=\w\w)[.?!]{1,3}(?=[^\W\d_a-z](?:[^\W\d_]|')|[IA]\s))"
)
_ADDRESS = re.compile(r"(?i)(?:www\.|[@/])\S*$")
_ENDING_OF_ADDRESS = re.compile(r"(?i)(?:com|net|org|tv|info|co|uk|us|me|edu|gov|io)\b")
_GREEK_END = re.compile(rf"(?<=[\u0370-\u03ff\u1f00-\u1fff\d])(;[{_CLOSING}]*)(?=\s|$)")
_GREEK = re.compile("[\u0391-\u03ce]")


def straight(text: str) -> str:
    """Return a text with the quotation marks, apostrophes and dashes of ASCII; ``. . .`` becomes ``...``."""
    text = text.translate(_STRAIGHT)
    return _SPACED_ELLIPSIS.sub("...", text) if ". ." in text else text


def split_sentences(text: str, language: str | None = None) -> list[str]:
    """Return the sentences of a text.

    An end mark and a blank part two before a capital, a digit, a letter of a script without capitals, or a mark of a
    change of speaker and one of these; not after abbreviations, initials and ordinals. The end marks are those of all
    scripts. The wide marks of Chinese and Japanese need no blank, nor do others between two words of which the second
    begins with a capital. An ellipsis ends no sentence before a letter of a script without capitals. A Greek question
    ends with ``;``. An interruption (``--``) ends a sentence before another speaker's mark. A dash opens one before a
    small letter, too, but not after an ellipsis, and within a word only in a line of dashes.
    """
    sentences = []
    start = 0
    text = " ".join(straight(text).split())
    dashed = text.startswith("-")
    code = (language or "en").partition("_")[0]
    if ";" in text and _GREEK.search(text):
        text = _GREEK_END.sub(lambda match: f"\x00{match[1]}", text)
    pattern = _END if "\x00" not in text else _GREEK_ENDS
    for end in pattern.finditer(text):
        place = end.start() + len(end[0].rstrip())
        rest = text[end.end() : end.end() + 6].lstrip("->/ \"'([\u201e\u00ab\u00bb\u00bf\u00a1")[:1]
        marked = text[end.end() : end.end() + 1] in ("-", ">", "/")
        apart = text[end.end() - 1 : end.end()] == " " or text[end.end() + 1 : end.end() + 2] == " "
        tight = marked and not apart and end[0].strip(".") == ""
        chevrons = text.startswith(">>", end.end())
        opens = chevrons or (not rest.islower() and (rest.isalnum() or marked) and not tight)
        if not opens and text[end.end() : end.end() + 1] == "-" and not end[0].startswith(("..", "--")):
            opens = dashed or not tight
        if end[5] and opens:
            address = _ENDING_OF_ADDRESS.match(text, place) or _ADDRESS.search(text[max(start, place - 40) : place])
            opens = rest.isupper() and address is None
        if opens and not marked and _ELLIPSIS.fullmatch(end[0]) and rest.isalpha():
            opens = rest.lower() != rest.upper()
        if opens and not _is_abbreviated(text, start, place, code):
            sentences.append(text[start:place])
            start = end.end()
    found = [sentence for sentence in (*sentences, text[start:]) if sentence.strip()]
    return [sentence.replace("\x00", "") for sentence in found]


_GREEK_ENDS = re.compile(rf"{_END.pattern}|(\x00;[{_CLOSING}]*)\s+(?=(?:(?:{_SPEAKER})\s?)?[{_OPENING}]*[^\W_])")


def _is_abbreviated(text: str, start: int, end: int, language: str) -> bool:
    """Return whether the full stop before ``end`` is one of an abbreviation or a number and ends no sentence."""
    before = text[max(start, end - 40) : end]
    if not before.endswith(".") or before.endswith(".."):
        return False
    word = _WORD.match(text, end)
    following = word[1].lower() if word is not None else ""
    if following[:1].isdigit() and (_numbered(language).search(before) or before.endswith("str.")):
        return True
    never, sometimes, parts = _abbreviated(language)
    inside = (one.span() for one in parts.finditer(text, max(start, end - 12), end + 12))
    if never.search(before) or any(first < end < last for first, last in inside):
        return True
    if following in _beginnings(language):
        return False
    if sometimes.search(before):
        return True
    letters = _INITIALS.search(before)
    if letters is not None and len(letters[1]) == 2:
        alone = letters[1][0] in ONE_LETTER.get(language, "") and not _INITIAL.match(text, end)
        return not (alone or letters[1].islower() or letters[1] > _LAST_WITH_INITIALS)
    return letters is not None or _is_ordinal(before, text, end, language)


def _is_ordinal(before: str, text: str, end: int, language: str) -> bool:
    """Return whether a number with a full stop is an ordinal: ``Der 2. Weltkrieg``, ``am 3. Mai``."""
    if language in ORDINALS and _ROMAN.search(before):
        return True
    day = _DAY.search(before) is not None
    if language == "de":
        return _ORDINAL.search(before) is not None or (day and _MONTH.match(text, end) is not None)
    return day and language == "tr"


def ends_in_abbreviation(text: str, following: str, language: str | None) -> bool:
    """Return whether a text ends in an abbreviation that ends no sentence, or in two initials, and a name follows.

    Some titles have no full stop: ``Mme``.
    """
    if not text.endswith(".") and not _TITLE.search(text):
        return False
    code = (language or "en").partition("_")[0]
    word = _WORD.match(following)
    if word is None or word[1][:1].islower() or word[1].lower() in _beginnings(code):
        return False
    before = text[-40:]
    found = _abbreviated(code)[0].search(before) or _TITLE.search(before) or _TWO_INITIALS.search(before)
    return found is not None


def opus_tokens(sentence: str, language: str | None = None) -> str:
    """Return a sentence tokenised as in OPUS, with one blank between tokens: ``don 't``, ``yes , sir ...``.

    Combining marks, joiners and damaged characters are part of their word.
    """
    return " ".join(_token(language, sentence.isascii()).findall(sentence))


@lru_cache
def _beginnings(language: str) -> frozenset[str]:
    return frozenset(BEGINNINGS.get(language, "").split())


def _any_of(words: Iterable[str]) -> str:
    """Return an expression of abbreviations without their last full stop, the longest first; of none it is never."""
    found = sorted({*words} - {"|"}, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\.", r"\.\s?") for word in found) or r"(?!)"


def _words_of(language: str | None) -> list[str]:
    return f"{ABBREVIATIONS.get((language or 'en').partition('_')[0], '')} {ABROAD}".split()


@lru_cache
def _abbreviated(language: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return what ends in an abbreviation that ends no sentence, or in one that may, and those of several parts."""
    never, _, sometimes = f"{ABBREVIATIONS.get(language, '')} ".partition("|")
    others = {*sometimes.split()}
    kinds = ({*never.split(), *ABROAD.split()} - others, others)
    parts = _any_of(word for word in _words_of(language) if "." in word)
    ends = [re.compile(rf"(?:^|[\s\"'(\[-])(?:{_any_of(kind)})\.$", re.IGNORECASE) for kind in kinds]
    return ends[0], ends[1], re.compile(rf"(?<!\w)(?:{parts})\.", re.IGNORECASE)


_WORD = re.compile(rf"\s*[{_OPENING}]*(\w+)")
_ELLIPSIS = re.compile(rf"\.{{2,}}[{_CLOSING}]*\s*")
_TITLE = re.compile(r"(?:^|\s)(?:Dr\.?|Mrs?|Ms|Mmes?|Mlles?)$")
_TWO_INITIALS = re.compile(r"(?:^|\s)[^\W\d_a-z]\.\s[^\W\d_a-z]\.$")
_INITIAL = re.compile(r"\s?[^\W\d_]\.")
_INITIALS = re.compile(r"(?:^|\s)((?:[^\W\d_]\.)+)$")
_LAST_WITH_INITIALS = "\u0e00"
"""Scripts behind it write whole words as one sign."""
_DAY = re.compile(r"(?:^|\s)[0-9]{1,2}\.$")
_MONTH = re.compile(
    r"\s(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
_ORDINAL = re.compile(
    r"(?i)(?:^|\s)(?:d(?:er|ie|as|en|em|es)|am|im|zum|zur|vom|beim|[mdsk]?ein\w{0,2}|(?:ihr|unser|jed|dies)\w{0,2})"
    r"\s[0-9]{1,2}\.$"
)
_ROMAN = re.compile(r"\s[IVX]{2,}\.$")


@lru_cache
def _numbered(language: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|[\s\"'(])(?:{_any_of(_before_numbers(language))})\.$", re.IGNORECASE)


def _before_numbers(language: str) -> list[str]:
    return [*BEFORE_NUMBERS.split(), *([] if language in NO_IS_A_WORD else ["No", "Nos"])]


@lru_cache
def _token(language: str | None, is_ascii: bool) -> re.Pattern[str]:
    # Within ASCII there is no mark to look for, which takes most of the time.
    word = r"[^\W_]" if is_ascii else rf"(?:[^\W_]|[{marks()}\u200c\u200d\ufffd])"
    words = _words_of(language)
    known = _any_of(words)
    numbered = _any_of(_before_numbers((language or "en").partition("_")[0]))
    # Most words have no full stop soon, and need not be compared with each abbreviation.
    soon = rf"(?<!\w)(?=\S{{1,{max(map(len, words))}}}\.)"
    return re.compile(
        rf"{soon}(?:(?:{known})\.(?![^\W_])|(?:{numbered})\.(?=\s?\d))"
        rf"|(?:[^\W\d_]\.){{2,}}(?:[^\W\d_](?![\w.]))?|(?<![\w.])[A-Z]\.[A-Z](?![\w.])|\.{{2,}}|\d+(?:[.,]\d+)*(?:st|nd|rd|th|s)?(?!{word})"
        rf"|(?<=\w)'\w+|'(?:cause|em|til|bout)\b|{word}+(?:-{word}+)*-?|[^\w\s]|_",
        re.IGNORECASE,
    )
