"""Language, year, film, upload and release from paths in an OPUS tree."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_LANGUAGE = re.compile(r"[a-z]{2,3}([_-][A-Za-z]{2,4})?")
_NUMBER = re.compile(r"[0-9]{1,10}")
_FORMS = "srt|vtt|ass|ssa|sub|sbv|ttml|dfxp|smi|sami|mpl|json3"
_ENDING = re.compile(rf"(?i)\.(xml|{_FORMS})(\.gz)?$")
_PLAIN = re.compile(rf"(?i)\.({_FORMS})(\.gz)?(#[0-9]{{1,9}})?$")
_BETWEEN_FOLDERS = "~"
_NAMED_RELEASE = re.compile(r"(?i)open[-_ ]?subtitles[-_./ ]?v?(20[0-9]{2}[a-z]?)(?![0-9])")
_VERSION = re.compile(r"(?i)(?:^|[/_.!-])v(20[0-9]{2}[a-z]?|[1-9])(?=[/_.!-]|$)")

# Language names of OpenSubtitles in <meta>, and the codes of OPUS in paths.
LANGUAGE_CODES = {
    "afrikaans": "af",
    "albanian": "sq",
    "arabic": "ar",
    "armenian": "hy",
    "basque": "eu",
    "bengali": "bn",
    "bosnian": "bs",
    "portuguese (br)": "pt_br",
    "brazilian": "pt_br",
    "brazilian portuguese": "pt_br",
    "breton": "br",
    "bulgarian": "bg",
    "catalan": "ca",
    "chinese": "zh_cn",
    "chinese (simplified)": "zh_cn",
    "chinese (traditional)": "zh_tw",
    "croatian": "hr",
    "czech": "cs",
    "danish": "da",
    "dutch": "nl",
    "english": "en",
    "esperanto": "eo",
    "estonian": "et",
    "finnish": "fi",
    "french": "fr",
    "galician": "gl",
    "georgian": "ka",
    "german": "de",
    "greek": "el",
    "hebrew": "he",
    "hindi": "hi",
    "hungarian": "hu",
    "icelandic": "is",
    "indonesian": "id",
    "italian": "it",
    "japanese": "ja",
    "kazakh": "kk",
    "korean": "ko",
    "latvian": "lv",
    "lithuanian": "lt",
    "macedonian": "mk",
    "malay": "ms",
    "malayalam": "ml",
    "norwegian": "no",
    "persian": "fa",
    "farsi": "fa",
    "polish": "pl",
    "portuguese": "pt",
    "romanian": "ro",
    "russian": "ru",
    "serbian": "sr",
    "sinhala": "si",
    "sinhalese": "si",
    "slovak": "sk",
    "slovenian": "sl",
    "spanish": "es",
    "swedish": "sv",
    "tagalog": "tl",
    "tamil": "ta",
    "telugu": "te",
    "thai": "th",
    "turkish": "tr",
    "ukrainian": "uk",
    "urdu": "ur",
    "vietnamese": "vi",
}


_CODES = frozenset(LANGUAGE_CODES.values())
_THREE_LETTERS = dict(
    pair.split(":")
    for pair in [
        "afr:af",
        "alb:sq",
        "sqi:sq",
        "ara:ar",
        "arm:hy",
        "hye:hy",
        "baq:eu",
        "eus:eu",
        "ben:bn",
        "bos:bs",
        "bre:br",
        "bul:bg",
        "cat:ca",
        "chi:zh",
        "zho:zh",
        "cmn:zh",
        "chs:zh_cn",
        "cht:zh_tw",
        "hrv:hr",
        "scr:hr",
        "cze:cs",
        "ces:cs",
        "dan:da",
        "dut:nl",
        "nld:nl",
        "eng:en",
        "epo:eo",
        "est:et",
        "fin:fi",
        "fre:fr",
        "fra:fr",
        "glg:gl",
        "geo:ka",
        "kat:ka",
        "ger:de",
        "deu:de",
        "gre:el",
        "ell:el",
        "heb:he",
        "hin:hi",
        "hun:hu",
        "ice:is",
        "isl:is",
        "ind:id",
        "ita:it",
        "jpn:ja",
        "kaz:kk",
        "kor:ko",
        "lav:lv",
        "lit:lt",
        "mac:mk",
        "mkd:mk",
        "may:ms",
        "msa:ms",
        "mal:ml",
        "nor:no",
        "nob:no",
        "per:fa",
        "fas:fa",
        "pol:pl",
        "por:pt",
        "pob:pt_br",
        "rum:ro",
        "ron:ro",
        "rus:ru",
        "srp:sr",
        "scc:sr",
        "sin:si",
        "slo:sk",
        "slk:sk",
        "slv:sl",
        "spa:es",
        "swe:sv",
        "tgl:tl",
        "tam:ta",
        "tel:te",
        "tha:th",
        "tur:tr",
        "ukr:uk",
        "urd:ur",
        "vie:vi",
    ]
)
_REGIONS = {"pt_br": "pt_br"}
_REGIONS |= dict.fromkeys(("zh_cn", "zh_sg", "zh_hans"), "zh_cn")
_REGIONS |= dict.fromkeys(("zh_tw", "zh_hk", "zh_hant", "zh_mo"), "zh_tw")
_OTHER_CODES = {
    "nb": "no",
    "nn": "no",
    "iw": "he",
    "in": "id",
    "zh": "zh",
    "pb": "pt_br",
    "cn": "zh_cn",
    "gr": "el",
    "jp": "ja",
    "cz": "cs",
    "kr": "ko",
    "ua": "uk",
    "fil": "tl",
}
_OWN_NAMES = {
    "espa\u00f1ol": "es",
    "castellano": "es",
    "fran\u00e7ais": "fr",
    "deutsch": "de",
    "italiano": "it",
    "portugu\u00eas": "pt",
    "portugues": "pt",
    "nederlands": "nl",
    "polski": "pl",
    "svenska": "sv",
    "dansk": "da",
    "norsk": "no",
    "suomi": "fi",
    "magyar": "hu",
    "\u010de\u0161tina": "cs",
    "t\u00fcrk\u00e7e": "tr",
    "\u0440\u0443\u0441\u0441\u043a\u0438\u0439": "ru",
    "\u03b5\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac": "el",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629": "ar",
    "\u65e5\u672c\u8a9e": "ja",
    "\ud55c\uad6d\uc5b4": "ko",
    "\u4e2d\u6587": "zh",
    "chinese": "zh",
    "\u0939\u093f\u0928\u094d\u0926\u0940": "hi",
    "brazilian": "pt_br",
    "simplified chinese": "zh_cn",
    "traditional chinese": "zh_tw",
    "latin american spanish": "es",
    "castilian": "es",
    "mandarin": "zh",
    "flemish": "nl",
}
_NAMES = {name: code for name, code in LANGUAGE_CODES.items() if len(name) > 3} | _OWN_NAMES
_ENGLISH_WORD = re.compile(
    "it|is|no|he|hi|am|as|my|so|to|or|be|in|id|me|us|"
    "ben|bos|cat|dan|est|fin|ice|ind|kat|lit|mac|mal|may|nor|per|pol|rum|sin|tam|tel"
)
"""Codes that are words or names in English, too, and words that stand before them; see ``named_language``."""
_USUAL_REGION = re.compile(
    "de_(?:at|ch)|en_(?:au|ca|gb|ie|nz|uk|us)|es_(?:ar|cl|co|la|mx|us)|fr_(?:be|ca|ch)|nl_be|pt_(?:br|pt)|"
    "zh_(?:cn|hk|mo|sg|tw)|[a-z]{2,3}_(?:hans|hant|latn|cyrl|arab)"
)
_REMARKS = frozenset(
    [
        "sdh",
        "cc",
        "hi",
        "forced",
        "foreign",
        "full",
        "default",
        "dubtitle",
        "commentary",
        "signs",
        "songs",
        "auto",
        "autogenerated",
        "orig",
        "original",
        "hearing",
        "impaired",
        "hoh",
        "captions",
        "subtitles",
        "subtitle",
        "subs",
        "sub",
        "dialogue",
        "synced",
        "fixed",
        "utf8",
        "utf-8",
    ]
)
_LAST_PART = re.compile(
    r"(?:^|(?<![._\-~,\s\[(])(?P<between>[._\-~,\s\[(]+))(?P<part>[A-Za-z]{2,3}[_-][A-Za-z0-9]{2,4}|[^._\-~,\s\[\]()]+)[\])\s]*$"
)
_TWO_WORDS = re.compile(
    r"(?i)(?<![._\-~,\s\[(])[._\-~,\s\[(]+((?:brazilian|latin[\s._]american|simplified|traditional)[\s._]\w+)[\])\s]*$"
)
_ONLY_NUMBER = re.compile(r"(?:^|~)(?:[0-9]{1,3}|subs?|subtitles?)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Folder:
    """Values from the folders above a file, or None."""

    language: str | None
    year: int | None
    film: str | None


def is_subtitle_name(path: str) -> bool:
    """Return whether a path ends in ``.xml`` or a form of subtitles, or in one with ``.gz``, and has no hidden part.

    A part ``..`` is rejected elsewhere.
    """
    return _ENDING.search(path) is not None and not is_hidden(path)


def with_families(languages: Sequence[str]) -> list[str]:
    """Return the codes of files that languages ask for: these, and codes of Chinese that may stand for one of them.

    ``zh`` asks for every region; for ``zh_cn`` and ``zh_tw``, files named ``zh`` are read and their texts decide.
    """
    chinese = ("zh", "zh_cn", "zh_tw")
    added = chinese if "zh" in languages else ("zh",) if {*chinese}.intersection(languages) else ()
    return list(dict.fromkeys([*languages, *added]))


def is_hidden(path: str) -> bool:
    """Return whether a part of a path begins with a full stop, apart from ``.`` and ``..``."""
    return any(part.startswith(".") and part not in (".", "..") for part in path.split("/"))


def is_zip_name(path: str) -> bool:
    """Return whether a path ends in ``.zip``."""
    return path.lower().endswith(".zip")


def is_plain_text(path: str) -> bool:
    """Return whether a path ends in a form of subtitles other than OPUS's XML, also before ``.gz`` or a number."""
    return _PLAIN.search(path) is not None


