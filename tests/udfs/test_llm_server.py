"""The language model behind a server: what is sent, what fails one row and what fails all."""

import json
import subprocess
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from conf.errors import InputError
from conf.llm_settings import DecodingSettings, LlmSettings, ServerSettings
from conf.prompts import prompt as prompt_text
from etl.emo_pillars.step import OURS
from etl.emo_pillars.steps.soft_labels import labels_with_levels
from tests.llm_servers import RecordedServer, as_the_dialect_answers, asking, prompt_of
from tests.ports import free_port
from tests.udfs.tiny_models import tiny_language_model
from udfs.generate import answers_to, used_parameters
from udfs.llm_kinds import ModelSource
from udfs.llm_requests import NOT_CONTINUED, UNAVAILABLE, Answer, Request, UnavailableError, continuation
from udfs.llm_server import Pace, ServerGenerator
from udfs.openai_server import extra_fields, most_tokens

TEMPLATE = prompt_text("emo_pillars/soft_labels")
GREEDY = DecodingSettings(max_new_tokens=20)


def asked(server: RecordedServer, **settings: object) -> ServerGenerator:
    return asking("recorded", ServerSettings(url=server.url, **{"retries": 2, **settings}), "a key")


def test_answers_come_in_the_order_of_the_requests_and_many_are_under_way() -> None:
    def slowly(body: dict) -> str:
        time.sleep(0.05)
        return prompt_of(body)[::-1]

    with RecordedServer(slowly).running() as server:
        requests = [Request(f"prompt {n}", prompt_hash=str(n)) for n in range(24)]
        found = asked(server, concurrency=6).answers(requests, GREEDY)
        assert [answer.text for answer in found] == [f"prompt {n}"[::-1] for n in range(24)]
        assert 2 <= server.most_at_once <= 6
        assert server.keys == {"Bearer a key"}
        assert all(answer.finish_reason == "stop" and answer.seconds > 0 for answer in found)
        assert {body["max_tokens"] for body in server.asked} == {20}


class Telegraph:
    """A served model that speaks no HTTP at all."""

    def __init__(self, cut: str | None = None) -> None:
        self.cut = cut

    def check(self) -> None:
        raise InputError("no line")

    def answer(self, request: Request, decoding: DecodingSettings) -> Answer:
        if request.prompt == self.cut:
            raise RuntimeError("the line is cut")
        return Answer(None, error="not a word") if not request.prompt else Answer(f"{request.prompt} stop", "stop")


def test_a_server_of_another_protocol_is_asked_in_the_same_way() -> None:
    settings = ServerSettings(concurrency=1)
    with pytest.raises(InputError, match="no line"):
        ServerGenerator(Telegraph(), settings).check()
    found = ServerGenerator(Telegraph(), settings).answers([Request("rain"), Request(""), Request("sun")], GREEDY)
    assert [(answer.text, answer.error) for answer in found] == [
        ("rain stop", None),
        (None, "not a word"),
        ("sun stop", None),
    ]
    assert all(answer.seconds is not None and answer.seconds >= 0 for answer in found)
    with pytest.raises(UnavailableError, match="the line is cut") as cut:
        ServerGenerator(Telegraph(cut="sun"), settings).answers([Request(p) for p in ("rain", "sun", "hail")], GREEDY)
    first, second, third = cut.value.answers
    assert first is not None
    assert first.text == "rain stop"
    assert second is None
    assert third is None or third.text == "hail stop"


