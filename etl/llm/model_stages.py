"""How stages ask models: each prompt or text once, answers kept for good, and read by a stage of their own."""

from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from etl.llm.requests import distinct_requests, with_answers
from etl.pipeline.stage import Declare, Incremental, RowAccounting, Stage, manual_stage, stage
from etl.pipeline.stage_run import StageRun
from etl.tables import Table
from etl.tables.outcome import Outcome

if TYPE_CHECKING:
    from udfs.generate import Source

PROMPTS_PER_MINUTE = 10
"""Of one core with the smallest model; a GPU does more, its slices are then shorter."""


def prompt_stage(
    reads: tuple[Table, ...], writes: Table, model: str, per_minute: float = PROMPTS_PER_MINUTE, **declared: Any
) -> Declare:
    """Declare a stage that asks a language model, by a function from its inputs to ``with_requests`` rows.

    Other settings mean other prompts, so that no answer is ever thrown away for them.

    Args:
        reads: input tables.
        writes: the step's table of raw answers.
        model: the key under ``models`` that holds the language model's URI.
        per_minute: prompts that one core answers, for planning: fewer of long texts.
        declared: what else ``stage`` takes, such as the settings and templates that the prompts depend on.
    """

    def declare(asked: Callable[..., DataFrame]) -> Stage:
        def pending(*inputs: Any) -> DataFrame:
            return distinct_requests(asked(*inputs))

        @wraps(asked)
        def answers(requests: DataFrame, *inputs: Any) -> DataFrame:
            return answered(requests, inputs[-1], model)

        return manual_stage(
            reads=reads, writes=writes, models=(model,), units="prompts", options=("llm",), **declared,
            incremental=Incremental(
                "request_id", cost_per_minute=per_minute, prepare=pending, cache=True, content_keyed=True
            ),
        )(answers)  # fmt: skip

    return declare


def answer_stage(asking: Stage, writes: Table, units: RowAccounting | str, *resources: str) -> Declare:
    """Declare the stage that reads what ``asking`` was answered, by a function from ``with_answers`` rows.

    It makes the same requests from the same inputs, settings and templates, and finds the answers by them.

    Args:
        asking: the stage that ``prompt_stage`` declared.
        writes: its table.
        units: what it accounts in.
        resources: files of ``conf`` that only the reading uses.
    """
    asked: Callable[..., DataFrame] = unwrap(asking.function)
    (model,), said = (one.name for one in asking.models), asking.writes
    assert isinstance(said, Table)

    def declare(read: Callable[[DataFrame, StageRun], Outcome]) -> Stage:
        @wraps(read)
        def rows(*inputs: Any) -> Outcome:
            *frames, answers, run = inputs
            return read(with_answers(asked(*frames, run), answers, run.models[model].identity), run)

        return manual_stage(
            reads=(*asking.reads, said), writes=writes, models=(model,), settings=asking.settings, units=units,
            resources=(*asking.resources, *resources),
        )(rows)  # fmt: skip

    return declare


def model_stage(
    answer: Callable[[DataFrame, StageRun, str], DataFrame], model: str, per_minute: float, **declared: Any
) -> Declare:
    """Declare a stage that asks a model about each row once, by a function from its inputs to the rows to ask about.

    Args:
        answer: one of the functions below.
        model: the key under ``models`` that holds its URI.
        per_minute: rows that one core does, for planning.
        declared: what else ``stage`` takes.
    """

    def declare(pending: Callable[..., DataFrame]) -> Stage:
        @wraps(pending)
        def answers(rows: DataFrame, *others: Any) -> DataFrame:
            return answer(rows, others[-1], model)

        key = "history_hash" if answer is history_scores else "text_hash"
        once = Incremental(key, cost_per_minute=per_minute, prepare=pending, cache=True)
        return stage(models=(model,), incremental=once, **declared)(answers)

    return declare


def embeddings(texts: DataFrame, run: StageRun, model: str) -> DataFrame:
    """An embedding of each text."""
    from udfs.predict import embed_texts

    return embed_texts(texts, **run.model_arguments(model))


def text_scores(texts: DataFrame, run: StageRun, model: str) -> DataFrame:
    """A classifier's scores for each text."""
    from udfs.predict import score_texts

    return score_texts(texts, **run.model_arguments(model))


def history_scores(histories: DataFrame, run: StageRun, model: str) -> DataFrame:
    """A dialogue classifier's scores for the last turn of each history."""
    from udfs.predict import score_histories

    return score_histories(histories, **run.model_arguments(model))


def passage_scores(passages: DataFrame, run: StageRun, model: str) -> DataFrame:
    """A multi-label classifier's scores for each utterance with its context."""
    from udfs.predict import answer_passages

    return answer_passages(passages, **run.model_arguments(model))


def answered(requests: DataFrame, run: StageRun, by: str) -> DataFrame:
    """A language model's raw answers to requests, for the step's table of generations.

    Args:
        by: the key under ``models`` that holds its URI.
    """
    from udfs.generate import generate_answers

    return generate_answers(requests, source(run, by), run.compute.partitions)


def source(run: StageRun, by: str) -> "Source":
    """Where the answers of the model under ``models.<by>`` come from; its stage declares the option ``llm``."""
    from udfs.generate import source_of

    model, compute = run.models[by], run.compute
    return source_of(str(model.path), model.identity, run.settings.llm, compute.threads, compute.partitions)
