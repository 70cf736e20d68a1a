"""Declare the stages that call models. Each prompt or text is sent once, and other stages parse the stored answers."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.llm_settings import LlmSettings
from conf.model_settings import LabelPrecision
from conf.settings import Settings
from etl.llm.requests import distinct_requests, with_answers
from etl.pipeline.model_loader import ResolvedModel
from etl.pipeline.outcome import Outcome
from etl.pipeline.signatures import At, Receiver, receiver_of
from etl.pipeline.stage_run import StageRun
from etl.pipeline.stages import Declare, Incremental, RowAccounting, Stage, Units, stage
from etl.pipeline.tables import Table
from udfs.failures import DEVICE_FAULT, REFUSED
from udfs.llm_kinds import kind_of
from udfs.llm_requests import NOT_CONTINUED, TOGETHER, UNAVAILABLE

if TYPE_CHECKING:
    from udfs.llm_kinds import ModelSource

PROMPTS_PER_MINUTE = 10
"""Throughput of one core with the smallest model, for planning batches. A GPU is faster."""


def prompt_stage(
    reads: tuple[Table, ...], writes: Table, model: str, per_minute: float = PROMPTS_PER_MINUTE, **declared: Any
) -> Callable[[Callable[..., DataFrame] | Receiver], Stage]:
    """Declare a stage that sends requests to a language model. Its function returns ``with_requests`` rows.

    Changed settings give other requests, so stored answers stay valid.

    Args:
        writes: the step's table of raw answers.
        model: key under ``models`` of the language model.
        per_minute: prompts per minute and core, for planning.
        declared: further arguments of ``stage``, such as templates of the prompts. It is manual if they say nothing
            else.
    """

    def declare(asked: Callable[..., DataFrame] | Receiver) -> Stage:
        asking = receiver_of(asked)

        def answers(requests: DataFrame, llm: LlmSettings, run: StageRun) -> DataFrame:
            from udfs.generate import generate_answers

            return generate_answers(requests, source(run, model, llm), run.compute.partitions)

        def rate(models: Mapping[str, ResolvedModel]) -> float:
            served = kind_of(models[model].identity).prompts_per_minute
            return per_minute if served is None else served

        return stage(
            reads=reads,
            writes=writes,
            models=(model,),
            units="prompts",
            **{"manual": True, **declared},
            incremental=Incremental(
                "request_id",
                cost_per_minute=per_minute,
                prepare=asking.then(distinct_requests),
                units=Units.ASKED,
                unanswered=f"text IS NULL AND error LIKE '{UNAVAILABLE}%'",
                failed=f"text IS NULL AND coalesce(error, '') NOT LIKE '{REFUSED}%'",
                together=TOGETHER,
                rate=rate,
            ),
        )(receiver_of(answers).named_by(asking.function))

    return declare


def answer_stage(
    asking: Stage,
    writes: Table,
    units: RowAccounting | str,
    *,
    resources: tuple[str, ...] = (),
    version: int = 1,
) -> Callable[[Callable[..., Outcome] | Receiver], Stage]:
    """Declare the stage that parses the answers of a ``prompt_stage``. Its function takes ``with_answers`` rows.

    It builds the same requests from the same inputs, settings and templates, and joins them with the answers. It is
    manual, and off, where the ``prompt_stage`` is.

    Args:
        asking: the ``prompt_stage``.
        units: units of the row accounting.
        resources: files of ``conf`` that only the parser uses.
        version: increased when the parser gives other rows.
    """
    assert asking.prepare is not None
    assert asking.prepare.base is not None
    requests = asking.prepare.base
    (model,) = (one.name for one in asking.models)
    raw_answers = asking.writes
    assert isinstance(raw_answers, Table)

    def declare(read: Callable[..., Outcome] | Receiver) -> Stage:
        reader = receiver_of(read)

        def rows(frames: Sequence[DataFrame], settings: Settings, run: StageRun | None) -> Any:
            assert run is not None
            *inputs, answers = frames
            asked = requests.call(inputs, settings, run)
            identity = run.model(model).identity
            if not kind_of(identity).in_files:
                _say_what_the_server_did(answers, identity, run)
            return reader.call([with_answers(asked, answers, identity)], settings, run)

        return stage(
            manual=asking.manual,
            enabled_if=asking.enabled_if,
            reads=(*asking.reads, raw_answers),
            writes=writes,
            models=(model,),
            units=units,
            resources=tuple(dict.fromkeys((*asking.resources, *resources))),
            version=version,
        )(Receiver(reader.function, (*requests.received, *reader.received), rows))

    return declare


def _say_what_the_server_did(answers: DataFrame, identity: str, run: StageRun) -> None:
    """Say how many answers a server gave without continuing their start, and how many as another model."""
    told = [F.get_json_object("parameters", f"$.{name}") for name in ("answer_start", "answered_by")]
    for start, name, number in answers.where(F.col("model") == identity).groupBy(*told).count().collect():
        if start == NOT_CONTINUED:
            run.say(
                f"{number:,} answers: the server does not continue the start of an answer and was asked without one; "
                "llm.server.dialect: openai asks so from the first"
            )
        if name:
            run.say(f"{number:,} answers are by {name}, as the server says, which was asked for {identity}")


def model_stage(answer: Callable[..., DataFrame], model: str, per_minute: float, **declared: Any) -> Declare:
    """Declare a stage that applies a model to each row once. Its function returns these rows.

    Args:
        answer: one of the functions below.
        model: key under ``models`` of the model.
        per_minute: rows per minute and core, for planning.
        declared: further arguments of ``stage``.
    """

    def declare(pending: Callable[..., DataFrame]) -> Stage:
        def answers(rows: DataFrame, run: StageRun) -> DataFrame:
            return answer(rows, run, model)

        def labels(
            rows: DataFrame, precision: Annotated[LabelPrecision, At("models.label_precision")], run: StageRun
        ) -> DataFrame:
            return answer(rows, run, model, precision)

        asked = receiver_of(labels if answer in (text_scores, history_scores) else answers)
        key = "history_hash" if answer is history_scores else "text_hash"
        once = Incremental(key, cost_per_minute=per_minute, prepare=pending, units=Units.ANSWERED, failed=DEVICE_FAULT)
        return stage(models=(model,), incremental=once, **declared)(asked.named_by(pending))

    return declare


def embeddings(texts: DataFrame, run: StageRun, model: str) -> DataFrame:
    """Return an embedding of each text."""
    from udfs.predict import embed_texts

    return embed_texts(texts, **run.model(model).arguments)


def text_scores(texts: DataFrame, run: StageRun, model: str, precision: str = "fp32") -> DataFrame:
    """Return a classifier's scores of each text, computed in fp32, bf16 or fp16."""
    from udfs.predict import score_texts

    return score_texts(texts, **run.model(model).arguments, precision=precision)


def history_scores(histories: DataFrame, run: StageRun, model: str, precision: str = "fp32") -> DataFrame:
    """Return a dialogue classifier's scores of each history's last turn, computed in fp32, bf16 or fp16."""
    from udfs.predict import score_histories

    return score_histories(histories, **run.model(model).arguments, precision=precision)


def passage_scores(passages: DataFrame, run: StageRun, model: str) -> DataFrame:
    """Return a multi-label classifier's scores of each utterance with its context."""
    from udfs.predict import answer_passages

    return answer_passages(passages, **run.model(model).arguments)


def source(run: StageRun, name: str, llm: LlmSettings) -> "ModelSource":
    """Return the source of answers of the model ``models.<name>``."""
    from udfs.generate import source_of

    model = run.model(name).required
    compute = run.compute
    return source_of(run.worker_path(model), model.identity, llm, compute.threads, compute.partitions)