def subtitle_id(path: str) -> str:
    """Return the file's name without folders and endings."""
    return _ENDING.sub("", path.replace("\\", "/").rsplit("/", 1)[-1])


def upload_of(path: str, folder: "Folder") -> tuple[str, str, str | None]:
    """Return a file's subtitle_id, film and language.

    In OPUS's folders the name is the id, and the folder names the film. Plain text elsewhere often has one name in many
    folders (``season 1/01.srt``), so its id is its path, with ``~`` between the folders. Its language may end its name
    (``film.en.srt``, ``film.eng.sdh.srt``, ``film_Spanish.srt``, ``film [English].srt``); uploads that differ only in
    their language, and in remarks such as ``sdh`` or ``forced``, are of one film.
    """
    name = subtitle_id(path)
    if folder.film is not None or not is_plain_text(path):
        return name, folder.film or f"file:{name}", folder.language
    name = _ENDING.sub("", _PLAIN.sub("", path.replace("\\", "/").strip("/"))).replace("/", _BETWEEN_FOLDERS)
    film, language = named_language(name)
    if language is None:
        return name, f"file:{name}", folder.language
    if _ONLY_NUMBER.search(film):
        # A player's folder: Film/Subs/2_English.srt.
        film = film.rpartition(_BETWEEN_FOLDERS)[0] or film
    return name, f"file:{film or name}", folder.language or language


