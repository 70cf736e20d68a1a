"""Requests to language models, and their answers."""

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from conf.llm_settings import DecodingSettings
from udfs.failures import error_line, in_halves

Item = TypeVar("Item")

REQUEST = ("request_id", "prompt_hash", "parameters_hash", "sample", "prompt", "answer_start", "parameters")
"""Columns of a request; see ``etl.llm.requests``."""


class Request(NamedTuple):
    """A prompt, the start of its answer, and the number of the sample."""

    prompt: str
    answer_start: str = ""
    prompt_hash: str = ""
    sample: int = 0


class Answer(NamedTuple):
    """A model's answer; ``text`` continues the start that the request gives.

    Attributes:
        finish_reason: ``stop`` if the model ended the answer, ``length`` if it reached the maximum of tokens.
        seconds: device time; a batch's time is divided among its rows.
        error: why there is no text.
    """

    text: str | None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    seconds: float | None = None
    error: str | None = None


class Generator(Protocol):
    """A backend. It raises if it is not available; an error of a single request is part of its answer."""

    def answers(self, requests: Sequence[Request], decoding: DecodingSettings) -> list[Answer]: ...


def seed_of(request: Request) -> int:
    """Return a request's seed, which depends only on its prompt and sample."""
    digest = hashlib.sha256(f"{request.prompt_hash}/{request.sample}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % (2**31)


def answered_in_halves(ask: Callable[[Sequence[Item]], list[Answer]], items: Sequence[Item]) -> list[Answer]:
    """Return ``ask(items)``; if it raises, ask again in halves. An item that fails alone gets its error."""
    return in_halves(ask, items, lambda error: Answer(None, error=error_line(error)))