def test_what_the_request_does_wrong_is_its_rows_error_and_the_rest_go_on() -> None:
    def reply(body: dict) -> str | tuple[int, str]:
        return (400, "the prompt is longer than the context") if "long" in prompt_of(body) else "fine"

    with RecordedServer(reply).running() as server:
        first, second = asked(server).answers([Request("long"), Request("short")], GREEDY)
    assert first.text is None
    assert "longer than the context" in (first.error or "")
    assert (second.text, second.error) == ("fine", None)


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ({}, "no choice in it"),
        ({"choices": []}, "no choice in it"),
        ({"choices": [{"message": {"content": ["a", "list"]}}]}, "its text is list"),
        ({"choices": [{"message": None}]}, "not an answer"),
        ({"choices": [{"message": {"content": None}, "finish_reason": "length"}]}, "no content (finish_reason length)"),
        (
            {"choices": [{"message": {"content": "", "reasoning_content": "Why?"}, "finish_reason": "length"}]},
            "no content (finish_reason length, 4 characters of reasoning_content)",
        ),
        (
            {"choices": [{"message": {"content": [{"type": "thinking"}, {"type": "text", "text": "fine"}]}}]},
            None,
        ),
        ({"choices": [{"message": {"content": "fine"}}], "usage": {"prompt_tokens": "many"}}, None),
        ({"choices": [{"message": {"content": "half \ud800 a pair"}, "finish_reason": 7}]}, None),
        ("just a text", "not an answer"),
        (b'{"choices": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", "RecursionError"),
    ],
)
def test_a_server_that_answers_anything_spoils_its_row_alone(response: Any, expected: str | None) -> None:
    with RecordedServer(lambda body: {"response": response}).running() as server:
        answer = asked(server).answers([Request("p")], GREEDY)[0]
    if expected is None:
        assert answer.error is None
        assert answer.text in ("fine", "half ? a pair")
        assert (answer.prompt_tokens, answer.finish_reason) == (None, None)
    else:
        assert answer.text is None
        assert expected in (answer.error or "")


def test_a_busy_server_is_asked_again() -> None:
    times: dict[str, int] = {}

    def reply(body: dict) -> str | tuple[int, str]:
        prompt = prompt_of(body)
        times[prompt] = times.get(prompt, 0) + 1
        return (503, "busy") if times[prompt] < 3 else "at last"

    with RecordedServer(reply).running() as server:
        assert asked(server).answers([Request("p")], GREEDY)[0].text == "at last"
        times.clear()
        with pytest.raises(RuntimeError, match="answers 503") as error:
            asked(server, retries=1).answers([Request("p")], GREEDY)
        assert "\n" not in str(error.value)


def test_a_server_that_is_away_says_so_in_one_line() -> None:
    port = free_port()
    away = asking("m", ServerSettings(url=f"http://127.0.0.1:{port}/v1", retries=0))
    with pytest.raises(InputError, match=f"no language model at http://127.0.0.1:{port}/v1") as error:
        away.check()
    assert "\n" not in str(error.value)
    with pytest.raises(RuntimeError, match=r"is unreachable .* run again to continue") as later:
        away.answers([Request("p")], GREEDY)
    assert "\n" not in str(later.value)


def test_a_model_that_the_server_does_not_have_and_a_bad_key_are_told() -> None:
    other = RecordedServer(lambda body: "x", model="other")
    with other.running() as server, pytest.raises(InputError, match="has no model 'recorded', only other"):
        asked(server).check()
    with RecordedServer(lambda body: (401, "no such key")).running() as server:
        asked(server).check()
        with pytest.raises(RuntimeError, match="answers 401"):
            asked(server).answers([Request("p")], GREEDY)


def test_the_answers_start_is_the_last_message_and_the_answer_goes_on_from_it() -> None:
    def reply(body: dict) -> str:
        return "1. joy: 0.9" if body["messages"][0]["content"] == "repeats" else ": 0.9"

    with RecordedServer(reply).running() as server:
        requests = [Request("repeats", "1. joy"), Request("goes on", "1. joy")]
        assert [one.text for one in asked(server).answers(requests, GREEDY)] == [": 0.9", ": 0.9"]
        for body in server.asked:
            assert body["messages"][1] == {"role": "assistant", "content": "1. joy"}
            assert body["continue_final_message"] is True
            assert body["add_generation_prompt"] is False
        server.asked.clear()
        asked(server, dialect="openai").answers([Request("goes on", "1. joy")], GREEDY)
        assert len(server.asked[0]["messages"]) == 1
        assert "continue_final_message" not in server.asked[0]


DIALECTS = ("vllm", "llama.cpp", "openai")