def named_language(name: str) -> tuple[str, str | None]:
    """Return a file's name without the language and the remarks that end it, and the language; None if it has none.

    A code is one where nothing else is meant:

    - one that is also an English word stands in small letters behind a full stop, a bracket or a folder, and not behind
      another such word (``Film.no``, but ``say_no``, ``This.Is.It``, ``this.is.it``, ``The.Cat``)
    - other codes of two letters may have capitals (``Film_DE``), but only one behind a full stop or a bracket
      (``Film.De``, but ``Fin_De``)
    - a region of two capitals or three digits stands behind small letters, or it is a script or one of the usual ones
      (``pt-BR``, ``es_419``, ``zh_hant``, ``pt_br``, ``de_de``, but ``in_line``, ``no_ads``, ``is_it``)
    - ``hi`` behind a language says that the subtitles are for the hearing impaired; alone it is Hindi.
    """
    two = _TWO_WORDS.search(name[-60:])
    if two is not None:
        words = re.sub(r"[\s._]+", " ", two[1].lower())
        code = {"brazilian portuguese": "pt_br", "latin american": "es"}.get(words) or _NAMES.get(words)
        if code is not None or words.startswith("latin american"):
            return name[: len(name) - len(two[0])], code or "es"
    rest = name
    hindi = ""
    for _ in range(5):
        match = _LAST_PART.search(rest[-60:])
        if match is None:
            break
        before = rest[: len(rest) - len(match[0])]
        part = match["part"]
        code = _code_of(part, before, match["between"] or "")
        if code == "hi" and part.lower() == "hi":
            hindi = hindi or before
        elif code is not None:
            return _without_remarks(before), code
        elif part.lower() not in _REMARKS:
            break
        rest = before
    return (hindi, "hi") if hindi and name.lower().endswith("hi") else (name, None)


