"""How stages ask models: each prompt or text once, answers kept for good, and read by a stage of their own."""

from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Sliced, Stage, StageRun, Units, manual_stage, stage
from etl.lakehouse.tables import Table
from etl.llm.requests import distinct_requests, with_answers

if TYPE_CHECKING:
    from udfs.generate import Source

PROMPTS_PER_MINUTE = 10
"""Of one core with the smallest model; a GPU does more, its slices are then shorter."""

Declare = Callable[[Callable[..., Any]], Stage]


def asks_prompts(
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
            reads=reads, writes=writes, asks=(model,), units="prompts", options=("llm",), **declared,
            sliced=Sliced("request_id", cost_per_minute=per_minute, prepare=pending, cache=True, plans=True),
        )(answers)  # fmt: skip

    return declare


def reads_answers(asking: Stage, writes: Table, units: Units | str, *resources: str) -> Declare:
    """Declare the stage that reads what ``asking`` was answered, by a function from ``with_answers`` rows.

    It makes the same requests from the same inputs, settings and templates, and finds the answers by them.

    Args:
        asking: the stage that ``asks_prompts`` declared.
        writes: its table.
        units: what it accounts in.
        resources: files of ``conf`` that only the reading uses.
    """
    asked: Callable[..., DataFrame] = unwrap(asking.function)
    (model,), said = (one.name for one in asking.asks), asking.writes
    assert isinstance(said, Table)

    def declare(read: Callable[[DataFrame, StageRun], Outcome]) -> Stage:
        @wraps(read)
        def rows(*inputs: Any) -> Outcome:
            *frames, answers, run = inputs
            return read(with_answers(asked(*frames, run), answers, run.models[model].identity), run)

        return manual_stage(
            reads=(*asking.reads, said), writes=writes, asks=(model,), settings=asking.settings, units=units,
            resources=(*asking.resources, *resources),
        )(rows)  # fmt: skip

    return declare


def asks_once(
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
        once = Sliced(key, cost_per_minute=per_minute, prepare=pending, cache=True)
        return stage(asks=(model,), sliced=once, **declared)(answers)

    return declare


def embeddings(texts: DataFrame, run: StageRun, model: str) -> DataFrame:
    """An embedding of each text."""
    from udfs.predict import embed_texts

    return embed_texts(texts, **run.asking(model))


def text_scores(texts: DataFrame, run: StageRun, model: str) -> DataFrame:
    """A classifier's scores for each text."""
    from udfs.predict import score_texts

    return score_texts(texts, **run.asking(model))


def history_scores(histories: DataFrame, run: StageRun, model: str) -> DataFrame:
    """A dialogue classifier's scores for the last turn of each history."""
    from udfs.predict import score_histories

    return score_histories(histories, **run.asking(model))


def passage_scores(passages: DataFrame, run: StageRun, model: str) -> DataFrame:
    """A multi-label classifier's scores for each utterance with its context."""
    from udfs.passages import answer_passages

    return answer_passages(passages, **run.asking(model))


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
