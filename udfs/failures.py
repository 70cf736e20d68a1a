"""Errors of single rows in a batch."""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from conf.redaction import redacted

MOST_CHARACTERS = 500
"""Longest text from a server, a model or an error in a table, a log or a message."""
REFUSED = "refused: "
"""Start of the error of a request that would be refused again: only another model, prompt or setting cures it."""
_READ_AT_MOST = 4 * MOST_CHARACTERS
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")
DEVICE_FAULTS = (
    "cuda",
    "cudnn",
    "cublas",
    "nccl",
    "hip error",
    "device-side",
    "no kernel image",
    "gpu has fallen off",
    "acceleratorerror",
)
"""What a message of a broken device contains, in lower case."""
_NAMED = " OR ".join(f"lower(error) LIKE '%{words}%'" for words in DEVICE_FAULTS)
DEVICE_FAULT = f"error IS NOT NULL AND ({_NAMED})"
"""The same as a condition on the column ``error``, in SQL that Spark and delta-rs both read.

Files without any error are skipped by their statistics, so that ``plan`` does not read all answers.
"""
_OUT_OF_MEMORY = re.compile(r"(?i)out of memory|OutOfMemory|alloc_failed|CUBLAS_STATUS_ALLOC_FAILED")

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def error_line(error: BaseException, *secrets: str | None) -> str:
    """Return an error's type and message in one line of at most 300 characters, without ``secrets`` and other keys."""
    try:
        message = str(error)
    except Exception:
        message = "no message"
    return untrusted(f"{type(error).__name__}: {message}", *secrets, most=300)


def untrusted(text: str, *secrets: str | None, most: int = MOST_CHARACTERS) -> str:
    """Return a text from outside as one line: bounded, without control characters, lone surrogates and secrets."""
    plain = _UNSEEN.sub(" ", text[:_READ_AT_MOST])
    return redacted(" ".join(plain.split()), *secrets)[:most]


def is_device_fault(error: BaseException) -> bool:
    """Return whether an error is of a broken device: other rows on it would fail too, and others elsewhere would not.

    Out of memory is none: fewer rows at once may fit.
    """
    text = f"{type(error).__name__}: {str(error)[:_READ_AT_MOST]}"
    named = any(words in text.lower() for words in DEVICE_FAULTS)
    return named and _OUT_OF_MEMORY.search(text) is None


def in_halves(
    ask: Callable[[Sequence[Item]], list[Answer]], items: Sequence[Item], failed: Callable[[Exception], Answer]
) -> list[Answer]:
    """Return ``ask(items)``; if it raises, ask again in halves, and answer a single failing item by ``failed``.

    Raises:
        Exception: a fault of the device (`is_device_fault`): the task ends, and Spark tries it elsewhere.
    """
    try:
        return ask(items)
    except Exception as error:
        if is_device_fault(error):
            raise
        if len(items) < 2:
            return [failed(error)]
    middle = len(items) // 2
    return in_halves(ask, items[:middle], failed) + in_halves(ask, items[middle:], failed)
