"""An OpenAI-compatible server as the language model: requests under way at once, retried, paced."""

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

from conf.errors import InputError
from conf.llm_settings import DecodingSettings, ServerSettings
from udfs.llm_requests import Answer, Request, reason, seed_of

# The request itself is at fault, not the server: its row has the error and the others go on.
REFUSED = (400, 413, 422)
MOST_CHARACTERS = 1_000_000
"""Of an answer: far more than any request asks for."""


class ServerGenerator:
    """The model ``name`` behind a server.

    Sampled answers carry the row's own seed; whether equal seeds give equal answers is up to the server, which
    also batches as it likes. The stored answer counts.

    Args:
        name: as the server calls the model.
        settings: where it is and how it is asked.
        key: sent as bearer token; None where the server wants none.
        workers: that ask at the same time, for the rate limit.
    """

    def __init__(self, name: str, settings: ServerSettings, key: str | None = None, workers: int = 1) -> None:
        self.name, self.settings, self._key = name, settings, key
        limit = settings.requests_per_minute
        self._pace = Pace(60 * workers / limit if limit else 0)

    @cached_property
    def _client(self) -> Any:
        from openai import OpenAI

        own = self.settings
        key = self._key or "none"
        return OpenAI(base_url=own.url, api_key=key, max_retries=own.retries, timeout=own.timeout_seconds)

    def check(self) -> None:
        """Ask the server which models it has.

        Raises:
            InputError: it is away, refuses the key, or lists other models only.
        """
        from openai import APIStatusError, OpenAIError

        try:
            listed = [model.id for model in self._client.with_options(max_retries=1, timeout=20).models.list()]
        except APIStatusError as error:
            if error.status_code in (401, 403):
                raise InputError(f"{self._place} refuses the key: set {self.settings.key_variable}") from None
            return  # a server without a list of models
        except OpenAIError as error:
            raise InputError(f"no language model at {self.settings.url} ({reason(error)}): is it up?") from None
        if listed and self.name not in listed:
            raise InputError(f"{self._place} has no model {self.name!r}, only {', '.join(sorted(listed)[:5])}")

    def answers(self, requests: Sequence[Request], decoding: DecodingSettings) -> list[Answer]:
        """One answer a request, in order.

        Raises:
            RuntimeError: the server is away, or refuses all, after the retries.
        """
        with ThreadPoolExecutor(self.settings.concurrency) as pool:
            under_way = [pool.submit(self._answer, request, decoding) for request in requests]
            try:
                return [one.result() for one in under_way]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _answer(self, request: Request, decoding: DecodingSettings) -> Answer:
        from openai import APIStatusError, OpenAIError

        self._pace.wait()
        began = time.monotonic()
        try:
            said = self._ask(request, decoding)
        except APIStatusError as error:
            if error.status_code in REFUSED:
                return Answer(None, seconds=round(time.monotonic() - began, 4), error=reason(error))
            raise RuntimeError(f"{self._place} answers {error.status_code}: {reason(error)}") from None
        except OpenAIError as error:
            raise RuntimeError(f"{self._place} is away ({reason(error)}); run again to go on") from None
        except (ValueError, TypeError, AttributeError) as error:
            return Answer(None, error=f"not an answer as OpenAI's servers give it: {reason(error)}"[:300])
        return said._replace(seconds=round(time.monotonic() - began, 4))

    def _ask(self, request: Request, decoding: DecodingSettings) -> Answer:
        common = self._fields(request, decoding)
        if decoding.chat:
            said = self._client.chat.completions.create(messages=self._messages(request), **common)
        else:
            said = self._client.completions.create(prompt=request.prompt + request.answer_start, **common)
        return read_answer(said, decoding.chat, request.answer_start if self._continues else "")

    @property
    def _continues(self) -> bool:
        return self.settings.dialect != "openai"

    @property
    def _place(self) -> str:
        return f"the language model's server {self.settings.url}"

    def _messages(self, request: Request) -> list[dict[str, str]]:
        """The prompt, and the answer's start as a last message, which the server goes on with where it can."""
        said = [{"role": "user", "content": request.prompt}]
        if request.answer_start and self._continues:
            said.append({"role": "assistant", "content": request.answer_start})
        return said

    def _fields(self, request: Request, decoding: DecodingSettings) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "model": self.name,
            "max_tokens": most_tokens(request, decoding),
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "seed": seed_of(request),
        }
        if decoding.stop:
            fields["stop"] = list(decoding.stop)
        more = extra_fields(request, decoding, self.settings.dialect)
        return {**fields, "extra_body": more} if more else fields


def read_answer(said: Any, chat: bool, answer_start: str) -> Answer:
    """What a response says. The client does not check its types, and what a server sends may be anything.

    Args:
        said: the client's response.
        chat: which of the two kinds.
        answer_start: what the server was to go on from; some give it back.

    Raises:
        ValueError, TypeError, AttributeError: it is no response of that kind.
    """
    choice = said.choices[0] if said.choices else None
    if choice is None:
        raise ValueError("no choice in it")
    text = (choice.message.content if chat else choice.text) or ""
    if not isinstance(text, str):
        raise TypeError(f"its text is {type(text).__name__}")
    # Half of a surrogate pair is no text, and would end the whole batch.
    text = text.encode("utf-8", "replace").decode("utf-8")[:MOST_CHARACTERS]
    used = said.usage
    prompt, answer = _count(used, "prompt_tokens"), _count(used, "completion_tokens")
    ended = choice.finish_reason if isinstance(choice.finish_reason, str) else None
    return Answer(text.removeprefix(answer_start), ended, prompt, answer)


def _count(used: Any, name: str) -> int | None:
    count = getattr(used, name, None)
    return count if isinstance(count, int) and 0 <= count < 2**31 else None


def extra_fields(request: Request, decoding: DecodingSettings, dialect: str) -> Mapping[str, Any]:
    """What a server takes beyond OpenAI's own fields; an unknown field is an error to some of them."""
    fields: dict[str, Any] = {}
    if decoding.repetition_penalty != 1 and dialect != "openai":
        fields["repetition_penalty" if dialect == "vllm" else "repeat_penalty"] = decoding.repetition_penalty
    if dialect == "vllm" and decoding.chat and request.answer_start:
        fields |= {"continue_final_message": True, "add_generation_prompt": False}
    return fields


def most_tokens(request: Request, decoding: DecodingSettings) -> int:
    """New tokens at most. The server alone counts the prompt's; its words are the fewest that they can be."""
    if decoding.max_total_tokens is None:
        return decoding.max_new_tokens
    words = len(f"{request.prompt}{request.answer_start}".split())
    return max(1, min(decoding.max_new_tokens, decoding.max_total_tokens - words))


class Pace:
    """Lets threads pass one by one, at least ``interval`` seconds apart."""

    def __init__(self, interval: float) -> None:
        self._interval, self._next, self._lock = interval, 0.0, threading.Lock()

    def wait(self) -> None:
        if self._interval <= 0:
            return
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._interval
        time.sleep(max(0.0, turn - now))