@pytest.mark.parametrize("prompt", ["plain", "with a remark", "repeats, plain"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_dictated_start_gives_equal_labels_in_every_dialect(dialect: str, prompt: str) -> None:
    with RecordedServer(as_the_dialect_answers).running() as server:
        request = Request(prompt, "1. joy")
        decoding = DecodingSettings(max_new_tokens=100, repetition_penalty=1.03)
        (answer,) = asked(server, dialect=dialect).answers([request], decoding)
        (body,) = server.asked
    sent = [message["role"] for message in body["messages"]]
    assert sent == (["user"] if dialect == "openai" else ["user", "assistant"])
    labels = labels_with_levels(f"1. joy{answer.text}", TEMPLATE, 5, OURS.known_names).items
    assert [(one.raw_label, one.level) for one in labels] == [("joy", 0.9), ("fear", 0.4), ("hope", 0.3)]


ANEW = (
    "0. anger (0.9)\n1. sadness (0.5)",
    "(1) anger (0.9)\n(2) sadness (0.5)",
    "1) **anger** (0.9)\n2) **sadness** (0.5)",
    "- anger (0.9)\n- sadness (0.5)",
    "* **anger**: 0.9\n* **sadness**: 0.5",
    "anger: 0.9\nsadness: 0.5",
    "Anger 0.9\nSadness 0.5",
    "**anger** (0.9)\n**sadness** (0.5)",
    "| anger | 0.9 |\n| sadness | 0.5 |",
)
"""Answers that do not go on from a start, as servers give them that were to continue a message."""


@pytest.mark.parametrize("dialect", ["vllm", "openai"])
@pytest.mark.parametrize("text", ["\ufeff1. anger (0.9)\n2. sadness (0.5)", *ANEW])
def test_an_answer_that_begins_anew_keeps_all_its_labels(text: str, dialect: str) -> None:
    with RecordedServer(lambda body: text).running() as server:
        (answer,) = asked(server, dialect=dialect).answers([Request("p", "1. joy")], GREEDY)
    labels = labels_with_levels(f"1. joy{answer.text}", TEMPLATE, 5, OURS.known_names).items
    assert [(one.label, one.level) for one in labels] == [("anger", 0.9), ("sadness", 0.5)]


@pytest.mark.parametrize(
    ("replies", "anew"),
    [
        (["1. anger (0.9)"], True),
        (["1. joy (0.9)", "Here are the labels:\n1. anger (0.9)", "<think>Hm.</think>- anger (0.9)"], True),
        ([" (0.9)\n2. fear (0.4)"], False),
        ([" (0.9)", "1. anger (0.9)", "1. anger (0.9)"], False),
        (["1. joy (0.9)"], False),
    ],
)
def test_a_server_that_does_not_continue_is_found_out_by_its_first_answers(replies: list[str], anew: bool) -> None:
    said = cycle(replies)
    with RecordedServer(lambda body: next(said)).running() as server:
        settings = LlmSettings(server=ServerSettings(url=server.url, concurrency=1))
        source = ModelSource("", "openai:recorded", settings)
        source.generator().answers([Request(f"p{n}", "1. joy") for n in range(20)], GREEDY)
        with_start = [len(body["messages"]) == 2 for body in server.asked]
        assert all(
            "continue_final_message" in body for body, sent in zip(server.asked, with_start, strict=True) if sent
        )
        stored = json.loads(used_parameters(source, GREEDY.text()))
    assert with_start == [place < sum(with_start) for place in range(20)]
    assert (sum(with_start) <= 3 * len(replies)) is anew
    assert stored.get("answer_start") == (NOT_CONTINUED if anew else None)


@pytest.mark.parametrize("named", ["other-2024", "recorded", "", None, 7])
def test_another_model_than_asked_is_named(named: object) -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}
    with RecordedServer(lambda body: {"response": {"model": named, "choices": [choice]}}).running() as server:
        (answer,) = asked(server).answers([Request("p")], GREEDY)
    assert (answer.text, answer.answered_by) == ("yes", "other-2024" if named == "other-2024" else None)


@pytest.mark.parametrize(
    ("text", "continues", "whole"),
    [
        (": 0.9", True, "1. joy: 0.9"),
        (" is what she feels: 0.9", True, "1. joy is what she feels: 0.9"),
        ("1. joy (0.9)", True, "1. joy (0.9)"),
        ("1. joy (0.9)", False, "1. joy (0.9)"),
        ("**1. Joy**: 0.9", False, "1. joy: 0.9"),
        (" (0.9)", False, "1. joy (0.9)"),
        ("1. joyful (0.9)", False, "1. joy\n1. joyful (0.9)"),
        ("2. fear (0.4)", False, "1. joy\n2. fear (0.4)"),
        ("Joy (0.9)", False, "1. joy\nJoy (0.9)"),
        ("", False, "1. joy"),
        ("1. anger (0.9): she shouts", True, "1. joy\n1. anger (0.9): she shouts"),
        ("**1. Anger** (0.9)\n2. sadness (0.5)", True, "1. joy\n**1. Anger** (0.9)\n2. sadness (0.5)"),
        (" (0.9)\n2. anger (0.5)", True, "1. joy (0.9)\n2. anger (0.5)"),
        (": 1.0\n2. anger", True, "1. joy: 1.0\n2. anger"),
        (" - strong (0.9)", True, "1. joy - strong (0.9)"),
        ("** (0.9)", True, "1. joy** (0.9)"),
        *((text, continues, f"1. joy\n{text}") for text in ANEW for continues in (True, False)),
    ],
)
def test_continuations(text: str, continues: bool, whole: str) -> None:
    assert "1. joy" + continuation(text, "1. joy", continues) == whole
    assert continuation(text, "", continues) == text


@pytest.mark.parametrize("dialect", DIALECTS)
def test_completions_continue_the_start_in_every_dialect(dialect: str) -> None:
    with RecordedServer(lambda body: " is here").running() as server:
        bare = DecodingSettings(chat=False)
        (answer,) = asked(server, dialect=dialect).answers([Request("p ", "joy")], bare)
        assert server.asked[0]["prompt"] == "p joy"
        assert answer.text == " is here"


def test_a_server_that_fails_in_the_middle_keeps_the_answers_that_it_gave() -> None:
    def reply(body: dict) -> str | tuple[int, str]:
        number = int(prompt_of(body))
        time.sleep(0.05 if number == 7 else 0.01)
        return (500, "out of memory") if number == 7 else f"answer {number}"

    with RecordedServer(reply).running() as server:
        requests = [Request(str(number), prompt_hash=str(number)) for number in range(40)]
        with pytest.raises(UnavailableError, match="answers 500") as error:
            asked(server, concurrency=4, retries=0).answers(requests, GREEDY)
        sent = {int(prompt_of(body)) for body in server.asked}
    kept = {place for place, answer in enumerate(error.value.answers) if answer is not None}
    assert kept == sent - {7}
    assert 7 <= len(kept) < 39
    answers = error.value.all_answers(40)
    assert [answer.text for answer in answers if answer.error is None] == [f"answer {n}" for n in sorted(kept)]
    assert all((answer.error or "").startswith(UNAVAILABLE) for answer in answers if answer.text is None)


def test_a_frame_of_an_unavailable_server_is_not_asked_on() -> None:
    calls: list[str] = []

    class Failing:
        def answers(self, requests: list[Request], decoding: DecodingSettings) -> list[Answer]:
            calls.append(decoding.text())
            raise UnavailableError("it is away", [Answer("paid"), None])

    parameters = [DecodingSettings(max_new_tokens=most).text() for most in (5, 5, 6)]
    frame = pd.DataFrame({"prompt": "p", "answer_start": "", "prompt_hash": "h", "sample": 0, "parameters": parameters})
    answers, away = answers_to(Failing(), frame)
    assert [answer.text for answer in answers] == ["paid", None, None]
    assert away == "it is away"
    assert [answer.error for answer in answers] == [None, f"{UNAVAILABLE}it is away", f"{UNAVAILABLE}it is away"]
    assert len(calls) == 1


def test_a_bare_prompt_goes_to_completions() -> None:
    with RecordedServer(lambda body: "b").running() as server:
        bare = DecodingSettings(chat=False, temperature=0.9, top_p=0.9, stop=("\nHuman:",))
        requests = [Request("a", "x", "h", sample) for sample in (0, 1)]
        assert [answer.text for answer in asked(server).answers(requests, bare)] == ["b", "b"]
        assert {body["prompt"] for body in server.asked} == {"ax"}
        assert len({body["seed"] for body in server.asked}) == 2
        assert all(body["stop"] == ["\nHuman:"] and body["temperature"] == 0.9 for body in server.asked)


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("vllm", {"repetition_penalty": 1.03, "continue_final_message": True, "add_generation_prompt": False}),
        ("llama.cpp", {"repeat_penalty": 1.03, "repeat_last_n": 65536}),
        ("openai", {}),
    ],
)
def test_servers_get_no_fields_that_they_do_not_know(dialect: str, expected: dict) -> None:
    assert extra_fields(Request("p", "1."), DecodingSettings(repetition_penalty=1.03), dialect) == expected
    assert extra_fields(Request("p"), DecodingSettings(), dialect) == {}


