"""Sentences and tokens of plain text, in the writing of OPUS: ``don 't``, ``yes , sir ...``."""

import re
from functools import lru_cache

from udfs.opus.normal_form import marks

_STRAIGHT = str.maketrans(
    dict.fromkeys("\u2018\u2019\u0091\u0092`", "'")
    | dict.fromkeys("\u201c\u201d\u0093\u0094", '"')
    | dict.fromkeys("\u2012\u2013\u2014\u2015\u2212\u0096\u0097\uff0d\ufe63\u2043\u2500", "- ")
    | dict.fromkeys("\u2010\u2011", "-")
    | {"\u2026": "...", "\u0085": "...", "\u00a0": " "}
)
"""Maps typographic marks, also those of Windows-1252 decoded as Latin-1, to the ASCII that subtitles use."""
_ENGLISH = (
    "Mr Mrs Ms Mx Dr St Jr Sr Prof Capt Col Gen Lt Sgt Rev Mt Hon Gov Sen Rep Pres Maj Cpl Pvt Cmdr Adm Fr Insp Det "
    "Supt Messrs Mme Mlle vs Ave Blvd"
)
_ABROAD = "Mr Mrs Ms Dr Jr Sr Prof Mme Mlle"
ABBREVIATIONS = {
    "en": _ENGLISH,
    "de": "Hr Hrn Fr Dr Prof St Str Nr Hptm Mr Mrs ca bzw usw evtl ggf Ing Frl Kap Abs Bd Jh Mio Mrd Tel",
    "fr": "M MM Mr Mrs Mme Mmes Mlle Dr Pr St Ste Me Mgr Cdt Cne Col Gén Lt env av boul",
    "es": "Sr Sra Srta Sres Dr Dra Ud Uds Vd Vds D Dña Prof Lic Ing Cap Gral Cnel Sto Sta pág núm Mr Mrs",
    "pt": "Sr Sra Srta Dr Dra Prof Profa Eng Cap Cel Gen Ten Sgt Exmo Mr Mrs D pág núm",
    "it": "Sig Sigg Dott Dr Prof Avv Ing Arch Cap Col Gen Mons Mr Mrs pag ca",
    "nl": "Dhr Mevr Mw Mr Dr Prof Ir Drs St Jr Sr bijv bv ca nl enz",
    "ru": "г гг им ул стр проф акад доц тов св руб коп тыс млн т",
    "uk": "п пп м ім вул проф акад св грн",
    "pl": "P Dr Prof Inż Mgr Gen Płk Kpt Por Św ul np itd itp tzn ok",
    "cs": "P Pan Dr Prof Ing Mgr Gen Plk Kpt Sv ul např atd tzv",
    "tr": "Dr Prof Doç Av Alb Bnb Yzb Hz Sn vb vs",
    "el": "κ κα κος Δρ Καθ Αγ οδ αρ π",
    "ar": "د أ م",
    "hi": "डॉ श्री प्रो पं",
}
"""Abbreviations by language, in any case, written with a full stop that ends no sentence.

The commonest titles of English hold in all languages, because films name English people. Others are words elsewhere:
``Sen.`` is a Turkish sentence.
"""
_BEFORE_NUMBERS = (
    "No Nos Nr Núm Num Art Fig Vol Ch Pt Op p pp art n° с № vgl S Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec"
)
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
    """Return a text with the quotation marks, apostrophes and dashes of ASCII."""
    return text.translate(_STRAIGHT)


def split_sentences(text: str, language: str | None = None) -> list[str]:
    """Return the sentences of a text.

    An end mark and a blank part two before a capital, a digit, a letter of a script without capitals, or a mark of a
    change of speaker and one of these; not after titles and initials. The end marks are those of all scripts. The wide
    marks of Chinese and Japanese need no blank, nor do others between two words of which the second begins with a
    capital. A Greek question ends with ``;``. An interruption (``--``) ends a sentence before another speaker's mark. A
    dash opens one before a small letter, too, but not after an ellipsis, and within a word only in a line of dashes.
    """
    sentences = []
    start = 0
    text = " ".join(straight(text).split())
    dashed = text.startswith("-")
    abbreviated = _abbreviated(language)
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
        if opens and not _is_abbreviated(text, start, place, rest, abbreviated):
            sentences.append(text[start:place])
            start = end.end()
    found = [sentence for sentence in (*sentences, text[start:]) if sentence.strip()]
    return [sentence.replace("\x00", "") for sentence in found]


_GREEK_ENDS = re.compile(rf"{_END.pattern}|(\x00;[{_CLOSING}]*)\s+(?=(?:(?:{_SPEAKER})\s?)?[{_OPENING}]*[^\W_])")


def _is_abbreviated(text: str, start: int, end: int, following: str, abbreviated: re.Pattern[str]) -> bool:
    before = text[max(start, end - 40) : end]
    if not before.endswith("."):
        return False
    if following.isdigit() and (_NUMBERED.search(before) is not None or before.endswith("str.")):
        return True
    return abbreviated.search(before) is not None or (_DAY.search(before) and _MONTH.match(text, end)) is not None


def opus_tokens(sentence: str, language: str | None = None) -> str:
    """Return a sentence tokenised as in OPUS, with one blank between tokens: ``don 't``, ``yes , sir ...``.

    Combining marks, joiners and damaged characters are part of their word.
    """
    return " ".join(_token(language, sentence.isascii()).findall(sentence))


@lru_cache
def _words_of(language: str | None) -> str:
    known = dict.fromkeys(f"{ABBREVIATIONS.get((language or 'en').partition('_')[0], '')} {_ABROAD}".split())
    return "|".join(sorted(known, key=lambda word: (-len(word), word)))


@lru_cache
def _abbreviated(language: str | None) -> re.Pattern[str]:
    return re.compile(rf"(?:^|[\s\"'(\[-])(?:{_words_of(language)})\.$|(?:^|\s)(?:[^\W\d_]\.)+$", re.IGNORECASE)


_DAY = re.compile(r"(?:^|\s)[0-9]{1,2}\.$")
_MONTH = re.compile(
    r"\s(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
"""German writes the days of a month as ordinals: ``am 3. Mai``."""
_NUMBERED = re.compile(rf"(?:^|[\s\"'(])(?:{'|'.join(_BEFORE_NUMBERS.split())})\.$", re.IGNORECASE)


@lru_cache
def _token(language: str | None, is_ascii: bool) -> re.Pattern[str]:
    # Within ASCII there is no mark to look for, which takes most of the time.
    word = r"[^\W_]" if is_ascii else rf"(?:[^\W_]|[{marks()}\u200c\u200d\ufffd])"
    known = _words_of(language)
    numbered = "|".join(_BEFORE_NUMBERS.split())
    # Most words have no full stop soon, and need not be compared with each abbreviation.
    soon = rf"(?<!\w)(?=\S{{1,{max(map(len, f'{known}|{numbered}'.split('|')))}}}\.)"
    return re.compile(
        rf"{soon}(?:(?:{known})\.(?![^\W_])|(?:{numbered})\.(?=\s?\d))"
        rf"|(?:[^\W\d_]\.){{2,}}(?:[^\W\d_](?![\w.]))?|(?<![\w.])[A-Z]\.[A-Z](?![\w.])|\.{{2,}}|\d+(?:[.,]\d+)*(?:st|nd|rd|th|s)?(?!{word})"
        rf"|(?<=\w)'\w+|'(?:cause|em|til|bout)\b|{word}+(?:-{word}+)*-?|[^\w\s]|_",
        re.IGNORECASE,
    )
