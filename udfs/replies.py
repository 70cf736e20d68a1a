"""Generators in executors: replies to histories, and how likely given replies are; a large Arrow batch at a time."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, DoubleType, IntegerType, StringType, StructField, StructType

from conf.reply_settings import ReplyDecoding
from udfs.models.language.reply_decoding import Written, write_replies
from udfs.models.language.reply_generator import ReplyGenerator
from udfs.predict import gathered, worker_model

WRITTEN = (("reply", StringType()), ("tokens", IntegerType()))
LIKELIHOOD = (("nats", DoubleType()), ("tokens", IntegerType()), ("words", IntegerType()))
GATHERED_ROWS = 1024
DECIMALS = 4

Asked = tuple[str, list[str], str, str | None]
"""A request's id, its history, the reply that was given, the intent that is asked for."""
Answer = Callable[[ReplyGenerator, Sequence[Asked]], list[tuple[Any, ...]]]


def generate_replies(
    requests: DataFrame, model_path: str, decoding: ReplyDecoding, *, batch_size: int, threads: int, partitions: int
) -> DataFrame:
    """A generator's reply to each history.

    Args:
        requests: request_id, context array<string>, expected, intent.
        model_path: folder of a ``ReplyGenerator``, readable from every worker.
        batch_size: histories that are replied to at once.
        threads: CPU threads of one worker.
        partitions: spread the rows over so many tasks; 0 leaves them as they are.

    Returns:
        The requests with reply, tokens and error: one that fails has its error and no reply.
    """

    def answer(model: ReplyGenerator, asked: Sequence[Asked]) -> list[tuple[Any, ...]]:
        contexts, intents = [context for _, context, _, _ in asked], [intent for *_, intent in asked]
        seeds = [_seed(request_id) for request_id, *_ in asked]
        found: list[Written] = write_replies(model, contexts, intents, decoding, batch_size, seeds)
        return [(one.text, one.tokens) for one in found]

    return _answered(requests, model_path, threads, partitions, answer, WRITTEN)


def score_replies(
    requests: DataFrame, model_path: str, *, batch_size: int, threads: int, partitions: int
) -> DataFrame:  # fmt: skip
    """How likely a generator finds each given reply.

    Args:
        requests, model_path, batch_size, threads, partitions: as for `generate_replies`.

    Returns:
        The requests with nats (4 decimals), tokens, words and error; of a reply longer than the network's positions
        the beginning alone counts, in all three.
    """

    def answer(model: ReplyGenerator, asked: Sequence[Asked]) -> list[tuple[Any, ...]]:
        said = [reply for _, _, reply, _ in asked]
        rows = model.encode([context for _, context, _, _ in asked], said, [intent for *_, intent in asked])
        nats, words = model.nats(rows, batch_size), model.words(rows, said)
        counts = [len(row.reply) for row in rows]
        return [(round(loss, DECIMALS), *more) for loss, *more in zip(nats, counts, words, strict=True)]

    return _answered(requests, model_path, threads, partitions, answer, LIKELIHOOD)


def load_reply_generator(path: str) -> ReplyGenerator:
    """`ReplyGenerator.load`, as a function that a cache can name."""
    return ReplyGenerator.load(path)


def _answered(
    requests: DataFrame,
    model_path: str,
    threads: int,
    partitions: int,
    answer: Answer,
    values: Sequence[tuple[str, DataType]],
) -> DataFrame:
    more = [*values, ("error", StringType())]
    schema = StructType([*requests.schema.fields, *(StructField(name, kind) for name, kind in more)])
    load = partial(worker_model, model_path, load_reply_generator, threads)

    def ask(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        model = load()
        for frame in gathered(frames, GATHERED_ROWS):
            columns = (frame[name] for name in ("request_id", "context", "expected", "intent"))
            asked = [(key, list(turns), said, wish or None) for key, turns, said, wish in zip(*columns, strict=True)]
            found = _in_halves(lambda some: answer(model, some), asked, len(values))
            out = pd.DataFrame(found, columns=[name for name, _ in more], index=frame.index)
            whole = {name: "Int32" for name, kind in values if kind == IntegerType()}
            yield pd.concat([frame, out.astype(whole)], axis=1)

    spread = requests.repartition(partitions, "request_id") if partitions > 0 else requests
    return spread.mapInPandas(ask, schema)


def _in_halves(
    ask: Callable[[Sequence[Asked]], list[tuple[Any, ...]]], asked: Sequence[Asked], width: int
) -> list[tuple[Any, ...]]:
    """Each request's values and no error; what fails together is asked again in halves, what fails alone has its."""
    try:
        return [(*values, None) for values in ask(asked)]
    except Exception as error:
        if len(asked) == 1:
            return [(*(None,) * width, f"{type(error).__name__}: {' '.join(str(error).split())}"[:300])]
    middle = len(asked) // 2
    return _in_halves(ask, asked[:middle], width) + _in_halves(ask, asked[middle:], width)


def _seed(request_id: str) -> int:
    return int.from_bytes(hashlib.sha256(request_id.encode()).digest()[:4], "big")
