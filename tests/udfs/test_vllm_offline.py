"""vLLM's engine within a worker: what it is asked, with a stand-in of the same calls."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from conf.llm_settings import DecodingSettings, LlmSettings, OfflineSettings
from tests.udfs.model_folders import model_folder
from udfs.generate import source_of
from udfs.llm_kinds import kind_of
from udfs.llm_requests import Request, UnavailableError, seed_of
from udfs.vllm_offline import OfflineGenerator

GREEDY = DecodingSettings(max_new_tokens=20)


class EngineDeadError(Exception):
    """As vLLM names it."""


class Tokenizer:
    """A word is a token; a chat template puts marks around messages."""

    chat_template: str | None = "template"

    def __init__(self) -> None:
        self.words: list[str] = []

    def encode(self, text: str) -> list[int]:
        found = []
        for word in text.split():
            if word not in self.words:
                self.words.append(word)
            found.append(self.words.index(word))
        return found

    def decode(self, tokens: Sequence[int]) -> str:
        return " ".join(self.words[one] for one in tokens)

    def apply_chat_template(self, messages: list[dict[str, str]], **asked: Any) -> list[int]:
        assert asked["tokenize"]
        assert asked["add_generation_prompt"] is not asked["continue_final_message"]
        text = " ".join(f"<{one['role']}> {one['content']}" for one in messages)
        return self.encode(text if asked["continue_final_message"] else f"{text} <assistant>")


class Engine:
    """Answers with the prompt in capitals, as vLLM's ``LLM`` is called."""

    def __init__(self, **given: Any) -> None:
        if "broken" in given["model"]:
            raise ValueError("no such architecture")
        self.given = given
        self.tokenizer = Tokenizer()
        self.calls: list[int] = []
        self.asked: list[tuple[str, Any]] = []

    def get_tokenizer(self) -> Tokenizer:
        return self.tokenizer

    def generate(self, prompts: list[dict[str, Any]], parameters: list[Any], use_tqdm: bool) -> list[Any]:
        assert use_tqdm is False
        self.calls.append(len(prompts))
        found = []
        for prompt, wanted in zip(prompts, parameters, strict=True):
            text = self.tokenizer.decode(prompt["prompt_token_ids"])
            self.asked.append((text, wanted))
            if "too long" in text:
                raise ValueError("longer than the maximum model length")
            if "dies" in text:
                raise EngineDeadError("core dumped")
            said = "" if "silent" in text else text.upper()
            one = SimpleNamespace(text=said, finish_reason="stop", token_ids=said.split())
            found.append(SimpleNamespace(outputs=[one]))
        return found


