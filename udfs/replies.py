"""Reply generation and reply likelihoods in executors."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, DoubleType, IntegerType, StringType, StructField, StructType

from etl.replies.settings import ReplyDecoding
from udfs.failures import error_line, in_halves
from udfs.models.language.causal_reply_generator import load_generator
from udfs.models.language.reply_decoding import write_replies
from udfs.models.language.reply_generator import ReplyGenerator
from udfs.predict import gathered, worker_model

WRITTEN = (("reply", StringType()), ("tokens", IntegerType()))
LIKELIHOOD = (("nats", DoubleType()), ("tokens", IntegerType()), ("words", IntegerType()))
GATHERED_ROWS = 1024
DECIMALS = 4

Request = tuple[str, list[str], str, str | None]
"""request_id, history, expected reply, intent."""
Answer = Callable[[ReplyGenerator, Sequence[Request]], list[tuple[Any, ...]]]


def generate_replies(
    requests: DataFrame,
    model_path: str,
    decoding: ReplyDecoding,
    *,
    batch_size: int,
    threads: int,
    partitions: int,
) -> DataFrame:
    """Add reply, tokens and error to the requests; a failed request has an error and no reply.

    Args:
        requests: request_id, context array<string>, expected, intent.
        model_path: folder of a ``ReplyGenerator``, readable from every worker.
        batch_size: histories per forward pass.
        threads: CPU threads per worker.
        partitions: number of tasks; 0 keeps the partitions.
    """

    def answer(model: ReplyGenerator, asked: Sequence[Request]) -> list[tuple[Any, ...]]:
        contexts = [context for _, context, _, _ in asked]
        intents = [intent for *_, intent in asked]
        seeds = [_seed(request_id) for request_id, *_ in asked]
        found = write_replies(model, contexts, intents, decoding, batch_size, seeds)
        return [(one.text, one.tokens) for one in found]

    return _answered(requests, model_path, threads, partitions, answer, WRITTEN)


def score_replies(requests: DataFrame, model_path: str, *, batch_size: int, threads: int, partitions: int) -> DataFrame:
    """Add nats (4 decimals), tokens, words and error of each expected reply to the requests.

    If a reply exceeds the network's positions, all three numbers refer to its beginning.

    Args:
        requests, model_path, batch_size, threads, partitions: see `generate_replies`.
    """

    def answer(model: ReplyGenerator, asked: Sequence[Request]) -> list[tuple[Any, ...]]:
        replies = [reply for _, _, reply, _ in asked]
        rows = model.encode([context for _, context, _, _ in asked], replies, [intent for *_, intent in asked])
        nats = model.nats(rows, batch_size)
        words = model.words(rows, replies)
        counts = [len(row.reply) for row in rows]
        return [(round(loss, DECIMALS), *more) for loss, *more in zip(nats, counts, words, strict=True)]

    return _answered(requests, model_path, threads, partitions, answer, LIKELIHOOD)


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

    def failed(error: Exception) -> tuple[Any, ...]:
        return (*(None for _ in values), error_line(error))

    def ask(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        model = worker_model(model_path, load_generator, threads)
        for frame in gathered(frames, GATHERED_ROWS):
            columns = (frame[name] for name in ("request_id", "context", "expected", "intent"))
            asked = [(key, list(turns), reply, wish or None) for key, turns, reply, wish in zip(*columns, strict=True)]
            found = in_halves(lambda some: [(*row, None) for row in answer(model, some)], asked, failed)
            out = pd.DataFrame(found, columns=[name for name, _ in more], index=frame.index)
            whole = {name: "Int32" for name, kind in values if kind == IntegerType()}
            yield pd.concat([frame, out.astype(whole)], axis=1)

    spread = requests.repartition(partitions, "request_id") if partitions > 0 else requests
    return spread.mapInPandas(ask, schema)


def _seed(request_id: str) -> int:
    return int.from_bytes(hashlib.sha256(request_id.encode()).digest()[:4], "big")
