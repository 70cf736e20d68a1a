"""A stand-in for vLLM's server: ``python -m tests.engine_server MODEL NAME PORT GPUS``.

It answers each prompt with the prompt in upper case. The model's folder says how it behaves: ``dies`` holds the number
of answers after which one server ends, ``refuses`` the line with which it ends at its start. What it was asked, and by
which process, is appended to ``asked``.
"""

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from tests.llm_servers import RecordedServer, prompt_of


class Engine:
    """What one server says, and what it notes in the model's folder."""

    def __init__(self, folder: Path, gpus: str) -> None:
        self.folder = folder
        self.gpus = gpus
        self.answered = 0
        self._lock = threading.Lock()

    def reply(self, body: dict[str, Any]) -> str:
        with self._lock:
            if self._dies_now():
                os._exit(9)
            self.note("answers", prompt_of(body))
            self.answered += 1
        return prompt_of(body).upper()

    def note(self, event: str, prompt: str = "") -> None:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        line = {"event": event, "prompt": prompt, "pid": os.getpid(), "gpus": self.gpus, "visible": visible}
        with (self.folder / "asked").open("a") as file:
            file.write(json.dumps(line) + "\n")

    def _dies_now(self) -> bool:
        """Whether this is the answer after which the one server that is to end ends."""
        after = self.folder / "dies"
        try:
            if self.answered < int(after.read_text()):
                return False
            after.unlink()
        except FileNotFoundError:  # none is to end, or another one has
            return False
        return True


def main() -> None:
    """Serve until the process is ended."""
    folder = Path(sys.argv[1])
    name = sys.argv[2]
    port = int(sys.argv[3])
    gpus = sys.argv[4]
    if (folder / "refuses").is_file():
        sys.exit((folder / "refuses").read_text())
    engine = Engine(folder, gpus)
    engine.note("starts")
    with RecordedServer(engine.reply, name).running(port):
        threading.Event().wait()


if __name__ == "__main__":
    main()
