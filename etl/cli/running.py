"""Run stages in a session of their own; a failure becomes one line."""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType

from pyspark.sql import SparkSession

from conf.errors import InputError, LossError
from conf.settings import Settings
from etl.cli.foreseen import FACTOR, seconds_ahead
from etl.cli.presets import smaller_line
from etl.cli.run_errors import RunError, fault_line, is_bad_input
from etl.edos.description import describe
from etl.pipeline import session
from etl.pipeline.idle_cluster import ending_without_executors
from etl.pipeline.lease import events, leased
from etl.pipeline.model_checks import check_models
from etl.pipeline.observers import Observers
from etl.pipeline.planner import PipelineContext, StagePlan, event_of, given_model, why_off, without_set
from etl.pipeline.progress import Progress, duration
from etl.pipeline.runner import run_stage
from etl.pipeline.spark_api import cores, is_local
from etl.pipeline.stages import Model, Stage
from etl.pipeline.store_lease import run_lease
from etl.pipeline.table_checks import require_tables
from etl.pipeline.tables import Table
from etl.training.registry import check_store

CLEANING = "clean_dialogues"
"""A run that has this stage ends with what was made."""
DESCRIBING = "describe_dataset"
SMALL_SOURCES = 64_000_000
"""Stored bytes of subtitle files, about 750 films, up to which `run` takes a short session: 64 s in place of 81 s for
265 files on two cores."""


def in_session(settings: Settings, work: Callable[[SparkSession, list[str]], None]) -> int:
    """Call ``work`` with a session and a list to which it adds the name of each stage that it begins; returns 0.

    Raises:
        InputError: bad settings or input.
        RunError: any other error, in one line.
        KeyboardInterrupt: somebody stopped it; it names the signal and the stage.
    """
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    running: list[str] = []
    stops: list[int] = []
    try:
        spark = session.spark_session(settings)
        try:
            with noting_interrupts(stops), ending_without_executors(spark, settings.pipeline.idle_minutes):
                work(spark, running)
        finally:
            with suppress(Exception):  # a lost Java process cannot be stopped, and its loss is on_error already
                session.close_session(spark, settings)
    except InputError:
        raise
    except (Exception, KeyboardInterrupt) as error:
        if stops or isinstance(error, KeyboardInterrupt):
            by = [f"by {signal.Signals(number).name}" for number in stops[:1]]
            raise KeyboardInterrupt(*by, *(f"in {stage}" for stage in running[-1:])) from None
        line = fault_line(error, settings, *running[-1:])
        raise (InputError(line) if is_bad_input(error) else RunError(line)) from error
    return 0


@contextmanager
def noting_interrupts(stops: list[int]) -> Iterator[None]:
    """Add each interrupt (Ctrl+C, or SIGTERM where it is taken as one) inside the block to ``stops``.

    An interrupt during a call of Java becomes an error of the call: py4j swallows it, and logs a traceback.
    """
    known = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    if threading.current_thread() is not threading.main_thread():
        known.clear()

    def noted(number: int, frame: FrameType | None) -> None:
        stops.append(number)
        logging.disable()  # nothing after it concerns the reader
        handler = known[signal.Signals(number)]
        assert callable(handler)
        handler(number, frame)

    known = {number: handler for number, handler in known.items() if callable(handler)}
    for number in known:
        signal.signal(number, noted)
    try:
        yield
    finally:
        for number, handler in known.items():
            signal.signal(number, handler)


def run(settings: Settings, stages: list[Stage], again: bool) -> int:
    """Run the stages that have work, in a session; returns the exit status. Errors as of `in_session`.

    What the settings name is looked at before the session opens.
    """
    require_inputs(stages, settings)
    require_tables(stages, settings)
    check_models(stages, settings)
    if settings.spark.local and settings.spark.short_session is None:
        short = are_small(settings.subtitles.sources)
        settings = settings.model_copy(update={"spark": settings.spark.model_copy(update={"short_session": short})})

    def work(spark: SparkSession, running: list[str]) -> None:
        run_stages(spark, settings, stages, running, again)
        names = {stage.name for stage in stages}
        if CLEANING in names and DESCRIBING not in names:
            print("\n".join(["", *describe(spark, settings.lakehouse, settings.edos, settings.publishing)]))

    return in_session(settings, work)


def are_small(sources: Sequence[str], most: int = SMALL_SOURCES) -> bool:
    """Return whether there are sources, all of them local and readable, of at most ``most`` stored bytes together."""
    total = 0
    try:
        for source in map(Path, sources):
            if not source.exists():
                return False
            for path in [source] if source.is_file() else source.rglob("*"):
                total += path.stat().st_size if path.is_file() else 0
                if total > most:
                    return False
    except OSError:
        return False
    return bool(sources)


def require_inputs(stages: Iterable[Stage], settings: Settings) -> None:
    """Raise an InputError where a setting of the stages names a file, folder or model that is not there."""
    missing = [stage.missing(settings) for stage in stages if given_model(stage, settings) is None]
    if any(missing):
        raise InputError("; ".join(dict.fromkeys(filter(None, missing))))


def _events(spark: SparkSession, settings: Settings) -> list[str | None]:
    """Return what differs after each event of any run at the stages, those of a set and those that it shares."""
    places = (settings, without_set(settings)) if settings.lakehouse.set else (settings,)
    return [events(spark, place) for place in places]