def test_a_grammar_goes_to_those_who_follow_one() -> None:
    under = DecodingSettings(grammar='root ::= "yes" | "no"')
    assert extra_fields(Request("p"), under, "llama.cpp") == {"grammar": under.grammar}
    assert extra_fields(Request("p"), under, "vllm") == {"structured_outputs": {"grammar": under.grammar}}
    with RecordedServer(lambda body: "x").running() as server:
        (answer,) = asked(server, dialect="openai").answers([Request("p")], under)
        assert answer.text is None
        assert "the dialect openai has no grammars" in (answer.error or "")
        assert not server.asked
        assert asked(server, dialect="llama.cpp").answers([Request("p")], under)[0].text == "x"
        assert server.asked[0]["grammar"] == under.grammar


def test_llama_cpp_samples_from_top_p_alone() -> None:
    sampled = DecodingSettings(temperature=0.9, top_p=0.9)
    assert extra_fields(Request("p"), sampled, "llama.cpp") == {"top_k": 0, "min_p": 0}
    assert extra_fields(Request("p"), sampled, "openai") == {}


def test_the_total_counts_the_prompts_words() -> None:
    request = Request("one two three")
    assert most_tokens(request, DecodingSettings(max_new_tokens=9)) == 9
    assert most_tokens(request, DecodingSettings(max_new_tokens=9, max_total_tokens=10)) == 7
    assert most_tokens(request, DecodingSettings(max_new_tokens=9, max_total_tokens=2)) == 1


