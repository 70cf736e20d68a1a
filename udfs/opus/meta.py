"""Columns of ``subtitles.files`` from a file's ``<meta>``."""

from collections import Counter
from typing import Any

from udfs.opus.times import duration_ms

FIRST_YEAR = 1874
LAST_YEAR = 2100


def meta_columns(meta: Any, quirks: Counter[str]) -> tuple[dict[str, object], str | None]:
    """Return the columns from ``<meta>``, with None for missing values, and the language's name."""
    if meta is None:
        quirks["no_meta"] += 1

    def text_of(path: str) -> str | None:
        text = None if meta is None else meta.findtext(path)
        text = " ".join(text.split()) if text else ""
        return None if text in ("", "N/A") else text

    columns: dict[str, object] = {
        "year": year_of_cinema(text_of("source/year"), quirks),
        "genres": genre_list(text_of("source/genre")),
        "country": text_of("source/country"),
        "original": text_of("source/original"),
        "duration_ms": duration_ms(text_of("source/duration"), quirks),
        "subtitle_duration_ms": duration_ms(text_of("subtitle/duration"), quirks),
        "blocks": _int(text_of("subtitle/blocks")),
        "cds": text_of("subtitle/cds"),
        "subtitle_date": text_of("subtitle/date"),
        "encoding": text_of("conversion/encoding"),
        "machine_translated": (text_of("subtitle/machine_translated") or "0").lower() in ("1", "true", "yes"),
    }
    return columns, text_of("subtitle/language")


def genre_list(text: str | None) -> list[str]:
    """Return the distinct genres of ``Crime,Drama`` (v2018) or ``Action, Adventure, Sci-Fi`` (v2016)."""
    return list(dict.fromkeys(genre for part in (text or "").split(",") if (genre := part.strip())))


def year_of_cinema(text: str | None, quirks: Counter[str]) -> int | None:
    """Return the year, or None outside the history of cinema: 0, 666 and 1191 occur."""
    year = _int(text)
    if year is not None and not FIRST_YEAR <= year <= LAST_YEAR:
        quirks["year_not_of_cinema"] += 1
        return None
    return year


def _int(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and text.isascii() and len(text) < 10 else None
