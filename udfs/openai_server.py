"""OpenAI's protocol: the fields of a request, the client that sends it, and the answer in a response."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from conf.errors import InputError
from conf.llm_settings import ANY_JSON, DecodingSettings, ServerSettings
from conf.redaction import without_secrets_of_the_run, without_user_info
from udfs.answer_texts import answer_in
from udfs.failures import REFUSED, error_line, untrusted
from udfs.llm_requests import Answer, Request, continuation, goes_on, seed_of

BROKEN_OFF = ("error", "abort", "aborted", "cancelled", "canceled")
"""Reasons to finish of a text that is no whole answer."""
FAULTY = (400, 413, 422)
"""Statuses of a faulty request. Its row gets the error, and the other requests continue."""
_ERROR_NAMES = ("message", "detail", "reason", "code", "type")
PENALISED_TOKENS = 1 << 16
"""All tokens of a prompt and its answer: llama.cpp's penalty looks at the last 64 unless told otherwise.

-1, which older versions take for all, is refused by newer ones.
"""
TOLD_BY = 3
"""Answers that begin anew by which a server is known not to continue a message, if none goes on."""
MOST_REASON = 300
MOST_CHARACTERS = 1_000_000
"""Maximum length of an answer, far above any setting."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Hosts that requests go to directly, whatever proxy the environment names."""


