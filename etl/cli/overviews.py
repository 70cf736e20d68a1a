"""``python -m jobs plan`` and ``status``, for people and, with ``--json``, for schedulers."""

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from conf.errors import InputError
from conf.settings import Settings
from etl.pipeline import local_delta
from etl.pipeline.folders import located
from etl.pipeline.lineage import StageLog
from etl.pipeline.model_checks import model_faults
from etl.pipeline.planner import PipelineContext, feeds, is_off, why_off, without_set
from etl.pipeline.session import close_session, spark_session
from etl.pipeline.spark_tables import path_of
from etl.pipeline.stages import Stage
from etl.pipeline.table_checks import require_tables
from etl.pipeline.tables.ops import STAGE_RUNS
from etl.publishing.screen_tables import aligned, terminal_width

NAMED = 2
"""Stages that a reason names at most, so that a plan fits a terminal; ``after`` has all."""


@dataclass(frozen=True)
class Planned:
    """The plan for one stage.

    Attributes:
        action: run; skip: its model is given; off: its switch is false; done: nothing to do.
        after: stages that run before it and whose output it reads.
    """

    stage: str
    action: str
    reason: str
    after: tuple[str, ...] = ()


def plan(settings: Settings, stages: list[Stage], as_json: bool = False) -> int:
    """Print each stage with what it would do and why."""
    require_tables(stages, settings)
    spark = spark_session(settings)
    try:
        found = planned(PipelineContext(spark, settings), stages)
    finally:
        close_session(spark, settings)
    if as_json:
        print(json.dumps([asdict(one) for one in found], indent=1))
        return 0
    rows = [(f"{number:3d}", one.stage, one.action, one.reason) for number, one in enumerate(found, start=1)]
    print("\n".join(aligned(("", "stage", "action", "reason"), rows, terminal_width())))
    return 0


def planned(context: Any, stages: Sequence[Stage]) -> list[Planned]:
    """Return what ``run`` would do with each stage, in order."""
    running: list[Stage] = []
    found = []
    faults = model_faults(stages, context.settings, on_disk=True)
    for stage in stages:
        before = tuple(first.name for first in running if feeds(first, stage))
        one = _planned(context.of(stage), stage, before, faults.get(stage.name))
        running = [*running, stage] if one.action == "run" else running
        found.append(one)
    return found


def _planned(context: Any, stage: Stage, before: tuple[str, ...], fault: str | None = None) -> Planned:
    given = context.given_model(stage)
    if given is not None:
        return Planned(stage.name, "skip", f"model given: {given}")
    if context.is_off(stage) and context.log.last(stage.name, "done") is None:
        return Planned(stage.name, "off", why_off(stage, context.settings))
    if missing := stage.missing(context.settings):
        return Planned(stage.name, "run", missing, before)
    if fault:
        return Planned(stage.name, "run", fault, before)
    if before:
        named = ", ".join(before) if len(before) <= NAMED else f"{before[0]} and {len(before) - 1} more"
        return Planned(stage.name, "run", f"after {named}", before)
    try:
        why = context.plan(stage).why
    except InputError as error:
        why = str(error)
    return Planned(stage.name, "run", why) if why else Planned(stage.name, "done", "up to date")


STATUS = (
    "stage",
    "state",
    "finished",
    "seconds",
    "unit",
    "rows_in",
    "rows_out",
    "rows_dropped",
    "rows_quarantined",
    "detail",
)
"""The fields of a stage in ``status --json``."""
COLUMNS = ("stage", "finished", "in", "out", "dropped", "quarantined", "s")


def status(settings: Settings, stages: list[Stage], as_json: bool = False) -> int:
    """Print each stage's last finished run and its account; Spark starts only where delta-rs cannot read the log."""
    require_tables((), settings)
    own, shared = (log_on_disk(one) for one in (settings, without_set(settings)))
    if own is None or shared is None:
        spark = spark_session(settings)
        try:
            context = PipelineContext(spark, settings)
            own, shared = context.log, context.shared.log
        finally:
            close_session(spark, settings)
    off = [stage for stage in stages if is_off(stage, settings)]
    found = [states(own if stage.of_sets else shared, [stage], off)[0] for stage in stages]
    if as_json:
        print(json.dumps(found, indent=1))
        return 0
    print("\n".join(aligned(COLUMNS, map(_status_cells, found), terminal_width())))
    return 0


def log_on_disk(settings: Settings) -> StageLog | None:
    """Return the log of a lakehouse in a folder of this machine, without Spark; None where Spark must read it."""
    where = settings.lakehouse
    root = located(where.root)
    readable = local_delta.available() and local_delta.keeps(root)
    if not settings.spark.local or where.catalog or not root.startswith("/") or not readable:
        return None
    folder = located(path_of(where, STAGE_RUNS))
    there = local_delta.opened(folder)
    nothing: list[dict[str, Any]] | None = [] if not Path(folder).exists() else None
    found = nothing if there is None else local_delta.rows(there, STAGE_RUNS)
    return None if found is None else StageLog(cast(Any, SimpleNamespace(rows=lambda table: found)))


def states(log: Any, stages: Sequence[Stage], off: Collection[Stage] = ()) -> list[dict[str, Any]]:
    """Return the fields ``STATUS`` of each stage's last finished run.

    state is done, never, off for one of ``off`` that never ran, stopped for a later run that did not finish, or failed
    for one that said why, in detail; finished is a time in UTC.
    """
    found: list[dict[str, Any]] = []
    for stage in stages:
        last = log.last(stage.name, "done")
        one: dict[str, Any] = dict.fromkeys(STATUS)
        one |= {"stage": stage.name, "state": log.state(stage.name)}
        if last is not None:
            one |= {name: getattr(last, name) for name in STATUS[3:-1]}
            finished = last.started.astimezone(UTC) + timedelta(seconds=last.seconds)
            one["finished"] = f"{finished:%Y-%m-%dT%H:%M:%SZ}"
        if one["state"] == "never" and stage in off:
            one["state"] = "off"
        if one["state"] == "failed":
            one["detail"] = log.newest(stage.name).detail
        found.append(one)
    return found


_LATER = {"stopped": "stopped midway", "failed": "failed"}
"""Words for how a run after the last finished one ended."""


def _status_cells(one: dict[str, Any]) -> tuple[Any, ...]:
    when = one["finished"].replace("T", " ")[:16] if one["finished"] else ""
    if one["state"] in _LATER:  # the counts are of the run before
        return (one["stage"], f"{_LATER[one['state']]}{when and f', done before at {when}'}", *[None] * 5)
    never = "off" if one["state"] == "off" else "not yet"
    seconds = None if one["seconds"] is None else round(one["seconds"], 1)
    counts = (one[name] for name in ("rows_in", "rows_out", "rows_dropped", "rows_quarantined"))
    return (one["stage"], when or never, *counts, seconds)
