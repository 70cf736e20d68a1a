"""Answers of a language model to prompts, in executors.

Each Python worker loads a local model or starts a server of its own, or all workers send requests to one server: the
prefix of the model's URI chooses the kind (``udfs.llm_kinds``).
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.llm_settings import DecodingSettings, LlmSettings
from udfs.llm_kinds import ModelSource
from udfs.llm_requests import REQUEST, TEMPLATE, TOGETHER, Answer, Generator, Request, UnavailableError
from udfs.predict import gathered

SCHEMA = """
    request_id string, prompt_hash string, parameters_hash string, sample int, prompt string, answer_start string,
    parameters string, model string, text string, finish_reason string, prompt_tokens int, answer_tokens int,
    seconds double, error string, template_hash string
    """
TRIED = 8
"""Prompts whose common error stops a stage at its start, such as a field that the server refuses."""
GATHERED_ROWS = 1024
"""Minimum number of prompts that are sorted by length together, for any Arrow batch size of the session."""


def source_of(model_path: str, identity: str, settings: LlmSettings, threads: int = 1, workers: int = 1) -> ModelSource:
    """Return the source of a resolved model, on the driver, and check its server.

    Raises:
        InputError: The server is unreachable, refuses the key or lacks the model.
    """
    key = os.environ.get(settings.server.key_variable) or None
    source = ModelSource(model_path, identity, settings, threads, workers, key)
    if source.kind.check is not None:
        source.kind.check(source)
    return source


def generate_answers(requests: DataFrame, source: ModelSource, partitions: int = 0) -> DataFrame:
    """Return the answers to the requests as rows of `SCHEMA`; a failed request has an error and no text.

    Args:
        requests: the columns of `REQUEST`, and ``TEMPLATE`` where it is known; see `etl.llm.requests`.
        source: from `source_of`.
        partitions: number of tasks; 0 keeps the partitions.
    """

    def ask(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        generator: Generator = source.generator()
        for frame in gathered(frames, GATHERED_ROWS):
            found, unavailable = answers_of(generator, frame)
            generator = UnavailableGenerator(unavailable) if unavailable else generator
            answers = pd.DataFrame(found, columns=list(Answer._fields), index=frame.index)
            answers = answers.astype({"prompt_tokens": "Int32", "answer_tokens": "Int32"})
            asked = zip(frame["parameters"], found, strict=True)
            used = [used_parameters(source, parameters, answer.answered_by) for parameters, answer in asked]
            yield pd.concat([frame, answers], axis=1).assign(model=source.identity, parameters=used)[columns]

    columns = [column.split()[0] for column in SCHEMA.split(",")]
    if TEMPLATE not in requests.columns:
        requests = requests.withColumn(TEMPLATE, F.lit(None).cast("string"))
    return spread(requests, partitions).select(*REQUEST, TEMPLATE).mapInPandas(ask, SCHEMA)


def spread(requests: DataFrame, partitions: int) -> DataFrame:
    """Return requests in tasks of about equal number; those with ``TOGETHER`` in common follow each other in one task.

    A server or llama.cpp then computes the common start of their prompts once.

    Args:
        requests: the columns of `REQUEST`, and ``TOGETHER`` where prompts have a start in common.
        partitions: number of tasks; 0 keeps the partitions and their order.
    """
    if partitions <= 0:
        return requests
    order = [name for name in (TOGETHER, "prompt_hash", "sample") if name in requests.columns]
    return requests.repartitionByRange(partitions, *order).sortWithinPartitions(*order)


def used_parameters(source: ModelSource, parameters: str, answered_by: str | None = None) -> str:
    """Return parameters as JSON as they are stored: with what the model did not get of them, or got beside them.

    Args:
        answered_by: of the `Answer`; stored under this name.
    """
    beside = source.kind.beside(source, DecodingSettings.model_validate_json(parameters))
    beside |= {"answered_by": answered_by} if answered_by else {}
    if not beside:
        return parameters
    return json.dumps({**json.loads(parameters), **beside}, sort_keys=True, separators=(",", ":"))


def answers_of(generator: Generator, frame: pd.DataFrame) -> tuple[list[Answer], str | None]:
    """Return what `answers_to` does, but stop after the first prompts if they all fail alike.

    The shortest prompts are asked first, since a long one may fail for its length.
    """
    if len(frame) < 2 * TRIED:
        return answers_to(generator, frame)
    lengths = frame["prompt"].fillna("").str.len().to_numpy()
    order = sorted(range(len(frame)), key=lambda place: (lengths[place], place))
    first = sorted(order[:TRIED])
    others = sorted(order[TRIED:])
    tried, unavailable = answers_to(generator, frame.iloc[first])
    errors = {answer.error for answer in tried}
    if unavailable is None and len(errors) == 1 and None not in errors:
        unavailable = f"the first {TRIED} prompts fail alike: {errors.pop()}"
        tried = UnavailableError(unavailable).all_answers(TRIED)
    rest, later = answers_to(UnavailableGenerator(unavailable) if unavailable else generator, frame.iloc[others])
    found = dict(zip([*first, *others], [*tried, *rest], strict=True))
    return [found[place] for place in range(len(frame))], unavailable or later


@dataclass(frozen=True)
class UnavailableGenerator:
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
    unavailable: str | None = None
    for parameters, places in places_of.items():
        decoding = DecodingSettings.model_validate_json(parameters)
        asked = [
            Request(row["prompt"] or "", row["answer_start"] or "", row["prompt_hash"], int(row["sample"]))
            for _, row in frame.iloc[places].iterrows()
        ]
        try:
            answers = (UnavailableGenerator(unavailable) if unavailable else generator).answers(asked, decoding)
        except UnavailableError as error:
            unavailable = str(error)
            answers = error.all_answers(len(asked))
        found.update(zip(places, answers, strict=True))
    return [found.get(place) or Answer(None, error="no answer") for place in range(len(frame))], unavailable