def _without_remarks(name: str) -> str:
    """Return a name without the remarks that end it: ``Film.forced`` becomes ``Film``."""
    while (match := _LAST_PART.search(name[-60:])) and match["between"] and match["part"].lower() in _REMARKS:
        name = name[: len(name) - len(match[0])]
    return name


def _code_of(part: str, before: str, between: str) -> str | None:
    """Return the language that a part of a name stands for, given what stands before it."""
    lowered = part.lower().replace("-", "_")
    if lowered in _NAMES:
        return _NAMES[lowered]
    base, _, region = lowered.partition("_")
    apart = not between or between[-1] in ".~[("
    if region:
        usual = _USUAL_REGION.fullmatch(lowered) or (base == region and not _ENGLISH_WORD.fullmatch(base))
        if not usual and not re.fullmatch("[a-z]+[_-](?:[A-Z]{2}|[0-9]{3})", part):
            return None
        return spoken_language(lowered) if base in _CODES or base in _OTHER_CODES else None
    if _ENGLISH_WORD.fullmatch(lowered):
        word = _LAST_PART.search(before[-60:])
        if part != lowered or not apart or (word is not None and _ENGLISH_WORD.fullmatch(word["part"].lower())):
            return None
    elif len(lowered) == 2 and part not in (lowered, lowered.upper(), lowered.title() if apart else lowered):
        return None
    return spoken_language(lowered)


def spoken_language(code: str | None) -> str | None:
    """Return OPUS's code of a language's code in any usual form: ``eng``, ``es-419``, ``zh-Hant``; None for others."""
    if not code:
        return None
    lowered = code.lower().replace("-", "_")
    if lowered in _REGIONS:
        return _REGIONS[lowered]
    base = lowered.partition("_")[0]
    if base in _OTHER_CODES:
        return _OTHER_CODES[base]
    return base if base in _CODES else _THREE_LETTERS.get(base)


def language_code(name: str | None) -> str | None:
    """Return the OPUS code of a language's name or code in ``<meta>``."""
    if not name:
        return None
    lowered = name.strip().lower()
    return LANGUAGE_CODES.get(lowered) or (lowered if _LANGUAGE.fullmatch(lowered) else None)


@lru_cache(maxsize=4096)
def read_folder(above: str, inside: str) -> Folder:
    """Return language, year and film from a path ``[.../]xml/<language>/<year>/<film>/``, or ``raw`` in place of xml.

    A source may be any folder of the layout, so its folders count too, after those inside the source. The film loses
    its leading zeros, which some releases have. Without an ``xml`` or ``raw`` folder, the last three folders count if
    they have the form (language, year, number).

    Args:
        above: the source's path.
        inside: the folders between the source and the file.
    """
    parts = [part for part in f"{above}/{inside}".replace("\\", "/").split("/") if part not in ("", ".", "..")]
    for at in range(len(parts) - 1, -1, -1):
        if at + 1 < len(parts) and _names_language(parts[at].lower(), parts[at + 1]):
            return Folder(parts[at + 1], *_year_and_film(parts[at + 2 :]))
    year, film = _year_and_film(parts[-2:])
    if film is not None and len(parts) >= 3 and _LANGUAGE.fullmatch(parts[-3]):
        return Folder(parts[-3], year, film)
    return Folder(None, year if film is not None else None, film)


def _names_language(parent: str, folder: str) -> bool:
    """Return whether a folder names a language; many folders are called ``raw``, so there it must be a known one."""
    return folder in _CODES if parent == "raw" else parent == "xml" and _LANGUAGE.fullmatch(folder) is not None


def _year_and_film(parts: list[str]) -> tuple[int | None, str | None]:
    """Return the first two folders if they are numbers; years may be wrong, such as 0 and 666."""
    if not parts or not _NUMBER.fullmatch(parts[0]) or len(parts[0]) > 4:
        return None, None
    film = parts[1].lstrip("0") or "0" if len(parts) > 1 and _NUMBER.fullmatch(parts[1]) else None
    return int(parts[0]), film


@lru_cache(maxsize=4096)
def read_release(source: str, inside: str, default: str) -> str:
    """Return the OPUS release in paths such as ``OpenSubtitles2018``, ``OpenSubtitles/v2018`` or ``opensubtitles2018``.

    The path inside the source takes precedence over the source's path, and later folders over earlier ones.
    """
    for text in (inside, source):
        matches = (*_NAMED_RELEASE.finditer(text), *_VERSION.finditer(text))
        if found := [(match.start(), match.group(1)) for match in matches]:
            return f"v{max(found)[1].lower()}"
    return default
