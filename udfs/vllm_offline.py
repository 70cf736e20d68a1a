"""A language model in vLLM's offline engine (``vllm.LLM``), which batches a task's prompts by itself.

Prefix caching is on: prompts with a common start, such as a plot, are computed from where they differ.
"""

import os
import socket
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from conf.llm_settings import ANY_JSON, DecodingSettings, LlmSettings
from udfs.failures import error_line
from udfs.llm_engine import VISIBLE, visible_gpus
from udfs.llm_requests import Answer, Request, UnavailableError, answered_in_halves, continuation, seed_of
from udfs.openai_server import chat_messages, most_tokens

_PRECISIONS = {"auto": "auto", "fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
_DEAD = "EngineDeadError"
"""Name of vLLM's error after which its engine answers nothing more."""


class Loaded(NamedTuple):
    """An engine, its tokenizer and the module of vLLM.

    Attributes:
        vllm: the package.
        llm: the engine.
        tokenizer: of the model.
        chat: whether the tokenizer has a chat template.
    """

    vllm: Any
    llm: Any
    tokenizer: Any
    chat: bool


class OfflineGenerator:
    """A language model in vLLM's engine, which is loaded at the first request on the GPUs of the task.

    Args:
        path: local folder of the model.
        settings: ``precision``, ``context_tokens`` and ``offline``.
    """

    def __init__(self, path: str, settings: LlmSettings) -> None:
        self.path = path
        self.settings = settings
        self._loaded: Loaded | None = None

    def answers(self, requests: Sequence[Request], decoding: DecodingSettings) -> list[Answer]:
        """Return the answers to the requests, in order; a request that fails alone has its error.

        Raises:
            UnavailableError: vLLM is not installed, cannot load the model, or its engine has died.
        """
        loaded = self._loaded or self._load()
        self._loaded = loaded
        fatal: list[str] = []

        def ask(some: Sequence[Request]) -> list[Answer]:
            if fatal:
                raise RuntimeError(fatal[0])
            try:
                return self._ask(loaded, some, decoding)
            except Exception as error:
                if type(error).__name__ == _DEAD:
                    fatal.append(error_line(error))
                raise

        found = answered_in_halves(ask, requests)
        if fatal:
            self._loaded = None
            done = [answer if answer.error is None else None for answer in found]
            raise UnavailableError(f"vLLM's engine died ({fatal[0]})", done)
        return found

    def _load(self) -> Loaded:
        gpus = visible_gpus(os.environ)
        if gpus:
            os.environ[VISIBLE] = ",".join(gpus)
        try:
            import vllm  # type: ignore[import-not-found]
        except ImportError:
            raise UnavailableError(
                f"vllm is not installed on {socket.gethostname()}: pip install vllm on the executors, or ask a server "
                "of vLLM by openai:NAME"
            ) from None
        try:
            llm = vllm.LLM(
                model=self.path,
                dtype=_PRECISIONS[self.settings.precision],
                max_model_len=self.settings.context_tokens,
                tensor_parallel_size=max(1, len(gpus)),
                gpu_memory_utilization=self.settings.offline.gpu_memory,
                enable_prefix_caching=True,
                trust_remote_code=False,
            )
            tokenizer = llm.get_tokenizer()
        except Exception as error:  # whatever vLLM raises: memory, an unknown architecture, a damaged file
            raise UnavailableError(f"vLLM cannot load {self.path} ({error_line(error)})") from None
        return Loaded(vllm, llm, tokenizer, getattr(tokenizer, "chat_template", None) is not None)

    def _ask(self, loaded: Loaded, requests: Sequence[Request], decoding: DecodingSettings) -> list[Answer]:
        prompts = [_tokens(loaded, request, decoding) for request in requests]
        parameters = [
            _sampling(loaded.vllm, request, decoding, len(tokens))
            for request, tokens in zip(requests, prompts, strict=True)
        ]
        began = time.monotonic()
        outputs = loaded.llm.generate([{"prompt_token_ids": tokens} for tokens in prompts], parameters, use_tqdm=False)
        seconds = round((time.monotonic() - began) / max(1, len(requests)), 4)
        return [
            _answer(output, request, len(tokens), seconds)
            for output, request, tokens in zip(outputs, requests, prompts, strict=True)
        ]


def _tokens(loaded: Loaded, request: Request, decoding: DecodingSettings) -> list[int]:
    """Return the tokens of a prompt: in the model's chat template, which the answer's start continues, or bare."""
    if not (decoding.chat and loaded.chat):
        return list(loaded.tokenizer.encode(request.prompt + request.answer_start))
    continued = bool(request.answer_start)
    found = loaded.tokenizer.apply_chat_template(
        chat_messages(request),
        tokenize=True,
        add_generation_prompt=not continued,
        continue_final_message=continued,
        return_dict=False,
    )
    return list(found)


def _sampling(vllm: Any, request: Request, decoding: DecodingSettings, tokens: int) -> Any:
    """Return a request's sampling parameters, as the server gets them."""
    fields: dict[str, Any] = {
        "max_tokens": most_tokens(request, decoding, tokens),
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "repetition_penalty": decoding.repetition_penalty,
        "seed": seed_of(request),
        "stop": list(decoding.stop) or None,
    }
    form = _form(decoding)
    if form:
        structured = getattr(vllm.sampling_params, "StructuredOutputsParams", None)
        name = "guided_decoding" if structured is None else "structured_outputs"
        kind = structured or vllm.sampling_params.GuidedDecodingParams
        fields[name] = kind(**form)
    return vllm.SamplingParams(**fields)


def _form(decoding: DecodingSettings) -> dict[str, Any]:
    """Return the form that answers follow: a grammar, a JSON schema, or any JSON."""
    if decoding.grammar is not None:
        return {"grammar": decoding.grammar}
    if decoding.response_format == ANY_JSON:
        return {"json_object": True}
    return {} if decoding.response_format is None else {"json": decoding.response_format}


def _answer(output: Any, request: Request, tokens: int, seconds: float) -> Answer:
    (said,) = output.outputs
    text = str(said.text).encode("utf-8", "replace").decode("utf-8")
    ended = said.finish_reason if isinstance(said.finish_reason, str) else None
    if not text.strip():
        return Answer(None, ended, tokens, len(said.token_ids), seconds, f"no content (finish_reason {ended})")
    return Answer(continuation(text, request.answer_start), ended, tokens, len(said.token_ids), seconds)