class OpenAIServer:
    """The model ``name`` behind a server that speaks OpenAI's protocol, which vLLM, SGLang and llama.cpp do too.

    Args:
        name: the model's name on the server.
        settings: the server's address, limits and dialect.
        key: bearer token, if the server requires one.
    """

    def __init__(self, name: str, settings: ServerSettings, key: str | None = None) -> None:
        self.name = name
        self.settings = settings
        self._key = key
        self._counts_tokens = settings.dialect != "openai"
        self._went_on = False
        self._began_anew = 0

    @cached_property
    def _client(self) -> Any:
        from openai import DefaultHttpxClient, OpenAI

        settings = self.settings
        key = self._key or "none"
        direct = urlsplit(settings.url).hostname in LOOPBACK
        # Another server would get the prompt, and perhaps the key.
        http = DefaultHttpxClient(trust_env=not direct, follow_redirects=False)
        return OpenAI(
            base_url=settings.url,
            api_key=key,
            max_retries=settings.retries,
            timeout=settings.timeout_seconds,
            http_client=http,
        )

    def check(self) -> None:
        """Check that the server lists the model.

        Raises:
            InputError: The server is unreachable, refuses the key, or lists only other models.
        """
        from openai import APIStatusError, OpenAIError

        try:
            listed = [model.id for model in self._client.with_options(max_retries=1, timeout=20).models.list()]
        except APIStatusError as error:
            if error.status_code in (401, 403):
                raise InputError(f"{self._place} refuses the key: set {self.settings.key_variable}") from None
            return  # a server without a list of models
        except OpenAIError as error:
            raise InputError(f"no language model at {self._url} ({error_line(error, self._key)}): start it") from None
        except (ValueError, TypeError, AttributeError, RecursionError):
            return  # a list of another form; a page in place of it shows at the first prompts
        if listed and self.name not in listed:
            raise InputError(f"{self._place} has no model {self.name!r}, only {', '.join(sorted(listed)[:5])}")

    def answer(self, request: Request, decoding: DecodingSettings) -> Answer:
        """Return the answer to a request, or why the server gave none to this one.

        Raises:
            RuntimeError: The server is unreachable or refuses all requests, after the retries.
        """
        from openai import APIStatusError, APITimeoutError, OpenAIError

        try:
            return self._ask(request, decoding)
        except APIStatusError as error:
            if error.status_code in FAULTY:
                return Answer(None, error=f"{REFUSED}{error_line(error, self._key)}{self._detail(error)}"[:300])
            cure = ": check llm.server.url (mostly it ends in /v1) and the model" if error.status_code == 404 else ""
            line = error_line(error, self._key)
            raise RuntimeError(f"{self._place} answers {error.status_code}: {line}{cure}") from None
        except OpenAIError as error:
            reason = error_line(error.__cause__ or error, self._key)
            if not isinstance(error, APITimeoutError) and self._lists_models():
                return Answer(None, error=f"the server broke off its answer: {reason}"[:300])
            raise RuntimeError(f"{self._place} is unreachable ({reason}); run again to continue") from None
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            reason = error_line(error, self._key)
            return Answer(None, error=f"not an answer as OpenAI's servers give it: {reason}"[:300])

    def _lists_models(self) -> bool:
        """Return whether the server is there: then it is one prompt's answer that breaks off."""
        try:
            self._client.with_options(max_retries=0, timeout=20).models.list()
        except Exception:
            return False
        return True

    def _detail(self, error: Any) -> str:
        """Return the reason in a refusal's body, which the client's message may lack."""
        body = getattr(error, "body", None)
        detail = body.get("detail") if isinstance(body, dict) else None
        shown = "" if detail is None else untrusted(str(detail), self._key)
        return f": {shown}" if shown and shown not in str(error) else ""

    def _ask(self, request: Request, decoding: DecodingSettings) -> Answer:
        omitted = self.settings.omitted
        tokens = self._tokens_of(request, decoding)
        continues = self._continues
        fields = {"model": self.name, **request_fields(request, decoding, omitted, tokens)}
        more = {**extra_fields(request, decoding, self.settings.dialect, omitted, continues), **self._further}
        fields |= {"extra_body": more} if more else {}
        if decoding.chat:
            messages = chat_messages(request, continues)
            response = self._client.chat.completions.create(messages=messages, **fields)
        else:
            response = self._client.completions.create(prompt=request.prompt + request.answer_start, **fields)
        answer = read_answer(response, decoding.chat, request.answer_start, continues or not decoding.chat)
        if decoding.chat and continues and request.answer_start and answer.text and not self._went_on:
            self._learn(content_text(response.choices[0].message.content), request.answer_start)
        # A server may echo the request's headers.
        text = None if answer.text is None else without_secrets_of_the_run(answer.text, self._key)
        ended = None if answer.finish_reason is None else untrusted(answer.finish_reason, self._key)
        error = None if answer.error is None else untrusted(answer.error, self._key)
        named = getattr(response, "model", None)
        other = untrusted(named, self._key, most=MOST_REASON) if isinstance(named, str) and named != self.name else None
        return answer._replace(text=text, finish_reason=ended, error=error, answered_by=other or None)

    def _tokens_of(self, request: Request, decoding: DecodingSettings) -> int | None:
        """Return a prompt's tokens as the server counts them, if they bound its answer; None if it does not count.

        vLLM and llama.cpp answer ``/tokenize`` beside ``/v1``.
        """
        from openai import OpenAIError

        if decoding.max_total_tokens is None or not self._counts_tokens:
            return None
        text = request.prompt + request.answer_start
        asked: dict[str, Any] = {"model": self.name, "prompt": text, "content": text}
        if decoding.chat and self.settings.dialect == "vllm":
            asked = {"model": self.name, "messages": chat_messages(request, self._continues)}
        place = self.settings.url.rstrip("/").removesuffix("/v1")
        try:
            found: Any = self._client.with_options(max_retries=0).post(f"{place}/tokenize", cast_to=object, body=asked)
        except (OpenAIError, ValueError, TypeError):
            found = None
        count = (found.get("count") or len(found.get("tokens") or ())) if isinstance(found, dict) else 0
        if isinstance(count, int) and count > 0:
            return count
        self._counts_tokens = False
        return None

    @cached_property
    def _further(self) -> dict[str, Any]:
        """The fields of ``llm.server.extra_fields``."""
        found: dict[str, Any] = json.loads(self.settings.extra_fields or "{}")
        return found

    def _learn(self, text: str, answer_start: str) -> None:
        """Note whether an answer went on from its start, without its thought."""
        went_on = goes_on(answer_in(text).text or "", answer_start)
        self._went_on = self._went_on or went_on is True
        self._began_anew += went_on is False

    @property
    def answers_anew(self) -> bool:
        """Whether the server has not gone on from the start of any of its first answers; it gets none from then on."""
        return self._began_anew >= TOLD_BY and not self._went_on

    @property
    def _continues(self) -> bool:
        """Whether the server continues a message. OpenAI's own servers answer anew."""
        return self.settings.dialect != "openai" and not self.answers_anew

    @property
    def _place(self) -> str:
        return f"the language model's server {self._url}"

    @property
    def _url(self) -> str:
        return without_user_info(self.settings.url)


