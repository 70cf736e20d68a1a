"""How stages ask the language model: prompts of a step, each once, their answers kept for good."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from etl.lakehouse.stage import Sliced, StageRun
from etl.llm.requests import distinct_requests

if TYPE_CHECKING:
    from udfs.generate import Source

PROMPTS_PER_MINUTE = 10
"""Of one core with the smallest model; a GPU does more, its slices are then shorter."""


def asks_for(asked: Callable[..., DataFrame], per_minute: float = PROMPTS_PER_MINUTE) -> Sliced:
    """Work prompt by prompt. Other settings mean other prompts, so that no answer is ever thrown away for them.

    Args:
        asked: from the stage's inputs and its ``StageRun`` to the rows of ``etl.llm.requests.with_requests``.
        per_minute: prompts that one core answers, for planning: fewer of long texts.
    """

    def pending(*inputs: object) -> DataFrame:
        return distinct_requests(asked(*inputs))

    return Sliced("request_id", cost_per_minute=per_minute, prepare=pending, cache=True, plans=True)


def answered(requests: DataFrame, run: StageRun, by: str = "generator") -> DataFrame:
    """A language model's raw answers to requests, for the step's table of generations.

    Args:
        by: the key under ``models`` that holds its URI.
    """
    from udfs.generate import generate_answers

    return generate_answers(requests, source(run, by), run.spark.sparkContext.defaultParallelism)


def source(run: StageRun, by: str) -> "Source":
    """Where the answers of the model under ``models.<by>`` come from."""
    from udfs.generate import source_of

    model, workers = run.models[by], run.spark.sparkContext.defaultParallelism
    settings = run.all_settings
    return source_of(str(model.path), model.identity, settings.llm, settings.models.threads, workers)
