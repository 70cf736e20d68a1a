"""Build the requests to the response generators, and return their answers."""

from collections.abc import Callable
from functools import partial, reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.common.hashes import history_hash
from etl.pipeline.stage_run import StageRun
from etl.replies.conversations import EMPATHETIC
from etl.replies.regimes import ALL, ON_EMPATHETIC, PAPERS, STEERED
from etl.replies.requests import held_out_replies, plain_requests, steered_requests

LIKELIHOOD = "likelihood"


def planned_likelihoods(examples: DataFrame, run: StageRun) -> DataFrame:
    """Return a likelihood request for each chosen test reply and generator."""
    replies = held_out_replies(examples, run.settings.replies.evaluation.examples)
    return plain_requests(replies, _papers(run), LIKELIHOOD)


def planned_replies(examples: DataFrame, run: StageRun) -> DataFrame:
    """Return a reply request for each chosen test history and generator."""
    replies = held_out_replies(examples, run.settings.replies.evaluation.examples)
    return plain_requests(replies, _papers(run), _decoding(run))


def planned_steering(examples: DataFrame, run: StageRun) -> DataFrame:
    """Return steered requests for test histories of EmpatheticDialogues, with each intent and without one."""
    evaluation = run.settings.replies.evaluation
    replies = held_out_replies(examples.where(F.col("source") == EMPATHETIC), evaluation.contexts)
    steered, plain = ((regime.generator, run.models[regime.model].identity) for regime in (STEERED, ON_EMPATHETIC))
    intents = evaluation.intents or run.settings.edos.taxonomy.names
    return steered_requests(replies, steered, plain, intents, _decoding(run))


def likelihoods(requests: DataFrame, run: StageRun) -> DataFrame:
    """Return rows of ``replies.likelihoods``."""
    from udfs.replies import score_replies

    return _of_each_generator(requests, run, score_replies)


def replies(requests: DataFrame, run: StageRun) -> DataFrame:
    """Return rows of ``replies.generated`` or ``replies.steered``."""
    from udfs.replies import generate_replies

    written = _of_each_generator(requests, run, partial(generate_replies, decoding=run.settings.replies.decoding))
    return written.withColumn("history_hash", history_hash(F.concat("context", F.array("reply"))))


def _of_each_generator(requests: DataFrame, run: StageRun, answer: Callable[..., DataFrame]) -> DataFrame:
    arguments = {
        "threads": run.compute.threads, "partitions": run.compute.partitions,
        "batch_size": run.settings.replies.evaluation.batch_size,
    }  # fmt: skip
    parts = [
        answer(
            requests.where(F.col("generator") == regime.generator),
            model_path=run.worker_path(run.models[regime.model]),
            **arguments,
        )
        for regime in ALL
        if regime.model in run.models
    ]
    return reduce(lambda one, other: one.unionByName(other), parts)


def _papers(run: StageRun) -> dict[str, str]:
    return {regime.generator: run.models[regime.model].identity for regime in PAPERS}


def _decoding(run: StageRun) -> str:
    return str(run.settings.replies.decoding.model_dump_json())