def chat_messages(request: Request, continues: bool = True) -> list[dict[str, str]]:
    """Return the prompt and, if the model can continue a message, the answer's start as the last message."""
    messages = [{"role": "user", "content": request.prompt}]
    if request.answer_start and continues:
        messages.append({"role": "assistant", "content": request.answer_start})
    return messages


def beside(decoding: DecodingSettings, settings: ServerSettings) -> dict[str, Any]:
    """Return what a server does not get of a decoding (``not_sent``), and gets beside it (``extra_fields``).

    OpenAI's own servers know no repetition penalty.
    """
    penalised = decoding.repetition_penalty != 1
    has = {
        "seed": True,
        "top_p": decoding.top_p != 1,
        "temperature": True,
        "stop": bool(decoding.stop),
        "repetition_penalty": penalised,
    }
    unknown = ("repetition_penalty",) if settings.dialect == "openai" else ()
    dropped = [name for name in has if has[name] and name in (*settings.omitted, *unknown)]
    further = json.loads(settings.extra_fields or "{}")
    return ({"not_sent": dropped} if dropped else {}) | ({"extra_fields": further} if further else {})


def request_fields(
    request: Request, decoding: DecodingSettings, omitted: Sequence[str] = (), tokens: int | None = None
) -> dict[str, Any]:
    """Return the fields of a request that every dialect knows, without the omitted ones.

    Args:
        omitted: names of ``llm.server.omitted``.
        tokens: of the prompt; None: unknown.
    """
    fields: dict[str, Any] = {
        "max_tokens": most_tokens(request, decoding, tokens),
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "seed": seed_of(request),
    }
    fields |= {"stop": list(decoding.stop)} if decoding.stop else {}
    return {name: value for name, value in fields.items() if name not in omitted}


def read_answer(response: Any, chat: bool, answer_start: str, continues: bool = True) -> Answer:
    """Return the answer in a client's response, whose types the client does not check.

    Args:
        chat: whether it is a chat completion.
        answer_start: the start of the answer, which some servers repeat.
        continues: whether the server was given the start; see `continuation`.

    Raises:
        ValueError, TypeError, AttributeError: The response has another form.
    """
    if isinstance(response, str | bytes):
        start = response if isinstance(response, str) else response.decode("utf-8", "replace")
        raise ValueError(f"no JSON: {' '.join(start[:4096].split())[:100]!r}: check llm.server.url")
    said = _server_error(response)
    if said is not None:
        return Answer(None, error=said)
    choices = getattr(response, "choices", None)
    choice = choices[0] if choices else None
    if choice is None:
        raise ValueError("no choice in it")
    text = content_text(choice.message.content) if chat else choice.text
    refusal = getattr(choice.message, "refusal", None) if chat else None
    if choice.finish_reason in BROKEN_OFF:
        return Answer(None, error=f"the server broke the answer off (finish_reason {choice.finish_reason})")
    if choice.finish_reason == "content_filter" or (not text and refusal):
        return Answer(None, error=f"{REFUSED}{refusal if isinstance(refusal, str) else 'content_filter'}")
    if text is not None and not isinstance(text, str):
        raise TypeError(f"its text is {type(text).__name__}")
    # An unpaired surrogate cannot be encoded and would fail the whole batch.
    text = (text or "").encode("utf-8", "replace").decode("utf-8")[:MOST_CHARACTERS]
    counts = (getattr(response.usage, name, None) for name in ("prompt_tokens", "completion_tokens"))
    prompt, answer = (count if isinstance(count, int) and 0 <= count < 2**31 else None for count in counts)
    ended = choice.finish_reason if isinstance(choice.finish_reason, str) else None
    if not text.strip():
        apart = getattr(choice.message, "reasoning_content", None) if chat else None
        thought = f", {len(apart)} characters of reasoning_content" if isinstance(apart, str) and apart else ""
        return Answer(None, ended, prompt, answer, error=f"no content (finish_reason {ended}{thought})")
    return Answer(continuation(text, answer_start, continues), ended, prompt, answer)


