"""What every backend is asked, and what it answers."""

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from conf.llm_settings import DecodingSettings

Item = TypeVar("Item")

REQUEST = ("request_id", "prompt_hash", "parameters_hash", "sample", "prompt", "answer_start", "parameters")
"""Columns of what is asked; see ``etl.llm.requests``."""


class Request(NamedTuple):
    """One prompt, how its answer begins, and which of several answers to it is wanted."""

    prompt: str
    answer_start: str = ""
    prompt_hash: str = ""
    sample: int = 0


class Answer(NamedTuple):
    """What a model said: ``text`` is what follows the dictated start.

    Attributes:
        finish_reason: ``stop`` where the model ended it, ``length`` where the most tokens did.
        seconds: of the device: a batch's time is shared out over its rows.
        error: why there is no text.
    """

    text: str | None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    seconds: float | None = None
    error: str | None = None


class Generator(Protocol):
    """A backend. One that cannot be asked at all raises; what is wrong with one request is in its answer."""

    def answers(self, requests: Sequence[Request], decoding: DecodingSettings) -> list[Answer]: ...


def seed_of(request: Request) -> int:
    """A request's own seed, from its prompt and sample alone."""
    digest = hashlib.sha256(f"{request.prompt_hash}/{request.sample}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % (2**31)


def reason(error: BaseException) -> str:
    """An error in one line of at most 300 characters."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


def answered_in_halves(ask: Callable[[Sequence[Item]], list[Answer]], items: Sequence[Item]) -> list[Answer]:
    """``ask(items)``; what fails together is asked again in halves, and what fails alone has its error."""
    try:
        return ask(items)
    except Exception as error:
        if len(items) < 2:
            return [Answer(None, error=reason(error))]
    middle = len(items) // 2
    return answered_in_halves(ask, items[:middle]) + answered_in_halves(ask, items[middle:])
