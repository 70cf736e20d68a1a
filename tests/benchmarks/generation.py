"""Generation: ``generate_answers`` in Spark against one-by-one ``generate`` and against llama.cpp.

    python -m tests.benchmarks.generation [--prompts N] [--rounds N] [--small]

The model is the local profile's SmolLM2-135M-Instruct as Q4_1 GGUF. transformers unpacks it to fp32; llama.cpp
computes with the packed weights.
"""

import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
from pyspark.sql import functions as F

from conf.llm_settings import DecodingSettings
from etl.llm.requests import distinct_requests, with_requests
from etl.pipeline.model_loader import resolve
from tests.benchmarks.corpora import dialogues
from tests.benchmarks.harness import Progress, Result, Row, alternate, arguments, hand_in, without_slowing_variables
from tests.benchmarks.sessions import cores, local_session
from udfs.generate import generate_answers, source_of
from udfs.models.pretrained import causal_model

OURS = "ours"
ONE_BY_ONE = "transformers generate, one by one"
LLAMA = "llama.cpp, same GGUF"
AIM = 4.0
SLOTS = 8
CAUSE = (
    "each worker has batches of 8 and one thread. llama.cpp computes with packed weights and is faster on a CPU; "
    "the generator `gguf:` uses it."
)


def prompts_of(number: int) -> tuple[list[str], str]:
    """So many prompts, each around a dialogue."""
    found, origin = dialogues()
    step = max(1, len(found) // number)
    chosen = found[::step][:number]
    asked = [f"Two people talk:\n{chr(10).join(turns[:6])}\nSay in a few sentences how they feel." for turns in chosen]
    return asked, f"{len(asked)} prompts around {origin}"


class OneByOne:
    """transformers' own generate on one prompt after the other, with all threads."""

    def __init__(self, folder: Path, tokens: int) -> None:
        torch.set_num_threads(cores())
        self.network, self.tokenizer = causal_model(folder, torch.float32)
        self.tokens = tokens

    def templated(self, prompt: str) -> str:
        """The prompt in the model's chat template."""
        said = [{"role": "user", "content": prompt}]
        return str(self.tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True))

    @torch.inference_mode()
    def __call__(self, prompts: list[str]) -> int:
        """Answer the prompts; return the new tokens."""
        total = 0
        for prompt in prompts:
            ids = self.tokenizer(self.templated(prompt), add_special_tokens=False, return_tensors="pt")
            out = self.network.generate(
                **ids, max_new_tokens=self.tokens, do_sample=False, pad_token_id=self.tokenizer.eos_token_id
            )
            total += out.shape[1] - ids["input_ids"].shape[1]
        return total


class LlamaCpp:
    """llama.cpp's server in this process, several prompts at once."""

    def __init__(self, gguf: Path, tokens: int) -> None:
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(gguf)
        parameters.verbosity = 0
        parameters.n_ctx = SLOTS * 1024
        parameters.n_parallel = SLOTS
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = cores()
        self.server = xllamacpp.Server(parameters)
        self.tokens = tokens

    def __call__(self, prompts: list[str]) -> int:
        """Answer templated prompts; return the new tokens."""
        with ThreadPoolExecutor(SLOTS) as threads:
            return sum(threads.map(self._tokens, prompts))

    def _tokens(self, prompt: str) -> int:
        asked = {"prompt": prompt, "n_predict": self.tokens, "temperature": 0, "cache_prompt": False}
        answer: dict[str, Any] = self.server.handle_completions(asked)
        if "usage" not in answer:
            raise SystemExit(f"llama.cpp gave no answer: {answer}")
        return int(answer["usage"]["completion_tokens"])


def compared(prompts: list[str], tokens: int, rounds: int) -> list[Row]:
    """New tokens a second of all three; their answers differ in length, so seconds alone say nothing."""
    made: dict[str, list[int]] = {OURS: [], ONE_BY_ONE: [], LLAMA: []}
    with tempfile.TemporaryDirectory() as scratch:
        spark, settings = local_session(Path(scratch))
        model = resolve(settings.models.generator, Path(scratch) / "models")
        workers = spark.sparkContext.defaultParallelism
        source = source_of(str(model.path), model.identity, settings.llm, settings.models.threads, workers)
        decoding = DecodingSettings(max_new_tokens=tokens)
        units = spark.createDataFrame([(prompt,) for prompt in prompts], "text string")
        requests = distinct_requests(with_requests(units, F.col("text"), decoding)).localCheckpoint()
        one_by_one = OneByOne(model.path, tokens)
        llama = LlamaCpp(next(model.path.glob("*.gguf")), tokens)
        templated = [one_by_one.templated(prompt) for prompt in prompts]

        def ours() -> int:
            target = f"{scratch}/answers"
            generate_answers(requests, source, workers).write.format("delta").mode("overwrite").save(target)
            answers = spark.read.format("delta").load(target)
            if answers.where("error IS NOT NULL").count():
                raise SystemExit("some prompts have no answer")
            return int(answers.agg(F.sum("answer_tokens")).collect()[0][0])

        def counted(name: str, work: Callable[[], int]) -> Callable[[], None]:
            return lambda: made[name].append(work())

        works = {
            OURS: counted(OURS, ours),
            ONE_BY_ONE: counted(ONE_BY_ONE, lambda: one_by_one(prompts)),
            LLAMA: counted(LLAMA, lambda: llama(templated)),
        }
        # Once, so that each worker has its model.
        ours()
        llama(templated[:SLOTS])
        one_by_one(prompts[:1])
        took = alternate(works, rounds, Progress("generation", 3 * rounds))
        spark.stop()
    speeds = {name: made[name][-1] / took[name] for name in made}
    told = {name: f"{speed:.1f} tokens/s" for name, speed in speeds.items()}
    work = f"{len(prompts)} prompts, up to {tokens} new tokens, greedy"
    return [
        Row(work, told[OURS], peer, told[peer], speeds[OURS] / speeds[peer], aim)
        for peer, aim in ((ONE_BY_ONE, AIM), (LLAMA, None))
    ]


def main() -> int:
    """Measure and hand in."""
    parser = arguments(__doc__)
    parser.add_argument("--prompts", type=int, default=48)
    parser.add_argument("--tokens", type=int, default=64, help="new tokens of an answer, at most")
    given = parser.parse_args()
    prompts, data = prompts_of(4 if given.small else given.prompts)
    result = Result(
        "Generation",
        "New tokens a second: `generate_answers` in a warm local session, from requests to a Delta table of "
        f"answers (batches of 8, one thread per worker); `generate`, prompt by prompt, with {cores()} threads; "
        f"llama.cpp with {SLOTS} slots and {cores()} threads. Models are loaded beforehand.",
        data,
        compared(prompts, 8 if given.small else given.tokens, given.rounds),
        CAUSE,
        ("transformers", "xllamacpp"),
    )
    return hand_in(result, given, "generation")


if __name__ == "__main__":
    without_slowing_variables()
    sys.exit(main())
