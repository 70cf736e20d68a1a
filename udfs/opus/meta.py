"""A subtitle file's ``<meta>`` -> columns of ``subtitles.files``."""

from collections import Counter
from typing import Any

from udfs.opus.times import duration_ms

FIRST_YEAR, LAST_YEAR = 1874, 2100


def meta_columns(meta: Any, quirks: Counter[str]) -> tuple[dict[str, object], str | None]:
    """Columns from ``<meta>``, null where it does not say; and its language's name."""
    if meta is None:
        quirks["no_meta"] += 1

    def said(path: str) -> str | None:
        text = None if meta is None else meta.findtext(path)
        text = " ".join(text.split()) if text else ""
        return None if text in ("", "N/A") else text

    columns: dict[str, object] = {
        "year": year_of_cinema(said("source/year"), quirks),
        "genres": genre_list(said("source/genre")),
        "country": said("source/country"),
        "original": said("source/original"),
        "duration_ms": duration_ms(said("source/duration"), quirks),
        "subtitle_duration_ms": duration_ms(said("subtitle/duration"), quirks),
        "blocks": _int(said("subtitle/blocks")),
        "cds": said("subtitle/cds"),
        "subtitle_date": said("subtitle/date"),
        "encoding": said("conversion/encoding"),
        "machine_translated": (said("subtitle/machine_translated") or "0").lower() in ("1", "true", "yes"),
    }
    return columns, said("subtitle/language")


def genre_list(text: str | None) -> list[str]:
    """``Crime,Drama`` (v2018) and ``Action, Adventure, Sci-Fi`` (v2016), each genre once."""
    return list(dict.fromkeys(genre for part in (text or "").split(",") if (genre := part.strip())))


def year_of_cinema(text: str | None, quirks: Counter[str]) -> int | None:
    """The year, None when it is none of cinema: 0, 666 and 1191 occur."""
    year = _int(text)
    if year is not None and not FIRST_YEAR <= year <= LAST_YEAR:
        quirks["year_not_of_cinema"] += 1
        return None
    return year


def _int(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and text.isascii() and len(text) < 10 else None