@pytest.fixture(params=["StructuredOutputsParams", "GuidedDecodingParams"])
def vllm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The package of today, and that of a year ago, which calls the form of answers otherwise."""
    package = ModuleType("vllm")
    package.LLM = Engine  # type: ignore[attr-defined]
    package.SamplingParams = SimpleNamespace  # type: ignore[attr-defined]
    package.sampling_params = SimpleNamespace(**{request.param: SimpleNamespace})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm", package)
    monkeypatch.setattr("udfs.vllm_offline.visible_gpus", lambda environment: [])
    return package


@pytest.fixture
def one(vllm: ModuleType) -> OfflineGenerator:
    settings = LlmSettings(precision="bf16", context_tokens=512, offline=OfflineSettings(gpu_memory=0.5))
    return OfflineGenerator("folder", settings)


def engine_of(generator: OfflineGenerator) -> Engine:
    assert generator._loaded is not None
    found: Engine = generator._loaded.llm
    return found


def test_prompts_are_answered_together_with_prefix_caching(one: OfflineGenerator) -> None:
    asked = [Request(f"prompt {n}", prompt_hash=str(n)) for n in range(5)]
    found = one.answers(asked, GREEDY)
    assert [answer.text for answer in found] == [f"<USER> PROMPT {n} <ASSISTANT>" for n in range(5)]
    assert {(answer.prompt_tokens, answer.answer_tokens, answer.finish_reason) for answer in found} == {(4, 4, "stop")}
    engine = engine_of(one)
    assert engine.calls == [5]
    assert engine.given == {
        "model": "folder",
        "dtype": "bfloat16",
        "max_model_len": 512,
        "tensor_parallel_size": 1,
        "gpu_memory_utilization": 0.5,
        "enable_prefix_caching": True,
        "trust_remote_code": False,
    }
    one.answers(asked, GREEDY)
    assert engine_of(one) is engine


def test_the_decoding_reaches_the_engine(one: OfflineGenerator) -> None:
    decoding = DecodingSettings(
        max_new_tokens=50, max_total_tokens=20, temperature=0.7, top_p=0.9, repetition_penalty=1.03, stop=("END",)
    )
    request = Request("a b c", prompt_hash="h", sample=3)
    one.answers([request], decoding)
    ((_, given),) = engine_of(one).asked
    assert vars(given) == {
        "max_tokens": 15,
        "temperature": 0.7,
        "top_p": 0.9,
        "repetition_penalty": 1.03,
        "seed": seed_of(request),
        "stop": ["END"],
    }


@pytest.mark.parametrize(
    ("changed", "form"),
    [
        ({"response_format": "json"}, {"json_object": True}),
        ({"response_format": json.dumps({"type": "object"})}, {"json": '{"type": "object"}'}),
        ({"grammar": 'root ::= "a"'}, {"grammar": 'root ::= "a"'}),
    ],
)
def test_forms_of_answers_reach_the_engine(
    one: OfflineGenerator, vllm: ModuleType, changed: dict[str, Any], form: dict[str, Any]
) -> None:
    one.answers([Request("a")], DecodingSettings(**changed))
    ((_, given),) = engine_of(one).asked
    today = hasattr(vllm.sampling_params, "StructuredOutputsParams")
    name = "structured_outputs" if today else "guided_decoding"
    assert vars(vars(given)[name]) == form


@pytest.mark.parametrize(
    ("chat", "template", "prompt"),
    [
        (True, "template", "<user> Rate it <assistant> 1. joy"),
        (False, "template", "Rate it 1. joy"),
        (True, None, "Rate it 1. joy"),
    ],
)
def test_an_answers_start_is_continued(
    one: OfflineGenerator, monkeypatch: pytest.MonkeyPatch, chat: bool, template: str | None, prompt: str
) -> None:
    monkeypatch.setattr(Tokenizer, "chat_template", template)
    (found,) = one.answers([Request("Rate it ", "1. joy")], DecodingSettings(chat=chat))
    assert engine_of(one).asked[0][0] == prompt
    assert found.text == prompt.upper()


def test_a_request_that_fails_alone_has_its_error(one: OfflineGenerator) -> None:
    found = one.answers([Request("a"), Request("too long"), Request("silent"), Request("b")], GREEDY)
    assert [answer.text is None for answer in found] == [False, True, True, False]
    assert found[1].error == "ValueError: longer than the maximum model length"
    assert found[2].error == "no content (finish_reason stop)"


def test_a_dead_engine_is_away_and_keeps_what_it_said(one: OfflineGenerator) -> None:
    with pytest.raises(UnavailableError, match=r"^vLLM's engine died \(EngineDeadError: core dumped\)"):
        one.answers([Request("a"), Request("dies")], GREEDY)
    assert one._loaded is None
    assert one.answers([Request("a")], GREEDY)[0].text == "<USER> A <ASSISTANT>"


def test_a_model_that_vllm_cannot_load_is_named(vllm: ModuleType) -> None:
    with pytest.raises(UnavailableError, match=r"^vLLM cannot load broken \(ValueError: no such architecture\)"):
        OfflineGenerator("broken", LlmSettings()).answers([Request("a")], GREEDY)


def test_a_missing_package_is_one_line_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(
        UnavailableError, match=r"vllm is not installed on .*: pip install vllm on the executors"
    ) as said:
        OfflineGenerator("folder", LlmSettings()).answers([Request("a")], GREEDY)
    assert "\n" not in str(said.value)


def test_the_gpus_of_the_task_share_the_model(vllm: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("udfs.vllm_offline.visible_gpus", lambda environment: ["2", "3"])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    generator = OfflineGenerator("folder", LlmSettings())
    generator.answers([Request("a")], GREEDY)
    assert engine_of(generator).given["tensor_parallel_size"] == 2


def test_the_prefix_names_the_kind(tmp_path: Path) -> None:
    kind = kind_of("vllm-offline:hf:someone/model")
    assert (kind.prefix, kind.whole_gpu) == ("vllm-offline:", True)
    assert kind_of("vllm:hf:someone/model").prefix == "vllm:"
    folder = model_folder(tmp_path / "model")
    source = source_of(str(folder), f"vllm-offline:file:{folder}#sha256:0", LlmSettings())
    assert isinstance(source.generator(), OfflineGenerator)