def content_text(content: Any) -> Any:
    """Return a message's content, of a list of parts only those of text: thoughts are parts of their own."""
    if not isinstance(content, list) or any(isinstance(part, str) for part in content):
        return content
    parts = [part if isinstance(part, dict) else vars(part) for part in content]
    return "".join(part["text"] for part in parts if part.get("type") == "text" and isinstance(part.get("text"), str))


def _server_error(response: Any) -> str | None:
    """Return the reason of an error that a server sends with status 200; None for an answer."""
    found = getattr(response, "error", None)
    more = getattr(response, "model_extra", None) or {}
    for name in ("error", "errors", "detail", "message"):
        found = found or (more.get(name) if not getattr(response, "choices", None) else None)
    if not found or getattr(response, "choices", None):
        return None
    if isinstance(found, list):
        found = found[0]
    fields = found if isinstance(found, dict) else {"message": found}
    parts = [str(fields[name])[:MOST_REASON] for name in _ERROR_NAMES if fields.get(name)]
    code = fields.get("code", fields.get("status"))
    lasting = str(code) in map(str, FAULTY) or code in ("content_filter", "content_policy_violation")
    return f"{REFUSED if lasting else ''}{': '.join(dict.fromkeys(parts)) or 'an error without a reason'}"


def extra_fields(
    request: Request, decoding: DecodingSettings, dialect: str, omitted: Sequence[str] = (), continues: bool = True
) -> Mapping[str, Any]:
    """Return the fields of the server's dialect beyond OpenAI's; some servers refuse unknown fields.

    Raises:
        ValueError: the decoding has a grammar, and OpenAI's own servers follow none.
    """
    fields: dict[str, Any] = {}
    if decoding.grammar is not None and dialect == "openai":
        raise ValueError("the dialect openai has no grammars: leave grammar out, or choose vllm or llama.cpp")
    if decoding.repetition_penalty != 1 and dialect != "openai" and "repetition_penalty" not in omitted:
        fields["repetition_penalty" if dialect == "vllm" else "repeat_penalty"] = decoding.repetition_penalty
    if "repeat_penalty" in fields:
        fields["repeat_last_n"] = PENALISED_TOKENS
    if dialect == "llama.cpp" and decoding.temperature > 0:  # its own defaults are 40 and 0.05
        fields |= {"top_k": 0, "min_p": 0}
    if dialect == "vllm" and decoding.chat and request.answer_start and continues:
        fields |= {"continue_final_message": True, "add_generation_prompt": False}
    if decoding.response_format is not None:
        fields["response_format"] = response_format(decoding.response_format)
    if decoding.grammar is not None:
        guided = {"structured_outputs": {"grammar": decoding.grammar}}  # vLLM from 0.12 on
        fields |= {"grammar": decoding.grammar} if dialect == "llama.cpp" else guided
    return fields


def response_format(form: str) -> dict[str, Any]:
    """Return the field ``response_format`` as OpenAI, vLLM, SGLang and llama.cpp know it.

    Args:
        form: ``json``, or a JSON schema as text.
    """
    if form == ANY_JSON:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": json.loads(form), "strict": True}}


def most_tokens(request: Request, decoding: DecodingSettings, tokens: int | None = None) -> int:
    """Return the maximum of new tokens; where the prompt's tokens are not known, its words are their lower bound."""
    if decoding.max_total_tokens is None:
        return decoding.max_new_tokens
    words = len(f"{request.prompt}{request.answer_start}".split())
    known = words if tokens is None else tokens
    return max(1, min(decoding.max_new_tokens, decoding.max_total_tokens - known))
