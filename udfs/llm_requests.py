"""Requests to language models, and their answers."""

import hashlib
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from conf.llm_settings import DecodingSettings
from udfs.failures import error_line, in_halves

Item = TypeVar("Item")

REQUEST = ("request_id", "prompt_hash", "parameters_hash", "sample", "prompt", "answer_start", "parameters")
"""Columns of a request; see ``etl.llm.requests``."""
TOGETHER = "together"
"""Column beside them: requests of one value have most of their prompt in common, such as a plot."""
TEMPLATE = "template_hash"
"""Column beside them: the version of the words that the prompt is made of."""


NOT_CONTINUED = "not continued"
"""Value of ``answer_start`` in the stored parameters of a server that does not continue the start of an answer."""
UNAVAILABLE = "unavailable: "
"""Start of the error of a request that was not answered because the model was not available."""


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
        answered_by: the model that the server names in its response, if it is not the one asked for.
    """

    text: str | None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    seconds: float | None = None
    error: str | None = None
    answered_by: str | None = None


class UnavailableError(RuntimeError):
    """An error that the model is not available.

    Attributes:
        answers: the answers that arrived before, in the order of the requests; None for the others.
    """

    def __init__(self, message: str, answers: Sequence[Answer | None] = ()) -> None:
        super().__init__(message)
        self.answers = list(answers)

    def all_answers(self, number: int) -> list[Answer]:
        """Return an answer to each of ``number`` requests, with an error where none arrived."""
        missing = Answer(None, error=f"{UNAVAILABLE}{self}"[:300])
        return [answer or missing for answer in [*self.answers, *[None] * (number - len(self.answers))]]


class Generator(Protocol):
    """A backend that answers requests to a language model.

    It raises ``UnavailableError`` or another exception if it is not available. An error of a single request is part of
    its answer.
    """

    def answers(self, requests: Sequence[Request], decoding: DecodingSettings) -> list[Answer]: ...


def continuation(text: str, answer_start: str, continues: bool = True) -> str:
    """Return what follows the start of an answer in a model's text.

    A start that the model repeats is removed; blanks, Markdown and upper case do not count.

    Args:
        answer_start: the start that the request dictates.
        continues: whether the model was given the start. Otherwise an answer of its own is put on a new line, as is one
            that begins anew although the start was given.
    """
    if not answer_start or not text:
        return text
    text = text.lstrip("\ufeff\u200b")
    repeated = _repeated(text, answer_start)
    if repeated is not None:
        return text[repeated.end() :]
    if continues:
        return f"\n{text.lstrip()}" if begins_anew(text, answer_start) else text
    goes_on = re.match(r"[\s*_`\"”]*(?:[:=,|(\[–—-]|\d*[.,]?\d)", text) is not None
    anew = re.match(r"\s*(?:\d{1,2}[.):]\s|[-*•]\s*[^\W\d])", text) or begins_anew(text, answer_start)
    return text if goes_on and not anew else f"\n{text.lstrip()}"


def _repeated(text: str, answer_start: str) -> re.Match[str] | None:
    start = r"[\s*_`]*".join(re.escape(part) for part in re.findall(r"\w+|[^\w\s]", answer_start))
    return re.match(rf"[\s*_`\"“]*{start}(?!\w)[*_`]*", text, re.IGNORECASE)


_FIRST_ENTRY = re.compile(r"[\s>*_`\"“#]*\(?\d{1,2}[.):]\s*[*_`\"“(\[]*[^\W\d]|\s*\|[^|\n]{0,40}[^\W\d][^|\n]{0,40}\|")
"""An entry of a list with its number, or as a row of a table."""
_LABEL_AND_LEVEL = re.compile(
    r"(?:\s{0,9}\n)?(?:[-•–*]\s{1,9})?[*_`\"“(\[]{0,9}[^\W\d_][\w'’ -]{0,40}?[*_`\"”)\]]{0,9}"
    r"(?:\s{0,9}[:=(\[|–—-]\s{0,9}|\s{1,9})[*_~]{0,9}[.,]?\d"
)
"""An entry as a label with its level: one more where the start of an answer has a label, else what goes on from it."""
_LEVEL = re.compile(r"[\s*_`\"”]{0,9}[:=,(\[–—-]{0,9}\s{0,9}[*_]{0,9}[.,]?\d")


def begins_anew(text: str, answer_start: str) -> bool:
    """Return whether a text begins with a first entry of its own, although the start of the answer has one.

    Some servers do not continue a message, whatever they were told, and answer from the beginning.
    """
    number = re.match(r"\s*\d{1,2}[.)]\s*", answer_start)
    if number is None:
        return False
    labelled = number.end() < len(answer_start)
    return bool(_FIRST_ENTRY.match(text) or (labelled and _LABEL_AND_LEVEL.match(text)))


def goes_on(text: str, answer_start: str) -> bool | None:
    """Return whether a text goes on from the start of an answer, which has an entry's number; None: it does not show.

    Args:
        text: the model's text. One that repeats the start does not show it.
        answer_start: the start that the request dictates.
    """
    if re.match(r"\s*\d{1,2}[.)]", answer_start) is None or _repeated(text, answer_start):
        return None
    if begins_anew(text, answer_start) or re.match(r"[\s*_`#>]*[A-Z{|]", text):
        return False
    return True if _LEVEL.match(text) else None


def seed_of(request: Request) -> int:
    """Return a request's seed, which depends only on its prompt and sample."""
    digest = hashlib.sha256(f"{request.prompt_hash}/{request.sample}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % (2**31)


def answered_in_halves(ask: Callable[[Sequence[Item]], list[Answer]], items: Sequence[Item]) -> list[Answer]:
    """Return ``ask(items)``; if it raises, ask again in halves. An item that fails alone gets its error."""
    return in_halves(ask, items, lambda error: Answer(None, error=error_line(error)))
