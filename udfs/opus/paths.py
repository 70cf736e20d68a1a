"""What a path in an OPUS tree says: language, year, film, upload and release."""

import re
from dataclasses import dataclass
from functools import lru_cache

_LANGUAGE = re.compile(r"[a-z]{2,3}([_-][A-Za-z]{2,4})?")
_NUMBER = re.compile(r"[0-9]{1,10}")
_ENDING = re.compile(r"(?i)\.xml(\.gz)?$")
_NAMED_RELEASE = re.compile(r"(?i)open[-_ ]?subtitles[-_./ ]?v?(20[0-9]{2}[a-z]?)(?![0-9])")
_VERSION = re.compile(r"(?i)(?:^|[/_.!-])v(20[0-9]{2}[a-z]?|[1-9])(?=[/_.!-]|$)")

# How OpenSubtitles names languages in <meta>, and the code OPUS gives them in its paths.
LANGUAGE_CODES = {
    "afrikaans": "af", "albanian": "sq", "arabic": "ar", "armenian": "hy", "basque": "eu", "bengali": "bn",
    "bosnian": "bs", "portuguese (br)": "pt_br", "brazilian": "pt_br", "brazilian portuguese": "pt_br",
    "breton": "br", "bulgarian": "bg", "catalan": "ca", "chinese": "zh_cn", "chinese (simplified)": "zh_cn",
    "chinese (traditional)": "zh_tw", "croatian": "hr", "czech": "cs", "danish": "da", "dutch": "nl",
    "english": "en", "esperanto": "eo", "estonian": "et", "finnish": "fi", "french": "fr", "galician": "gl",
    "georgian": "ka", "german": "de", "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu",
    "icelandic": "is", "indonesian": "id", "italian": "it", "japanese": "ja", "kazakh": "kk", "korean": "ko",
    "latvian": "lv", "lithuanian": "lt", "macedonian": "mk", "malay": "ms", "malayalam": "ml",
    "norwegian": "no", "persian": "fa", "farsi": "fa", "polish": "pl", "portuguese": "pt", "romanian": "ro",
    "russian": "ru", "serbian": "sr", "sinhala": "si", "sinhalese": "si", "slovak": "sk", "slovenian": "sl",
    "spanish": "es", "swedish": "sv", "tagalog": "tl", "tamil": "ta", "telugu": "te", "thai": "th",
    "turkish": "tr", "ukrainian": "uk", "urdu": "ur", "vietnamese": "vi",
}  # fmt: skip


@dataclass(frozen=True)
class Folder:
    """What the folders above a file say; None where they say nothing."""

    language: str | None
    year: int | None
    film: str | None


def is_subtitle_name(path: str) -> bool:
    """Whether a path is that of a subtitle file: ``.xml`` or ``.xml.gz``, nothing hidden on the way."""
    return _ENDING.search(path) is not None and not any(part.startswith(".") for part in _visible(path))


def _visible(path: str) -> list[str]:
    """Parts of a path; ``.`` and ``..`` are no hidden files (the latter is refused elsewhere)."""
    return [part for part in path.split("/") if part not in (".", "..")]


def subtitle_id(path: str) -> str:
    """The file's name without folders and endings."""
    return _ENDING.sub("", path.replace("\\", "/").rsplit("/", 1)[-1])


def language_code(name: str | None) -> str | None:
    """OPUS code of a language as ``<meta>`` names it; the name itself when it is a code already."""
    if not name:
        return None
    lowered = name.strip().lower()
    return LANGUAGE_CODES.get(lowered) or (lowered if _LANGUAGE.fullmatch(lowered) else None)


@lru_cache(maxsize=4096)
def read_folder(above: str, inside: str) -> Folder:
    """Language, year and film out of ``[.../]xml/<language>/<year>/<film>/``.

    A source may point anywhere into the layout, so the folders of the source count too, but only for what
    the path inside the source does not say. Without an ``xml`` folder, three last folders of the right form
    (language, year, number) are taken the same way.

    Args:
        above: the source's own path, its last folder last.
        inside: the folders between the source and the file.
    """
    parts = [part for part in f"{above}/{inside}".replace("\\", "/").split("/") if part not in ("", ".", "..")]
    for at in range(len(parts) - 1, -1, -1):
        if parts[at].lower() == "xml" and at + 1 < len(parts) and _LANGUAGE.fullmatch(parts[at + 1]):
            return Folder(parts[at + 1], *_year_and_film(parts[at + 2 :]))
    year, film = _year_and_film(parts[-2:])
    if film is not None and len(parts) >= 3 and _LANGUAGE.fullmatch(parts[-3]):
        return Folder(parts[-3], year, film)
    return Folder(None, year if film is not None else None, film)


def _year_and_film(parts: list[str]) -> tuple[int | None, str | None]:
    """The first two folders when they are numbers; years as the folder says, 0 and 666 too."""
    if not parts or not _NUMBER.fullmatch(parts[0]) or len(parts[0]) > 4:
        return None, None
    film = parts[1] if len(parts) > 1 and _NUMBER.fullmatch(parts[1]) else None
    return int(parts[0]), film


@lru_cache(maxsize=4096)
def read_release(source: str, inside: str, default: str) -> str:
    """OPUS release out of a path: ``OpenSubtitles2018``, ``OpenSubtitles/v2018``, ``opensubtitles2018_xml``.

    The path inside the source wins over the source's own, a later folder over an earlier one.
    """
    for text in (inside, source):
        found = [(match.start(), match.group(1)) for match in _NAMED_RELEASE.finditer(text)]
        found += [(match.start(), match.group(1)) for match in _VERSION.finditer(text)]
        if found:
            return f"v{max(found)[1].lower()}"
    return default