def run_stages(
    spark: SparkSession,
    settings: Settings,
    stages: Iterable[Stage],
    running: list[str],
    again: bool = False,
    before: Callable[[PipelineContext, Stage], None] | None = None,
) -> None:
    """Run the stages that have work, and add the name of each to ``running`` before.

    Args:
        running: the names of the stages so far.
        again: run all of them, from their inputs.
        before: called for each stage while nobody else works at it, before it is planned.

    Raises:
        InputError: a setting names what is not there; then none of the stages has run.
        InUseError: another run is at the lakehouse, or at one of the stages.
    """
    stages = list(stages)
    progress = Progress(spark, len(stages))
    with run_lease(spark, settings, progress.say) as require_lock:
        _run_locked(spark, settings, stages, running, again, before, progress, require_lock)


def _run_locked(
    spark: SparkSession,
    settings: Settings,
    stages: Sequence[Stage],
    running: list[str],
    again: bool,
    before: Callable[[PipelineContext, Stage], None] | None,
    progress: Progress,
    require_lock: Callable[[], None],
) -> None:
    """Do what `run_stages` does, while no other run has the lock; ``require_lock`` raises once it is lost."""
    known = _events(spark, settings)
    contexts = PipelineContext(spark, settings)
    require_inputs(stages, settings)
    cores(spark)  # what is not known is on_error before the first stage
    if any(isinstance(stage.writes, Model) and given_model(stage, settings) is None for stage in stages):
        check_store(settings)
    for line in known_before(spark, settings, stages):
        progress.say_once(line)
    ahead = seconds_ahead(contexts, stages)
    progress.expect(ahead)
    if ahead and contexts.log.last(stages[0].name, "done") is None:
        progress.say(
            f"about {duration(sum(ahead.values()))} on {contexts.cores} cores by a stored table, give or take a factor "
            f"of {FACTOR}"
        )
    observers = Observers(contexts, progress.say)

    def failed(stage: Stage, error: BaseException) -> None:
        observers.finished(stage, None, error)

    try:
        for stage in stages:
            require_lock()
            context = contexts.of(stage)
            running.append(stage.name)
            given = context.given_model(stage)
            if given is not None:
                with progress.stage(f"{stage.name} (model given: {given})", None):
                    continue
            if before is not None:
                with (
                    leased(context.settings, stage.name, progress.say),
                    failures_recorded(context, stage, on_error=failed),
                ):
                    before(context, stage)
            with failures_recorded(context, stage, on_error=failed):
                plan = context.plan(stage, again)
            if plan.why is None:
                off = f" ({why_off(stage, settings)})" if context.is_off(stage) else ""
                with progress.stage(stage.name + off, None):
                    continue
            with leased(context.settings, stage.name, progress.say):
                if _events(spark, settings) != known:  # another run has done something meanwhile
                    contexts = PipelineContext(spark, settings)
                    context = contexts.of(stage)
                    plan = context.plan(stage, again)
                work = partial(run_stage, context, stage, plan, progress)
                with progress.stage(stage.name, plan.why), failures_recorded(context, stage, plan):
                    event = observers.watched(stage, plan, work) if plan.why is not None else None
            known = _events(spark, settings)
            if event is not None:
                progress.done(event)
    finally:
        observers.closed(contexts)


def known_before(spark: SparkSession, settings: Settings, stages: Sequence[Stage]) -> list[str]:
    """Return the lines that a run prints first: what its profile makes smaller, and whether GPUs stay idle."""
    trains = any(isinstance(stage.writes, Model) and given_model(stage, settings) is None for stage in stages)
    scores = any(isinstance(stage.writes, Table) and stage.models for stage in stages)
    smaller = smaller_line(settings, stages) if trains else ""
    return [*([smaller] if smaller else []), *(idle_gpus(is_local(spark), gpus_here()) if scores else [])]


def gpus_here(devices: Path = Path("/dev")) -> int:
    """Return how many GPUs of NVIDIA this machine has, without a library."""
    return sum(path.name.removeprefix("nvidia").isdigit() for path in devices.glob("nvidia*"))


def idle_gpus(local: bool, gpus: int) -> list[str]:
    """Return a line where GPUs stay idle: Spark gives them to tasks of executors alone, not of ``local[*]``."""
    if not local or not gpus:
        return []
    return [
        f"this machine has {gpus} GPU{'' if gpus == 1 else 's'}, but tasks of a local session get none: models answer "
        "on the CPU, only trainings use the GPU (docs/clusters.md: how to start a cluster on one machine)"
    ]


@contextmanager
def failures_recorded(
    context: PipelineContext,
    stage: Stage,
    plan: StagePlan | None = None,
    on_error: Callable[[Stage, BaseException], None] | None = None,
) -> Iterator[None]:
    """Add a row with the one line of an error inside the block to ``ops.stage_runs``, and let the error go on.

    Args:
        plan: of the stage; None: there is none yet.
    """
    began = datetime.now(UTC)
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        stopped = isinstance(error, KeyboardInterrupt)
        own = str(error) if isinstance(error, InputError) else fault_line(error, context.settings, stage.name)
        failed = event_of(
            stage,
            plan,
            "refused" if isinstance(error, LossError) else "failed",
            started=began,
            seconds=round((datetime.now(UTC) - began).total_seconds(), 2),
            detail="stopped by an interrupt" if stopped else own,
        )
        with suppress(Exception):  # what broke the run, such as a full disk, may refuse this row as well
            context.log.add(failed)
        if on_error is not None:
            on_error(stage, error)
        raise