def test_the_pace_is_kept() -> None:
    pace = Pace(0.02)
    began = time.monotonic()
    for _ in range(6):
        pace.wait()
    assert time.monotonic() - began >= 0.1


@pytest.mark.slow
def test_a_real_server_answers(tmp_path: Path) -> None:
    """`transformers serve` with a tiny model of random weights."""
    folder = tiny_language_model(tmp_path / "model")
    port = free_port()
    serve = "import sys; from transformers.cli.transformers import main; sys.argv[0] = 'transformers'; main()"
    options = ["serve", str(folder), "--port", str(port), "--device", "cpu"]
    process = subprocess.Popen([sys.executable, "-c", serve, *options], stderr=subprocess.PIPE, text=True)
    try:
        url = f"http://localhost:{port}/v1"
        server = ServerSettings(url=url, dialect="openai", timeout_seconds=60)
        generator = asking(str(folder), server)
        for _ in range(120):
            try:
                generator.check()
                break
            except InputError as error:
                assert process.poll() is None, (process.stderr and process.stderr.read(), str(error))
                time.sleep(1)
        requests = [Request(f"what did the {animal} do ?") for animal in ("dog", "cat", "ghost")]
        found = generator.answers(requests, DecodingSettings(max_new_tokens=5))
        assert [answer.error for answer in found] == [None] * 3
        assert all(answer.text and answer.finish_reason in ("stop", "length") for answer in found)
        assert [one.text for one in generator.answers(requests, DecodingSettings(max_new_tokens=5))] == [
            one.text for one in found
        ]
    finally:
        process.terminate()
        process.wait(30)
