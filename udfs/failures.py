"""Errors of single rows in a batch."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from conf.redaction import redacted

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def error_line(error: BaseException, *secrets: str | None) -> str:
    """Return an error's type and message in one line of at most 300 characters, without ``secrets`` and other keys."""
    return redacted(f"{type(error).__name__}: {' '.join(str(error).split())}", *secrets)[:300]


def in_halves(
    ask: Callable[[Sequence[Item]], list[Answer]], items: Sequence[Item], failed: Callable[[Exception], Answer]
) -> list[Answer]:
    """Return ``ask(items)``; if it raises, ask again in halves, and answer a single failing item by ``failed``."""
    try:
        return ask(items)
    except Exception as error:
        if len(items) < 2:
            return [failed(error)]
    middle = len(items) // 2
    return in_halves(ask, items[:middle], failed) + in_halves(ask, items[middle:], failed)
