"""Settings of asking a large language model: how a step's answers are decoded, and where the model is."""

import json
import re
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from conf.section import Section, added, fixed

STEP_FORM = "step"
"""The value of ``response_format`` that means the step's own one."""
ANY_JSON = "json"
"""The value of ``response_format`` that means JSON of any schema."""


class DecodingSettings(Section):
    """Decoding parameters; with prompt and model they identify an answer."""

    max_new_tokens: int = Field(300, ge=1, le=100_000)
    max_total_tokens: int | None = fixed(None, ge=2, description="prompt and answer together, at most; null: no bound")
    temperature: float = Field(0.0, ge=0, le=5, description="0 is greedy")
    top_p: float = Field(1.0, gt=0, le=1)
    repetition_penalty: float = Field(1.0, ge=1, le=5)
    chat: bool = Field(True, description="use the model's chat template, if it has one; false: the bare prompt")
    stop: tuple[str, ...] = fixed((), description="texts that end an answer, left out of it")

    grammar: str | None = Field(None, description="GBNF grammar that the answer follows; only for llama.cpp and vLLM")

    response_format: str | None = added(
        None,
        description="JSON schema that the answer follows, as text; `step` for the step's own, `json` for any JSON; "
        "for servers and llama.cpp",
    )

    @field_validator("response_format")
    @classmethod
    def _is_a_schema(cls, form: str | None) -> str | None:
        """Return the form, if it is one of the names or a JSON object."""
        if form in (None, STEP_FORM, ANY_JSON):
            return form
        try:
            schema = json.loads(form or "")
        except ValueError:
            schema = None
        if not isinstance(schema, dict):
            raise ValueError(f"it is {STEP_FORM}, {ANY_JSON}, or a JSON schema as text")
        return form

    def text(self) -> str:
        """Return all settings as JSON with sorted keys, the input of ``parameters_hash``.

        No grammar or form is no key, so that answers stored before there were any keep their hash.
        """
        unset = {name for name in ("grammar", "response_format") if getattr(self, name) is None}
        settings = self.model_dump(mode="json", exclude=unset)
        return json.dumps(settings, sort_keys=True, separators=(",", ":"))


def address_fault(url: str) -> str | None:
    """Return what is wrong with a server's address; None if nothing is."""
    if re.search(r"[\s\x00-\x1f\x7f\\]", url):
        return "an address has no blanks and no backslashes"
    if re.match(r"(?i)https?://", url) is None:
        return "an address begins with http:// or https://, such as http://localhost:8000/v1"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "the port is a number from 1 to 65535, and an IPv6 address stands in brackets"
    if "@" in parts.netloc:
        return "the address has a user name or password: the key comes from llm.server.key_variable"
    if not parts.hostname or port == 0:
        return "the address names no host, or no port from 1 to 65535"
    if parts.query or parts.fragment:
        return "the address has a ? or #: options are set by llm.server"
    if re.search(r"/(?:completions|chat|models|embeddings)/*$", parts.path):
        return "the address ends before /chat/completions, mostly in /v1"
    return None


class ServerSettings(Section):
    """An OpenAI-compatible server, for a generator ``openai:NAME``; its key only from the environment."""

    url: str = Field("http://localhost:8000/v1", description="http(s)://HOST[:PORT]/v1, seen by driver and workers")
    dialect: Literal["vllm", "llama.cpp", "openai"] = Field(
        "vllm",
        description="what the server knows beyond OpenAI's fields: a repetition penalty, continuing an answer",
    )
    key_variable: str = Field("OPENAI_API_KEY", description="environment variable of the driver with the key")
    concurrency: int = Field(16, ge=1, description="requests that one worker has open at once")
    requests_per_minute: float | None = Field(None, gt=0, description="of all workers together; null: no limit")
    retries: int = Field(
        5, ge=0, description="retries after a lost connection, 408, 409, 429 or 5xx, at growing intervals"
    )
    timeout_seconds: float = Field(
        300, gt=0, description="how long the server may say nothing, before an answer and within it"
    )
    omitted: tuple[Literal["seed", "top_p", "temperature", "stop", "repetition_penalty"], ...] = Field(
        (), description="fields not to send, for servers that reject them; the stored parameters say so"
    )
    extra_fields: str | None = Field(
        None,
        description="JSON object of further fields of each request, as text, such as "
        '{"chat_template_kwargs": {"enable_thinking": false}}; the stored parameters have them. Stored answers stay',
    )

    @field_validator("extra_fields")
    @classmethod
    def _is_an_object(cls, fields: str | None) -> str | None:
        """Return the fields, if they are a JSON object without those that settings of their own have."""
        try:
            given = json.loads(fields or "{}")
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise ValueError("it is a JSON object as text")
        if own := sorted(
            {"model", "messages", "prompt", "seed", "temperature", "top_p", "stop", "max_tokens"} & set(given)
        ):
            raise ValueError(f"{', '.join(own)}: the decoding of a step has it")
        return fields

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        """Return the address, if it is one."""
        if (fault := address_fault(url)) is not None:
            raise ValueError(fault)
        return url


class LlmSettings(Section):
    """Settings for calling ``models.generator``; none of them changes a prompt."""

    batch_size: int = Field(8, ge=1, description="prompts that a local model answers at once")
    precision: Literal["auto", "fp32", "bf16", "fp16"] = Field(
        "auto", description="of a local model; auto: bf16 if the hardware is fast in it, else fp32"
    )
    context_tokens: int = Field(
        8192,
        ge=256,
        description="of a prompt with its answer in llama.cpp (gguf:), where each prompt under way has as much",
    )
    server: ServerSettings = ServerSettings()
