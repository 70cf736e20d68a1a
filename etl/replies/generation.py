"""Asking the response generators: which requests there are under the settings, and their answers."""

from collections.abc import Callable
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.common.hashes import history_hash
from etl.pipeline.stage_run import StageRun
from etl.replies.conversations import EMPATHETIC
from etl.replies.regimes import ALL, ON_EMPATHETIC, PAPERS, STEERED
from etl.replies.requests import held_out_replies, plain_requests, steered_requests

LIKELIHOOD = "likelihood"


def planned_likelihoods(examples: DataFrame, run: StageRun) -> DataFrame:
    """Each chosen test reply, and each generator that is asked how likely it is."""
    replies = held_out_replies(examples, run.settings.replies.evaluation.examples)
    return plain_requests(replies, _papers(run), LIKELIHOOD)


def planned_replies(examples: DataFrame, run: StageRun) -> DataFrame:
    """Each chosen test history, and each generator that is to reply."""
    replies = held_out_replies(examples, run.settings.replies.evaluation.examples)
    return plain_requests(replies, _papers(run), _decoding(run))


def planned_steering(examples: DataFrame, run: StageRun) -> DataFrame:
    """So many test histories of EmpatheticDialogues, and each intent; without one, too, and of the plain generator."""
    evaluation = run.settings.replies.evaluation
    replies = held_out_replies(examples.where(F.col("source") == EMPATHETIC), evaluation.contexts)
    told, plain = ((regime.generator, run.models[regime.model].identity) for regime in (STEERED, ON_EMPATHETIC))
    intents = evaluation.intents or run.settings.edos.taxonomy.names
    return steered_requests(replies, told, plain, intents, _decoding(run))


def likelihoods(requests: DataFrame, run: StageRun) -> DataFrame:
    """Rows of ``replies.likelihoods``."""
    from udfs.replies import score_replies

    return _of_each_generator(requests, run, lambda some, asking: score_replies(some, **asking))


def replies(requests: DataFrame, run: StageRun) -> DataFrame:
    """Rows of ``replies.generated``, and of ``replies.steered``."""
    from udfs.replies import generate_replies

    decoding = run.settings.replies.decoding
    written = _of_each_generator(
        requests, run, lambda some, asking: generate_replies(some, decoding=decoding, **asking)
    )  # fmt: skip
    return written.withColumn("history_hash", history_hash(F.concat("context", F.array("reply"))))


def _of_each_generator(
    requests: DataFrame, run: StageRun, ask: Callable[[DataFrame, dict[str, Any]], DataFrame]
) -> DataFrame:
    compute = run.compute
    parts = []
    for regime in ALL:
        if regime.model in run.models:
            asking = {
                "model_path": str(run.models[regime.model].path), "threads": compute.threads,
                "batch_size": run.settings.replies.evaluation.batch_size,
                "partitions": compute.partitions,
            }  # fmt: skip
            parts.append(ask(requests.where(F.col("generator") == regime.generator), asking))
    return reduce(DataFrame.unionByName, parts)


def _papers(run: StageRun) -> dict[str, str]:
    return {regime.generator: run.models[regime.model].identity for regime in PAPERS}


def _decoding(run: StageRun) -> str:
    return str(run.settings.replies.decoding.model_dump_json())
