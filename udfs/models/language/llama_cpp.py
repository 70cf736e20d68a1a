"""Answers to prompts by llama.cpp, in this process, from a GGUF file's packed weights."""

import json
import re
import secrets
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from conf.errors import InputError
from conf.llm_settings import DecodingSettings
from udfs.failures import error_line
from udfs.llm_requests import Answer, Request
from udfs.models.gguf_header import GgufHeader, gguf_file, read_header
from udfs.openai_server import chat_messages, extra_fields, read_answer, request_fields

DIALECT = "llama.cpp"


class LlamaCppGenerator:
    """A GGUF model in llama.cpp.

    Prompts with an equal beginning share its computation, and several prompts are computed together. Sums are then
    added in another order, so that of two nearly equal tokens the other one may win. Answers are stored, so each
    prompt is answered only once.

    Args:
        server: of the binding ``xllamacpp``.
        slots: prompts that are answered at once.
    """

    def __init__(self, server: Any, header: GgufHeader, slots: int = 8) -> None:
        self._server = server
        self._slots = slots
        self._chat = header.chat
        # Text from outside must not end the user's message and begin another.
        self._marks = re.compile("|".join(re.escape(mark) for mark in header.marks) or r"(?!)")

    @classmethod
    def load(cls, folder: str | Path, slots: int = 8, context: int = 8192, threads: int = 1) -> "LlamaCppGenerator":
        """Read the only GGUF file of a folder.

        Args:
            slots: prompts that are answered at once, each with memory for a context of its own.
            context: tokens of a prompt with its answer, at most; never more than the model was trained with.
            threads: of the processor.

        Raises:
            InputError: the file is damaged, llama.cpp does not know its model, or the binding is not installed.
        """
        path = gguf_file(Path(folder))
        header = read_header(path)
        try:
            import xllamacpp
        except ImportError:
            raise InputError(f"{path}: llama.cpp is not installed: pip install 'edos-lakehouse[llm]'") from None
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.n_parallel = slots
        parameters.n_ctx = slots * min(context, header.context or context)
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
        parameters.verbosity = -1
        parameters.warmup = False
        parameters.fit_params = False
        parameters.cache_ram_mib = 0
        # The binding also listens on a port of this machine: closed to all who lack a key that nobody has.
        parameters.api_keys = [secrets.token_hex(16)]
        parameters.endpoint_slots = False
        parameters.ui = False
        try:
            return cls(xllamacpp.Server(parameters), header, slots)
        except Exception as error:  # the binding raises RuntimeError and others
            raise InputError(f"{path}: llama.cpp cannot load it ({error_line(error)})") from None

    def answers(self, requests: Sequence[Request], decoding: DecodingSettings) -> list[Answer]:
        """Return one answer a request, in order; those with an equal beginning are asked one after the other.

        llama.cpp keeps the computation of the last prompt of each slot. Neighbours in the sorted order are therefore
        asked by one thread, and not at the same time by several.
        """
        found: dict[int, Answer] = {}
        order = sorted(range(len(requests)), key=lambda place: requests[place].prompt)
        ends = [len(order) * slot // self._slots for slot in range(self._slots + 1)]

        def ask(slot: int) -> None:
            for place in order[ends[slot] : ends[slot + 1]]:
                found[place] = self._answer(requests[place], decoding)

        with ThreadPoolExecutor(self._slots) as pool:
            list(pool.map(ask, range(self._slots)))
        return [found[place] for place in range(len(requests))]

    def _answer(self, request: Request, decoding: DecodingSettings) -> Answer:
        began = time.monotonic()
        try:
            answer = self._ask(request, decoding)
        except Exception as error:  # whatever the binding raises is this row's
            return Answer(None, error=error_line(error))
        return answer._replace(seconds=round(time.monotonic() - began, 4))

    def _ask(self, request: Request, decoding: DecodingSettings) -> Answer:
        fields = {**request_fields(request, decoding), **extra_fields(request, decoding, DIALECT)}
        chat = decoding.chat and self._chat
        if chat:
            asked = request._replace(prompt=self._marks.sub(lambda mark: f"{mark[0][0]} {mark[0][1:]}", request.prompt))
            response = self._server.handle_chat_completions({"messages": chat_messages(asked), **fields})
        else:
            response = self._server.handle_completions({"prompt": request.prompt + request.answer_start, **fields})
        if "error" in response:
            return Answer(None, error=f"llama.cpp: {response['error'].get('message')}"[:300])
        return read_answer(_with_attributes(response), chat, request.answer_start)


def _with_attributes(response: Any) -> Any:
    """Return a response in the form of the client's: attributes in place of keys."""
    return json.loads(json.dumps(response), object_hook=lambda one: SimpleNamespace(**one))
