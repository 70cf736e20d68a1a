"""A stand-in for vLLM's server: ``python engine_server.py MODEL NAME PORT GPUS``, the words of the default command.

It answers each prompt with the prompt in upper case. The model's folder says how it behaves: ``dies`` holds the number
of answers after which one server ends, ``refuses`` the line with which it ends at its start. What it was asked, and by
which process, is appended to ``asked``.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

FOLDER, NAME, PORT, GPUS = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
LOCK = threading.Lock()
ANSWERED: list[str] = []


def note(event: str, prompt: str = "") -> None:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    line = json.dumps({"event": event, "prompt": prompt, "pid": os.getpid(), "gpus": GPUS, "visible": visible})
    with LOCK, (FOLDER / "asked").open("a") as file:
        file.write(line + "\n")


def dies_now() -> bool:
    """Whether this is the answer after which the one server that is to end ends."""
    with LOCK:
        after = FOLDER / "dies"
        if not after.is_file() or len(ANSWERED) < int(after.read_text()):
            return False
        try:
            after.unlink()
        except FileNotFoundError:
            return False
        return True


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send({"data": [{"id": NAME, "object": "model", "created": 0, "owned_by": "tests"}], "object": "list"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"]
        if dies_now():
            os._exit(9)
        note("answers", prompt)
        message = {"role": "assistant", "content": prompt.upper()}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self.send({"id": "1", "object": "chat.completion", "created": 0, "model": NAME, "choices": [choice],
                   "usage": usage})  # fmt: skip
        with LOCK:
            ANSWERED.append(prompt)

    def send(self, content: dict[str, Any]) -> None:
        data = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


if __name__ == "__main__":
    if (FOLDER / "refuses").is_file():
        sys.exit((FOLDER / "refuses").read_text())
    note("starts")
    ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
