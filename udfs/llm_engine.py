"""A language model's server that a worker starts on its own machine and watches: vLLM, or another command's.

The server answers as ``udfs.openai_server`` asks it, on 127.0.0.1 alone. It has the GPUs of its worker's task, and ends
with the worker.
"""

import ctypes
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO

from conf.errors import InputError
from conf.llm_settings import DecodingSettings, LlmSettings
from conf.redaction import redacted
from udfs.llm_requests import Answer, Request, UnavailableError
from udfs.llm_server import ServerGenerator
from udfs.openai_server import OpenAIServer
from udfs.task_gpus import task_gpus

NAME = "model"
"""The name under which the server offers its only model."""
VISIBLE = "CUDA_VISIBLE_DEVICES"
STOP_SECONDS = 20.0
_POLL_SECONDS = 0.5
_NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_PR_SET_PDEATHSIG = 1


class EngineGenerator:
    """A language model behind a server that is started at the first request, and anew if it dies.

    Requests that the server answered before it died are not sent again.

    Args:
        path: local folder of the model.
        settings: ``engine`` has the command and its limits, ``server`` the time limit of a request.
    """

    def __init__(self, path: str, settings: LlmSettings) -> None:
        self.path = path
        self.settings = settings
        self._engine: Engine | None = None

    def answers(self, requests: Sequence[Request], decoding: DecodingSettings) -> list[Answer]:
        """Return the answers to the requests, in order.

        Raises:
            UnavailableError: The server does not start, or died more often than it may be started anew.
        """
        found: list[Answer | None] = [None] * len(requests)
        restarts = self.settings.engine.restarts
        while True:
            missing = [place for place, answer in enumerate(found) if answer is None]
            try:
                given = self._running().answers([requests[place] for place in missing], decoding)
                return [answer for answer in _filled(found, missing, given) if answer is not None]
            except UnavailableError as error:
                found = _filled(found, missing, error.answers)
                died = self._engine is not None and not self._engine.healthy()
                if not died or restarts == 0:
                    raise UnavailableError(self._reason(str(error)), found) from None
            self.stop()
            restarts -= 1

    def stop(self) -> None:
        """Stop the server, if it runs."""
        if self._engine is not None:
            self._engine.stop()
            self._engine = None

    def _running(self) -> ServerGenerator:
        """Start the server unless it runs already, and return its client."""
        if self._engine is None or not self._engine.alive():
            self.stop()
            try:
                self._engine = Engine.start(self.path, self.settings)
            except InputError as error:
                raise UnavailableError(str(error)) from None
        return self._engine.client

    def _reason(self, reason: str) -> str:
        last = self._engine.last_line() if self._engine is not None else ""
        return f"{reason}; the server's last line: {last}" if last else reason


def _filled(
    found: Sequence[Answer | None], places: Sequence[int], given: Sequence[Answer | None]
) -> list[Answer | None]:
    """Return ``found`` with the given answers at their places; places without one stay None."""
    whole = list(found)
    for place, answer in zip(places, given, strict=False):
        whole[place] = answer
    return whole


class Engine:
    """A running server and its client; garbage collection and the worker's end stop it."""

    def __init__(self, process: subprocess.Popen[bytes], url: str, log: IO[bytes], settings: LlmSettings) -> None:
        self.process = process
        self.url = url
        self._log = log
        local = {"url": f"{url}/v1", "dialect": "vllm", "requests_per_minute": None, "retries": 1}
        served = settings.server.model_copy(update={**local, "concurrency": settings.engine.concurrency})
        self.client = ServerGenerator(OpenAIServer(NAME, served), served)
        self.stop: Callable[[], None] = weakref.finalize(self, _stop, process, log)

    @classmethod
    def start(cls, path: str, settings: LlmSettings) -> "Engine":
        """Start the server of a model's folder and wait until it answers.

        Raises:
            InputError: The command is not there, ends, or does not answer in time.
        """
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        gpus = visible_gpus(os.environ)
        words = {"model": path, "port": str(port), "name": NAME, "gpus": str(max(1, len(gpus)))}
        command = filled_command(settings.engine.command, words)
        environment = {**os.environ, **({VISIBLE: ",".join(gpus)} if gpus else {})}
        # Appended to, since reading here moves the position that the server shares.
        log = tempfile.TemporaryFile("a+b")  # noqa: SIM115 - closed with the server
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
                preexec_fn=_end_with_parent,
            )
        except OSError as error:
            log.close()
            reason = error.strerror or type(error).__name__
            raise InputError(
                f"{command[0]} does not start on {socket.gethostname()} ({reason}): install it there, "
                "or change llm.engine.command"
            ) from None
        engine = cls(process, f"http://127.0.0.1:{port}", log, settings)
        engine._wait(settings.engine.start_seconds)
        return engine

    def alive(self) -> bool:
        """Return whether the server's process runs."""
        return self.process.poll() is None

    def healthy(self) -> bool:
        """Return whether the server says that it can answer."""
        if not self.alive():
            return False
        try:
            with _NO_PROXY.open(f"{self.url}/health", timeout=20) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def last_line(self) -> str:
        """Return the last line that the server printed, without keys, of at most 200 characters."""
        if self._log.closed:
            return ""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - 4096))
        lines = [line.strip() for line in self._log.read().decode("utf-8", "replace").splitlines() if line.strip()]
        return redacted(lines[-1])[:200] if lines else ""

    def _wait(self, seconds: float) -> None:
        began = time.monotonic()
        while not self.healthy():
            ended = not self.alive()
            late = time.monotonic() - began > seconds
            if ended or late:
                found = f"ended with {self.process.returncode}" if ended else f"does not answer after {seconds:.0f} s"
                last = self.last_line()
                self.stop()
                raise InputError(f"the language model's server {found} (last line: {last or 'none'}): check llm.engine")
            time.sleep(_POLL_SECONDS)
        self.client.check()


def filled_command(command: Sequence[str], words: Mapping[str, str]) -> list[str]:
    """Return the words of a command with ``{model}``, ``{port}``, ``{name}`` and ``{gpus}`` replaced."""
    filled = []
    for part in command:
        for name, word in words.items():
            part = part.replace(f"{{{name}}}", word)
        filled.append(part)
    return filled


def visible_gpus(environment: Mapping[str, str]) -> list[str]:
    """Return the GPUs that Spark assigned to the running task, as ``CUDA_VISIBLE_DEVICES`` names them.

    Where the cluster manager hides other GPUs, Spark's addresses count those that are left.
    """
    addresses = task_gpus()
    visible = [name for name in environment.get(VISIBLE, "").split(",") if name]
    numbered = [int(address) if address.isdigit() else -1 for address in addresses]
    if visible and all(0 <= number < len(visible) for number in numbered):
        return [visible[number] for number in numbered]
    return addresses


def _end_with_parent() -> None:
    """Have the kernel end this process when the worker ends: Spark ends workers without clean-up."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _stop(process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    """End the server with the processes that it started."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sent)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        break
    log.close()
