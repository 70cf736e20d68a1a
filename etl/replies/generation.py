"""Build the requests to the response generators, and return their answers."""

from collections.abc import Callable
from functools import partial, reduce
from typing import Annotated

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.taxonomy import Taxonomy
from etl.common.hashes import history_hash
from etl.pipeline.signatures import At
from etl.pipeline.stage_run import StageRun
from etl.replies.conversations import EMPATHETIC
from etl.replies.regimes import ALL, CAUSAL, COMPARED, ON_EMPATHETIC, STEERED, Regime
from etl.replies.requests import held_out_replies, plain_requests, steered_requests
from etl.replies.settings import ReplyDecoding, SteeringRequests

LIKELIHOOD = "likelihood"
TestReplies = Annotated[int | None, At("replies.evaluation.examples")]
BatchSize = Annotated[int, At("replies.evaluation.batch_size")]


def planned_likelihoods(examples: DataFrame, number: TestReplies, run: StageRun) -> DataFrame:
    """Return a likelihood request for each chosen test reply and generator."""
    replies = held_out_replies(examples, number)
    return plain_requests(replies, _compared(run), LIKELIHOOD)


def planned_replies(examples: DataFrame, number: TestReplies, decoding: ReplyDecoding, run: StageRun) -> DataFrame:
    """Return a reply request for each chosen test history and generator."""
    replies = held_out_replies(examples, number)
    return plain_requests(replies, _compared(run), decoding.model_dump_json())


def planned_steering(
    examples: DataFrame, wanted: SteeringRequests, decoding: ReplyDecoding, labels: Taxonomy, run: StageRun
) -> DataFrame:
    """Return steered requests for test histories of EmpatheticDialogues, with each intent and without one."""
    replies = held_out_replies(examples.where(F.col("source") == EMPATHETIC), wanted.contexts)
    both = (STEERED, unsteered(run))
    steered, plain = ((regime.generator, run.model(regime.model).identity) for regime in both)
    intents = wanted.intents or labels.names
    return steered_requests(replies, steered, plain, intents, decoding.model_dump_json())


def likelihoods(requests: DataFrame, run: StageRun, batch_size: int) -> DataFrame:
    """Return rows of ``replies.likelihoods``."""
    from udfs.replies import score_replies

    return _of_each_generator(requests, run, batch_size, score_replies)


def replies(requests: DataFrame, run: StageRun, decoding: ReplyDecoding, batch_size: int) -> DataFrame:
    """Return rows of ``replies.generated`` or ``replies.steered``."""
    from udfs.replies import generate_replies

    written = _of_each_generator(requests, run, batch_size, partial(generate_replies, decoding=decoding))
    return written.withColumn("history_hash", history_hash(F.concat("context", F.array("reply"))))


def _of_each_generator(
    requests: DataFrame, run: StageRun, batch_size: int, answer: Callable[..., DataFrame]
) -> DataFrame:
    arguments = {
        "threads": run.compute.threads,
        "partitions": run.compute.partitions,
        "batch_size": batch_size,
    }
    parts = [
        answer(
            requests.where(F.col("generator") == regime.generator),
            model_path=run.worker_path(run.model(regime.model)),
            **arguments,
        )
        for regime in ALL
        if regime.model in run.models and run.model(regime.model).given
    ]
    return reduce(lambda one, other: one.unionByName(other), parts)


def unsteered(run: StageRun) -> Regime:
    """Return the regime that the steered generator starts from, and is compared with."""
    return CAUSAL if run.model(CAUSAL.model).given else ON_EMPATHETIC


def compared(run: StageRun) -> list[Regime]:
    """Return the regimes of Table 7 whose models are not null."""
    return [regime for regime in COMPARED if run.model(regime.model).given]


def _compared(run: StageRun) -> dict[str, str]:
    return {regime.generator: run.model(regime.model).identity for regime in compared(run)}
