"""Prompts in, raw answers out: a language model in executors, an Arrow batch at a time.

One local model a Python worker, or an OpenAI-compatible server that all workers ask. Which one is in the model's
URI: ``models.generator`` is ``openai:NAME`` for a server, else a model that the worker loads.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import pandas as pd
from pyspark.sql import DataFrame

from conf.llm_settings import DecodingSettings, LlmSettings
from udfs.devices import set_threads, task_device
from udfs.llm_requests import REQUEST, Answer, Generator, Request
from udfs.llm_server import ServerGenerator
from udfs.models.loader import SERVED
from udfs.predict import gathered

SCHEMA = """
    request_id string, prompt_hash string, parameters_hash string, sample int, prompt string, answer_start string,
    parameters string, model string, text string, finish_reason string, prompt_tokens int, answer_tokens int,
    seconds double, error string
    """
GATHERED_ROWS = 1024
"""Prompts sorted by length together, whatever size of Arrow batch the session uses."""


@dataclass(frozen=True)
class Source:
    """Where answers come from, as every worker is told.

    Attributes:
        model_path: folder of a local model.
        identity: as `resolve` gave it; ``openai:NAME`` for a server's.
        settings: how to ask.
        threads: CPU threads of a worker with a local model.
        workers: that ask at the same time.
        key: of the server, read from the driver's environment.
    """

    model_path: str
    identity: str
    settings: LlmSettings = field(default_factory=LlmSettings)
    threads: int = 1
    workers: int = 1
    key: str | None = field(default=None, repr=False)

    @property
    def served(self) -> bool:
        return self.identity.startswith(SERVED)

    def generator(self) -> Generator:
        """The worker's one generator."""
        return _server(self) if self.served else _local(self)

    def own_generator(self) -> Generator:
        """A generator beside the worker's one, for work that needs two models at once."""
        return _server(self) if self.served else _loaded(self)


def source_of(model_path: str, identity: str, settings: LlmSettings, threads: int = 1, workers: int = 1) -> Source:
    """The source behind a resolved model; on the driver, once for a stage.

    Raises:
        InputError: a server that is away, refuses the key, or has no such model.
    """
    key = os.environ.get(settings.server.key_variable) or None
    source = Source(model_path, identity, settings, threads, workers, key)
    if source.served:
        _server(source).check()
    return source


def generate_answers(requests: DataFrame, source: Source, partitions: int = 0) -> DataFrame:
    """Ask each request once.

    Args:
        requests: the columns of `REQUEST`; see `etl.llm.requests`.
        source: of `source_of`.
        partitions: spread the rows over so many tasks; 0 leaves them as they are.

    Returns:
        The columns of `SCHEMA`; a request that fails has its error and no text.
    """

    def ask(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        generator = source.generator()
        for frame in gathered(frames, GATHERED_ROWS):
            said = pd.DataFrame(answers_to(generator, frame), columns=list(Answer._fields), index=frame.index)
            for column in ("prompt_tokens", "answer_tokens"):
                said[column] = said[column].astype("Int32")
            yield pd.concat([frame, said], axis=1).assign(model=source.identity)[_columns()]

    asked = requests.select(*REQUEST)
    spread = asked.repartition(partitions, "request_id") if partitions > 0 else asked
    return spread.mapInPandas(ask, SCHEMA)


def answers_to(generator: Generator, frame: pd.DataFrame) -> list[Answer]:
    """The answers to a frame of requests in its order; those of equal parameters are asked together."""
    found: list[Answer | None] = [None] * len(frame)
    for parameters, places in _places(frame["parameters"]).items():
        decoding = DecodingSettings.model_validate_json(parameters)
        asked = [_request(frame, place) for place in places]
        for place, answer in zip(places, generator.answers(asked, decoding), strict=True):
            found[place] = answer
    return [answer or Answer(None, error="no answer") for answer in found]


def _request(frame: pd.DataFrame, place: int) -> Request:
    row = frame.iloc[place]
    return Request(row["prompt"] or "", row["answer_start"] or "", row["prompt_hash"], int(row["sample"]))


def _places(values: Iterable[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, value in enumerate(values):
        places.setdefault(value, []).append(place)
    return places


def _columns() -> list[str]:
    return [column.split()[0] for column in SCHEMA.split(",")]


@lru_cache(maxsize=1)
def _local(source: Source) -> Generator:
    return _loaded(source)


def _loaded(source: Source) -> Generator:
    from udfs.models.language.generator import LocalGenerator

    set_threads(source.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    own = source.settings
    return LocalGenerator.load(source.model_path, own.batch_size, own.precision).to(task_device())


@lru_cache(maxsize=4)
def _server(source: Source) -> ServerGenerator:
    return ServerGenerator(source.identity.removeprefix(SERVED), source.settings.server, source.key, source.workers)
