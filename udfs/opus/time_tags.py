"""Reader of all time tags of a file in OPUS's regular form as arrays, eight bytes at a time."""

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from udfs.opus.times import time_ms

_TIME_OPENS = b'<time id="T'
_ODD_TIME = re.compile(rb'<time id="T([0-9]{1,9})([SE])" value="([0-9:,. -]{1,40})" ?/>')
_SHORTEST_TIME = 26
_MOST_DIGITS = 9
_ENDING = 24
"""Bytes of a time tag from before its S or E to the end of its value, compared eight at a time."""


def _eights(text: bytes, digit: int = 0) -> np.ndarray:
    """Return a text of 24 bytes as three numbers, with ``#`` replaced by a digit and ``?`` by 0."""
    return np.frombuffer(bytes(digit if sign == ord("#") else 0 if sign == ord("?") else sign for sign in text), "<u8")


_PATTERN = b'??" value="##:##:##,###"'
_SIGNS = _eights(_PATTERN, ord("0"))
_SIX = _eights(re.sub(rb"[^#]", b"?", _PATTERN), 6)
_HALVES = _eights(re.sub(rb"[^#]", b"?", _PATTERN), 0xF0)
_FIXED = _eights(re.sub(rb"[^#?]", b"\xff", _PATTERN), 0)
_NUMBERS = _eights(re.sub(rb"[^#]", b"?", _PATTERN), 0x0F)


@dataclass
class TimeTags:
    """The time tags of a file in order: block, whether the tag opens the block, milliseconds."""

    block: np.ndarray
    opens: np.ndarray
    ms: np.ndarray


def read_time_tags(body: np.ndarray, tags: np.ndarray, closes: np.ndarray, quirks: Counter[str]) -> TimeTags | None:
    """Read time tags of the form ``<time id="T4S" value="00:01:02,345" />``; None if a tag has another form.

    Odd values are read one by one, with the same result as in the tree parser.
    """
    if not len(tags) or (closes - tags < _SHORTEST_TIME).any():
        return None if len(tags) else TimeTags(tags, tags.astype(bool), tags)
    windows = sliding_window_view(body, _ENDING)
    stop = closes - 1 - (body[closes - 2] == ord(" "))  # after the value's last quote
    ending = windows[stop - _ENDING]
    opening = windows[tags]
    found = ending.view("<u8") ^ _SIGNS
    wrong = found & _FIXED | (found | (found + _SIX)) & _HALVES
    fits = (wrong[:, 0] | wrong[:, 1] | wrong[:, 2]) == 0
    fits &= opening[:, :8].copy().view("<u8").ravel() == np.frombuffer(_TIME_OPENS[:8], "<u8")
    for place in range(8, len(_TIME_OPENS)):
        fits &= opening[:, place] == _TIME_OPENS[place]
    opens = ending[:, 1] == ord("S")
    fits &= opens | (ending[:, 1] == ord("E"))
    digits = stop - _ENDING + 1 - tags - len(_TIME_OPENS)
    fits &= (digits >= 1) & (digits <= _MOST_DIGITS)
    block = np.zeros(len(tags), dtype=np.int64)
    for place in range(int(np.where(fits, digits, 0).max())):
        here = place < digits
        digit = opening[:, len(_TIME_OPENS) + place] - ord("0")  # other characters wrap around to more than 9
        fits &= ~here | (digit <= 9)
        block = np.where(here, block * 10 + digit, block)
    times = TimeTags(block, opens, _clock_ms(found & _NUMBERS))
    return times if _odd_ones_read(times, np.flatnonzero(~fits), body, tags, closes, quirks) else None


def _clock_ms(digits: np.ndarray) -> np.ndarray:
    """Return the milliseconds of clock times, given their digits at the positions of ``_PATTERN``."""
    # Each byte becomes ten times itself plus the next one.
    pairs = digits * np.uint64(10) + (digits >> np.uint64(8))
    early = pairs[:, 1]
    late = pairs[:, 2]

    def at(number: np.ndarray, byte: int) -> np.ndarray:
        return (number >> np.uint64(8 * byte)).astype(np.int64) & 0xFF

    minutes = at(early, 3) * 60 + at(early, 6)
    return (minutes * 60 + at(late, 1)) * 1000 + at(late, 4) * 10 + at(digits[:, 2], 6)


def _odd_ones_read(
    times: TimeTags, odd: np.ndarray, body: np.ndarray, tags: np.ndarray, closes: np.ndarray, quirks: Counter[str]
) -> bool:
    """Read the time tags with values of other forms, and return whether all of them are times."""
    for place in odd.tolist():
        match = _ODD_TIME.fullmatch(body[tags[place] : closes[place] + 1].tobytes())
        ms = time_ms(match[3].decode(), quirks) if match else None
        if match is None or ms is None:
            return False
        times.block[place] = int(match[1])
        times.opens[place] = match[2] == b"S"
        times.ms[place] = ms
    return True
