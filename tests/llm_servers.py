"""A local OpenAI-compatible server with recorded answers, for tests: HTTP as real servers speak it."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from conf.llm_settings import ServerSettings
from udfs.llm_server import ServerGenerator
from udfs.openai_server import OpenAIServer

Reply = str | tuple[int, str] | dict[str, Any]
"""An answer's text, with its reason to finish as a dict; a dict with a whole response; or a status with a message."""


def asking(name: str, settings: ServerSettings, key: str | None = None) -> ServerGenerator:
    """Return what asks the model of a server that speaks OpenAI's protocol."""
    return ServerGenerator(OpenAIServer(name, settings, key), settings)


class RecordedServer:
    """Answers each request with what ``reply`` makes of its body; keeps the bodies.

    Attributes:
        asked: every request's body, in the order of arrival.
    """

    def __init__(self, reply: Callable[[dict[str, Any]], Reply], model: str = "recorded") -> None:
        self.reply = reply
        self.model = model
        self.asked: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @contextmanager
    def running(self, port: int = 0) -> Iterator["RecordedServer"]:
        """Serve inside the block, at any free port unless one is given."""
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(
                    200,
                    {
                        "object": "list",
                        "data": [{"id": server.model, "object": "model", "created": 0, "owned_by": "tests"}],
                    },
                )

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, content = server.answer(body, self.headers.get("Authorization", ""), self.path)
                self._send(status, content)

            def _send(self, status: int, content: dict[str, Any] | bytes) -> None:
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Retry-After", "0")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            self._http.shutdown()
            self._http.server_close()

    def answer(self, body: dict[str, Any], key: str, path: str) -> tuple[int, dict[str, Any] | bytes]:
        with self._lock:
            self.asked.append(body)
            self.keys.add(key)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            time.sleep(0.002)
            reply = self.reply(body)
        finally:
            with self._lock:
                self.at_once -= 1
        if isinstance(reply, tuple):
            return reply[0], {"error": {"message": reply[1], "type": "recorded"}}
        if isinstance(reply, dict) and "response" in reply:
            return 200, reply["response"]
        finish = "stop"
        if isinstance(reply, dict):
            reply, finish = reply["text"], reply["finish"]
        chat = path.endswith("/chat/completions")
        said = {"message": {"role": "assistant", "content": reply}} if chat else {"text": reply}
        usage = {"prompt_tokens": len(str(body).split()), "completion_tokens": len(reply.split()), "total_tokens": 0}
        kind = "chat.completion" if chat else "text_completion"
        choice = {"index": 0, "finish_reason": finish, **said}
        return 200, {
            "id": "1",
            "object": kind,
            "created": 0,
            "model": body["model"],
            "choices": [choice],
            "usage": usage,
        }


def prompt_of(body: dict[str, Any]) -> str:
    """What the user said, of either kind of request."""
    return str(body["prompt"] if "prompt" in body else body["messages"][0]["content"])


LABELS = "joy (0.9)\n2. fear (0.4) - the storm\n3. hope (0.3)"


def as_the_dialect_answers(body: dict[str, Any]) -> str:
    """Continue a last message of the assistant, as vLLM and llama.cpp do; otherwise answer anew."""
    last = body["messages"][-1]
    whole = f"1. {LABELS}" if "plain" in prompt_of(body) else f"Here are the labels:\n\n1. **Joy**{LABELS[3:]}"
    if last["role"] != "assistant":
        return whole
    repeats = "repeats" in prompt_of(body)
    return f"1. {LABELS}" if repeats else f"1. {LABELS}".removeprefix(last["content"])
