"""Measure how fast a device answers, beside bare libraries and its peak."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from conf.llm_settings import DecodingSettings
from tests.gpu.checks import Bench, generator_on
from tests.gpu.models import histories, turns
from udfs.devices import chosen_precision
from udfs.llm_requests import Request
from udfs.models.batches import padded_width
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.pretrained import causal_model
from udfs.models.sentence_encoder import SentenceEncoder

BATCH = 256
NEW_TOKENS = 64


@dataclass(frozen=True)
class Speed:
    """Rows, or tokens, a second; ``peer`` and ``theirs`` of a bare library, ``share`` of the device's peak."""

    work: str
    ours: float
    unit: str
    peer: str = ""
    theirs: float | None = None
    share: float | None = None


def measured(bench: Bench, seconds: float) -> Iterator[Speed]:
    """Yield the speeds; each measurement takes about so many seconds."""
    peak = matrix_speed(bench.device, torch.float32)
    yield Speed("matrix products in fp32, the peak that shares are of", peak / 1e12, "TFLOP/s")
    chosen = chosen_precision("auto", bench.device)
    yield Speed(f"matrix products in {chosen.name}", matrix_speed(bench.device, chosen.dtype) / 1e12, "TFLOP/s")
    for name in ("MiniLM", "mpnet"):
        yield embedded(bench, name, seconds, peak)
        yield labelled(bench, name, seconds, peak)
    yield from written(bench)


def matrix_speed(device: torch.device, dtype: torch.dtype) -> float:
    """Return the operations a second of a large matrix product."""
    width = 8192 if device.type == "cuda" else 1024
    (left, right) = (torch.randn(width, width, device=device).to(dtype) for _ in range(2))
    took = best_of(lambda: torch.mm(left, right), device)
    return 2 * width**3 / took


def best_of(work: Callable[[], Any], device: torch.device, times: int = 5) -> float:
    """Return the seconds of the quickest of several calls."""
    best = float("inf")
    for _ in range(times):
        finished(device)
        began = time.perf_counter()
        work()
        finished(device)
        best = min(best, time.perf_counter() - began)
    return best


def finished(device: torch.device) -> None:
    """Wait until the device has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def rows_for(work: Callable[[Sequence[Any]], Any], rows: Sequence[Any], seconds: float) -> tuple[int, float]:
    """Warm up, then do as many of the rows as take about so many seconds; return how many, and the seconds taken."""
    trial = rows[: max(16, len(rows) // 16)]
    work(trial)
    began = time.perf_counter()
    work(trial)
    speed = len(trial) / (time.perf_counter() - began)
    number = max(len(trial), min(len(rows), int(speed * seconds)))
    began = time.perf_counter()
    work(rows[:number])
    return number, time.perf_counter() - began


def embedded(bench: Bench, name: str, seconds: float, peak: float) -> Speed:
    """Embed turns, beside sentence-transformers' own ``encode`` in fp32."""
    model = SentenceEncoder.load(bench.model(name)).to(bench.device)
    texts = turns(bench.rows * 16, seed=11)
    (number, took) = rows_for(lambda some: model.embed(some, BATCH), texts, seconds)
    tokens = sum(padded_width(len(text.split()) + 2, model.max_tokens) for text in texts[:number])
    peer = model.network
    (theirs, their_seconds) = rows_for(
        lambda some: peer.encode(list(some), batch_size=BATCH, show_progress_bar=False), texts, seconds
    )
    return Speed(
        f"{name}: turns embedded",
        number / took,
        "turns/s",
        "sentence-transformers",
        theirs / their_seconds,
        bench.sizes[name].operations(tokens) / took / peak,
    )


def labelled(bench: Bench, name: str, seconds: float, peak: float) -> Speed:
    """Label dialogues of three turns."""
    model = DialogueClassifier.load(bench.classifier(DialogueClassifier, name)).to(bench.device)
    dialogues = histories(bench.rows * 4, seed=12)
    (number, took) = rows_for(lambda some: model.probabilities(some, BATCH), dialogues, seconds)
    counts = [len(row.ids) for row in model.encode(dialogues[:number])]
    tokens = sum(padded_width(count, model.max_tokens) for count in counts)
    share = bench.sizes[name].operations(tokens) / took / peak
    return Speed(f"{name}: dialogues labelled", number / took, "dialogues/s", share=share)


def written(bench: Bench) -> Iterator[Speed]:
    """Let the language model write, beside transformers prompt by prompt."""
    prompts = turns(64 if bench.device.type == "cuda" else 8, seed=13)
    generator = generator_on(bench, bench.device, "auto")
    decoding = DecodingSettings(max_new_tokens=NEW_TOKENS)
    requests = [Request(prompt) for prompt in prompts]
    generator.answers(requests[:2], decoding)
    began = time.perf_counter()
    tokens = sum(answer.answer_tokens or 0 for answer in generator.answers(requests, decoding))
    ours = tokens / (time.perf_counter() - began)
    (network, tokenizer) = causal_model(bench.model("SmolLM2"), chosen_precision("auto", bench.device).dtype)
    network = network.to(bench.device)
    began = time.perf_counter()
    alone = sum(_alone(network, tokenizer, prompt, bench.device) for prompt in prompts[:4])
    yield Speed(
        "SmolLM2: new tokens", ours, "tokens/s", "transformers, one by one", alone / (time.perf_counter() - began)
    )


@torch.inference_mode()
def _alone(network: Any, tokenizer: Any, prompt: str, device: torch.device) -> int:
    said = [{"role": "user", "content": prompt}]
    text = str(tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True))
    ids = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"].to(device)
    written = network.generate(ids, max_new_tokens=NEW_TOKENS, do_sample=False, pad_token_id=tokenizer.eos_token_id)
    return int(written.shape[1] - ids.shape[1])
