"""Conversion of the time values of subtitle files to milliseconds."""

import re
from collections import Counter
from functools import lru_cache

_CLOCK = re.compile(r"([0-9]{1,3}):([0-9]{1,2}):([0-9]{1,2})(?:[,.]([0-9]{1,3}))?", re.ASCII)
_TWO_DIGITS_EACH = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})")
_MINUTES = re.compile(r"(?:([0-9]{1,2}) ?h(?:ours?)?\.? ?)?(?:([0-9]{1,4}) ?(?:m|min|mins|minutes)?\.?)?", re.ASCII)
_MOST_MS = 2**31 - 1
_FRACTIONS = {f",{ms:03}": ms for ms in range(1000)}


@lru_cache(maxsize=1 << 14)
def _whole_seconds(clock: str) -> int | None:
    """Return the milliseconds of ``01:02:03``; None for another form."""
    match = _TWO_DIGITS_EACH.fullmatch(clock)
    return ((int(match[1]) * 60 + int(match[2])) * 60 + int(match[3])) * 1000 if match else None


def time_ms(value: str, quirks: Counter[str]) -> int | None:
    """Return the milliseconds of a time value, and count odd forms in ``quirks``.

    ``00:57:1,901`` is 57 min 1.901 s without a leading zero. ``00:00:2,00`` is 2 s, with a decimal fraction after the
    comma. Negative values and other forms give None.
    """
    seconds = _whole_seconds(value[:8])
    fraction = _FRACTIONS.get(value[8:])
    if seconds is not None and fraction is not None:
        return seconds + fraction
    if value.lstrip()[:1] == "-":
        quirks["time_negative"] += 1
        return None
    match = _CLOCK.fullmatch(value.strip())
    if match is None:
        quirks["time_malformed"] += 1
        return None
    minutes = int(match[1]) * 60 + int(match[2])
    ms = minutes * 60_000 + int(match[3]) * 1000 + int((match[4] or "0").ljust(3, "0"))
    if ms > _MOST_MS:
        quirks["time_malformed"] += 1
        return None
    quirks["time_odd_form"] += 1
    return ms


def duration_ms(text: str | None, quirks: Counter[str]) -> int | None:
    """Return the milliseconds of a duration: ``101`` or ``90 min`` (minutes), ``1 h 41 min``, ``00:00:2,00``."""
    if text is None:
        return None
    if ":" in text:
        return time_ms(text, Counter())
    match = _MINUTES.fullmatch(text.lower())
    if match is None or not any(match.groups()):
        quirks["duration_malformed"] += 1
        return None
    minutes = int(match.group(1) or 0) * 60 + int(match.group(2) or 0)
    return minutes * 60_000 or None
