"""What servers may send in place of an answer: a row with the reason, or a named fault, in time."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from conf.llm_settings import DecodingSettings, ServerSettings, address_fault
from tests.llm_servers import asking
from udfs.failures import MOST_CHARACTERS, REFUSED, is_device_fault, untrusted
from udfs.llm_requests import Answer, Request, UnavailableError

GREEDY = DecodingSettings(max_new_tokens=9)
KEY = "a-key-of-no-known-form-4711"
Send = Callable[[socket.socket], None]


@contextmanager
def _server(send: Send) -> Iterator[str]:
    """Serve raw bytes to every request."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(connection,), daemon=True).start()

    def one(connection: socket.socket) -> None:
        with suppress(OSError), connection:
            data = b""
            while b"\r\n\r\n" not in data:
                data += connection.recv(65536)
            send(connection)
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(1)
            while connection.recv(65536):
                pass

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        listening.close()


def _breaks_off(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{")


def _lists_and_breaks_off() -> Send:
    """Return what lists a model to each second request, after a broken answer."""
    asked: list[Send] = []

    def send(connection: socket.socket) -> None:
        asked.append(_body({"data": [{"id": "m", "object": "model"}]}) if len(asked) % 2 else _breaks_off)
        asked[-1](connection)

    return send


def _body(content: bytes | str | Any, status: str = "200 OK", kind: str = "application/json", more: str = "") -> Send:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{more}Connection: close\r\n\r\n"
    )
    return lambda connection: connection.sendall(head.encode() + data)


def _asked(send: Send, seconds: float = 2) -> Answer:
    with _server(send) as url:
        settings = ServerSettings(url=url, retries=0, timeout_seconds=seconds, concurrency=1)
        return asking("m", settings, KEY).answers([Request("p")], GREEDY)[0]


def _choice(**fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "yes", **fields.pop("message", {})}
    choice = {"index": 0, "finish_reason": "stop", "message": message, **fields}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


PAGE = b"<!DOCTYPE html><html><head><title>Sign in to\n the network</title></head></html>"

ROWS: dict[str, tuple[Send, str, bool]] = {
    "quota, status 200": (_body({"error": {"message": "quota exceeded", "code": 429}}), "quota exceeded", False),
    "error of text": (_body({"error": "model is loading"}), "model is loading", False),
    "detail": (_body({"detail": "no worker is free"}), "no worker is free", False),
    "bad request, status 200": (_body({"error": {"message": "too long", "code": 400}}), "too long", True),
    "page of a proxy": (
        _body(PAGE, kind="text/html"),
        "the network</title></head></html>': check llm.server.url",
        False,
    ),
    "page named JSON": (_body(PAGE), "", False),
    "cut JSON": (_body(b'{"choices": [{"mess'), "", False),
    "no JSON": (_body(b"OK", kind="text/plain"), "OK", False),
    "no choices": (_body({"choices": []}), "no choice", False),
    "choices of another form": (_body({"choices": "yes"}), "", False),
    "400": (_body({"error": {"message": "prompt too long"}}, "400 Bad Request"), "prompt too long", True),
    "413": (_body({"error": {"message": "too large"}}, "413 Too Large"), "too large", True),
    "422": (_body({"detail": "bad field"}, "422 Unprocessable"), "bad field", True),
    "refused content": (
        _body(_choice(finish_reason="content_filter", message={"content": None})),
        "content_filter",
        True,
    ),
    "refusal": (_body(_choice(message={"content": None, "refusal": "not this"})), "not this", True),
    "half an answer": (
        _body(_choice(finish_reason="error", message={"content": "half an"})),
        "broke the answer off",
        False,
    ),
    "half an answer, refused": (
        _body(_choice(finish_reason="content_filter", message={"content": "half an"})),
        "content_filter",
        True,
    ),
    "stream": (_body(b'data: {"choices":[{"delta":{"content":"yes"}}]}\n\n', kind="text/event-stream"), "data:", False),
    "tool call": (_body(_choice(finish_reason="tool_calls", message={"content": None})), "tool_calls", False),
    "echoed key": (_body({"error": {"message": f"bad key {KEY}"}}), "bad key ***", False),
    "surrogates and controls": (
        _body(b'{"error": {"message": "no\\ud800 room\\u0000\\u001b[31m"}}'),
        "no room [31m",
        False,
    ),
}


@pytest.mark.parametrize(
    "send", [_body(PAGE, kind="text/html"), _body(PAGE), _body({"models": []}), _body({"data": "a"})]
)
def test_a_list_of_models_of_another_form_is_passed_over(send: Send) -> None:
    with _server(send) as url:
        asking("m", ServerSettings(url=url, retries=0, timeout_seconds=2), KEY).check()


@pytest.mark.parametrize("kind", ROWS)
def test_a_failed_row_keeps_the_servers_reason(kind: str) -> None:
    send, reason, lasting = ROWS[kind]
    answer = _asked(send)
    assert answer.text is None
    assert reason in str(answer.error)
    assert str(answer.error).startswith(REFUSED) is lasting
    assert KEY not in str(answer)
    assert str(answer.error).isprintable()


@pytest.mark.parametrize("text", ["\ud800", "x" * 50_000_000, f"stop {KEY}", "a\x00b\x1b[0m\r\n"])
def test_a_reason_to_finish_is_bounded_and_plain(text: str) -> None:
    answer = _asked(_body(json.dumps(_choice(finish_reason=text)).encode()), 30) if len(text) < 1000 else None
    ended = untrusted(text, KEY) if answer is None else str(answer.finish_reason)
    assert len(ended) <= MOST_CHARACTERS
    assert ended.isprintable()
    assert KEY not in ended


AWAY: dict[str, tuple[Send, str]] = {
    "another host": (_body(b"", "307 Temporary Redirect", more="Location: http://elsewhere.invalid/v1\r\n"), "307"),
    "nothing": (lambda connection: None, "RemoteProtocolError"),
    "no HTTP": (lambda connection: connection.sendall(b"SSH-2.0-x\r\n"), "RemoteProtocolError"),
    "401": (_body({"error": {"message": f"bad key {KEY}"}}, "401 Unauthorized"), "401"),
}


@pytest.mark.parametrize("kind", AWAY)
def test_a_server_that_never_answers_is_away_in_time(kind: str) -> None:
    send, reason = AWAY[kind]
    began = time.monotonic()
    with pytest.raises(UnavailableError, match=reason) as raised:
        _asked(send, 1)
    assert time.monotonic() - began < 15
    assert KEY not in str(raised.value)


def test_an_answer_that_breaks_off_is_a_row_of_a_server_that_is_there() -> None:
    answer = _asked(_lists_and_breaks_off(), 5)
    assert answer.text is None
    assert str(answer.error).startswith("the server broke off its answer: RemoteProtocolError")
    with pytest.raises(UnavailableError, match="RemoteProtocolError"):
        _asked(_breaks_off, 5)


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("http://localhost:8000/v1", None),
        ("https://[::1]:8000/v1", None),
        ("https://models.example.org", None),
        ("localhost:8000/v1", "begins with http"),
        ("/home/x/model", "begins with http"),
        ("ftp://host/v1", "begins with http"),
        ("http://host:port/v1", "port is a number"),
        ("http://host:99999/v1", "port is a number"),
        ("http://host:0/v1", "no port from 1"),
        ("http://::1:8000/v1", "in brackets"),
        ("http://[::1/v1", "in brackets"),
        ("http://me:secret@host/v1", "user name or password"),
        ("http:///v1", "no host"),
        ("http://", "no host"),
        ("http://host/v1/chat/completions", "ends before"),
        ("http://host/v1?key=x", "a \\? or #"),
        ("http://my host/v1", "no blanks"),
        ("http://host\\v1", "no backslashes"),
    ],
)
def test_a_wrong_address_says_what_is_wrong(url: str, fault: str | None) -> None:
    found = address_fault(url)
    if fault is None:
        assert found is None
        return
    assert found is not None
    with pytest.raises(ValueError, match=fault):
        ServerSettings(url=url)


@pytest.mark.parametrize(
    ("error", "device"),
    [
        (RuntimeError("CUDA error: device-side assert triggered"), True),
        (RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"), True),
        (RuntimeError("NCCL error"), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), False),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"), False),
        (ValueError("a text of no words"), False),
    ],
)
def test_faults_of_the_device_are_told_from_those_of_a_row(error: Exception, device: bool) -> None:
    assert is_device_fault(error) is device
