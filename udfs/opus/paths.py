"""Language, year, film, upload and release from paths in an OPUS tree."""

import re
from dataclasses import dataclass
from functools import lru_cache

_LANGUAGE = re.compile(r"[a-z]{2,3}([_-][A-Za-z]{2,4})?")
_NUMBER = re.compile(r"[0-9]{1,10}")
_ENDING = re.compile(r"(?i)\.(xml|srt|vtt)(\.gz)?$")
_PLAIN = re.compile(r"(?i)\.(srt|vtt)(\.gz)?(#[0-9]{1,9})?$")
_NAMED_LANGUAGE = re.compile(r"\.([A-Za-z]{2}(?:[_-][A-Za-z]{2})?)$")
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


@dataclass(frozen=True)
class Folder:
    """Values from the folders above a file, or None."""

    language: str | None
    year: int | None
    film: str | None


def is_subtitle_name(path: str) -> bool:
    """Return whether a path ends in ``.xml``, ``.srt`` or ``.vtt``, or one with ``.gz``, and has no hidden part.

    A part ``..`` is rejected elsewhere.
    """
    hidden = (part.startswith(".") and part not in (".", "..") for part in path.split("/"))
    return _ENDING.search(path) is not None and not any(hidden)


def is_zip_name(path: str) -> bool:
    """Return whether a path ends in ``.zip``."""
    return path.lower().endswith(".zip")


def is_plain_text(path: str) -> bool:
    """Return whether a path ends in ``.srt`` or ``.vtt``, also before ``.gz`` and a repeated member's number."""
    return _PLAIN.search(path) is not None


def subtitle_id(path: str) -> str:
    """Return the file's name without folders and endings."""
    return _ENDING.sub("", path.replace("\\", "/").rsplit("/", 1)[-1])


def upload_of(path: str, folder: "Folder") -> tuple[str, str, str | None]:
    """Return a file's subtitle_id, film and language.

    In OPUS's folders the name is the id, and the folder names the film. Plain text elsewhere often has one name in many
    folders (``season 1/01.srt``), so its id is its path, with ``~`` between the folders. Its language may end its name:
    ``film.en.srt``; uploads that differ only in their language are of one film.
    """
    name = subtitle_id(path)
    if folder.film is not None or not is_plain_text(path):
        return name, folder.film or f"file:{name}", folder.language
    name = _ENDING.sub("", path.replace("\\", "/").strip("/")).replace("/", _BETWEEN_FOLDERS)
    named = _NAMED_LANGUAGE.search(name)
    language = named[1].lower().replace("-", "_") if named else None
    if language not in _CODES:
        return name, f"file:{name}", folder.language
    return name, f"file:{name[: named.start()] if named else name}", folder.language or language


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
