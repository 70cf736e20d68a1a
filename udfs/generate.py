"""Answers of a language model to prompts, in executors.

Each Python worker loads a local model or starts a server of its own, or all workers send requests to one
OpenAI-compatible server. Setting ``models.generator`` is ``openai:NAME`` for that server, ``gguf:URI`` for a local
model in llama.cpp, and ``vllm:URI`` for a server that each worker starts.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import pandas as pd
from pyspark.sql import DataFrame

from conf.llm_settings import DecodingSettings, LlmSettings
from udfs.devices import set_threads, task_device, with_patience
from udfs.llm_engine import EngineGenerator
from udfs.llm_requests import REQUEST, Answer, Generator, Request, UnavailableError
from udfs.llm_server import ServerGenerator
from udfs.models.loader import ENGINE, PACKED, SERVED
from udfs.models.stores import fetched
from udfs.predict import gathered

SCHEMA = """
    request_id string, prompt_hash string, parameters_hash string, sample int, prompt string, answer_start string,
    parameters string, model string, text string, finish_reason string, prompt_tokens int, answer_tokens int,
    seconds double, error string
    """
GATHERED_ROWS = 1024
"""Minimum number of prompts that are sorted by length together, for any Arrow batch size of the session."""


@dataclass(frozen=True)
class Source:
    """The language model, its settings and its server's key, as sent to the workers."""

    model_path: str
    identity: str  # from `resolve`; ``openai:NAME`` for a server's model
    settings: LlmSettings = field(default_factory=LlmSettings)
    threads: int = 1  # of a worker with a local model
    workers: int = 1  # that share a server
    key: str | None = field(default=None, repr=False)

    @property
    def served(self) -> bool:
        return self.identity.startswith(SERVED)

    def generator(self) -> Generator:
        """Return the worker's cached generator."""
        return self._shared() or _local(self)

    def new_generator(self) -> Generator:
        """Return a separate generator, for work that needs two models at once; servers are shared."""
        return self._shared() or _load(self)

    def _shared(self) -> Generator | None:
        """Return the worker's client of a server; None for a model that the worker loads."""
        if self.served:
            return _server(self)
        return _engine(self) if self.identity.startswith(ENGINE) else None


def source_of(model_path: str, identity: str, settings: LlmSettings, threads: int = 1, workers: int = 1) -> Source:
    """Return the source of a resolved model, on the driver, and check its server.

    Raises:
        InputError: The server is unreachable, refuses the key or lacks the model.
    """
    key = os.environ.get(settings.server.key_variable) or None
    source = Source(model_path, identity, settings, threads, workers, key)
    if source.served:
        _server(source).check()
    return source


def generate_answers(requests: DataFrame, source: Source, partitions: int = 0) -> DataFrame:
    """Return the answers to the requests as rows of `SCHEMA`; a failed request has an error and no text.

    Args:
        requests: the columns of `REQUEST`; see `etl.llm.requests`.
        source: from `source_of`.
        partitions: number of tasks; 0 keeps the partitions.
    """

    def ask(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        generator: Generator = source.generator()
        for frame in gathered(frames, GATHERED_ROWS):
            found, away = answers_to(generator, frame)
            generator = Away(away) if away else generator
            answers = pd.DataFrame(found, columns=list(Answer._fields), index=frame.index)
            answers = answers.astype({"prompt_tokens": "Int32", "answer_tokens": "Int32"})
            yield pd.concat([frame, answers], axis=1).assign(model=source.identity)[columns]

    columns = [column.split()[0] for column in SCHEMA.split(",")]
    asked = requests.select(*REQUEST)
    spread = asked.repartition(partitions, "request_id") if partitions > 0 else asked
    return spread.mapInPandas(ask, SCHEMA)


@dataclass(frozen=True)
class Away:
    """A generator that is no longer asked, and why."""

    reason: str

    def answers(self, requests: Sequence[Request], decoding: DecodingSettings) -> list[Answer]:
        raise UnavailableError(self.reason)


def answers_to(generator: Generator, frame: pd.DataFrame) -> tuple[list[Answer], str | None]:
    """Return the answers to a frame of requests in its order, and why the model is not available; None if it is.

    Requests of equal parameters are sent together. Those that an unavailable model did not answer have an error that
    starts with ``UNAVAILABLE``.
    """
    places_of: dict[str, list[int]] = {}
    for place, parameters in enumerate(frame["parameters"]):
        places_of.setdefault(parameters, []).append(place)
    found: dict[int, Answer] = {}
    away: str | None = None
    for parameters, places in places_of.items():
        decoding = DecodingSettings.model_validate_json(parameters)
        asked = [
            Request(row["prompt"] or "", row["answer_start"] or "", row["prompt_hash"], int(row["sample"]))
            for _, row in frame.iloc[places].iterrows()
        ]
        try:
            answers = (Away(away) if away else generator).answers(asked, decoding)
        except UnavailableError as error:
            away = str(error)
            answers = error.all_answers(len(asked))
        found.update(zip(places, answers, strict=True))
    return [found.get(place) or Answer(None, error="no answer") for place in range(len(frame))], away


def _load(source: Source) -> Generator:
    path = str(fetched(source.model_path))
    settings = source.settings
    if source.identity.startswith(PACKED):
        from udfs.models.language.llama_cpp import LlamaCppGenerator

        return LlamaCppGenerator.load(path, settings.batch_size, settings.context_tokens, source.threads)
    from udfs.models.language.generator import LocalGenerator

    set_threads(source.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    device = task_device()
    return with_patience(lambda: LocalGenerator.load(path, settings.batch_size, settings.precision).to(device))


_local = lru_cache(maxsize=1)(_load)


@lru_cache(maxsize=4)
def _server(source: Source) -> ServerGenerator:
    return ServerGenerator(source.identity.removeprefix(SERVED), source.settings.server, source.key, source.workers)


@lru_cache(maxsize=2)
def _engine(source: Source) -> EngineGenerator:
    return EngineGenerator(str(fetched(source.model_path)), source.settings)
