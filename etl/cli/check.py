"""``python -m jobs check``: what a night team wants to know after a run, with an exit status and JSON."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from conf.maintenance_settings import CheckSettings
from conf.settings import Settings
from etl.pipeline.lineage import StageEvent, StageLog
from etl.pipeline.planner import PipelineContext
from etl.pipeline.session import close_session, spark_session
from etl.pipeline.stages import Stage
from etl.publishing.screen_tables import aligned, terminal_width

FOUND = 5
"""The exit status where a check fails."""


@dataclass(frozen=True)
class RunCheck:
    """The result of one check.

    Attributes:
        check: state, age, rows, quarantined or dropped.
        value: what was found; null where there is no number.
    """

    check: str
    stage: str
    ok: bool
    value: float | None
    limit: float | None
    detail: str


def check(settings: Settings, stages: Sequence[Stage], as_json: bool = False) -> int:
    """Print the checks of the stages' last runs; return 0, or `FOUND` where one fails."""
    spark = spark_session(settings)
    try:
        context = PipelineContext(spark, settings)
        found = list(of_log(lambda stage: context.of(stage).log, stages, settings.checks, datetime.now(UTC)))
    finally:
        close_session(spark, settings)
    failed = [one for one in found if not one.ok]
    if as_json:
        print(json.dumps({"ok": not failed, "checks": [asdict(one) for one in found]}, indent=1))
    else:
        rows = [(one.check, one.stage, _shown(one.value), _shown(one.limit), one.detail) for one in failed]
        heads = ("check", "stage", "found", "limit", "of what")
        print("\n".join(aligned(heads, rows, terminal_width())) if rows else f"{len(found)} checks, all within limits")
    return FOUND if failed else 0


def of_log(
    log_of: Callable[[Stage], StageLog], stages: Sequence[Stage], limits: CheckSettings, now: datetime
) -> Iterator[RunCheck]:
    """Yield the checks that the rows of ``ops.stage_runs`` answer: state, age, rows, quarantined and dropped units."""
    newest: StageEvent | None = None
    for stage in stages:
        if stage.writes is None:
            continue
        log = log_of(stage)
        state = log.state(stage.name)
        if state in ("failed", "stopped"):
            last = log.newest(stage.name)
            detail = (last.detail if last is not None else None) or "a run did not reach its end"
            yield RunCheck("state", stage.name, False, None, None, f"{state}: {detail}")
        done = log.done(stage.name)
        if not done:
            continue
        newest = done[-1] if newest is None or done[-1].started > newest.started else newest
        yield from _of_run(done[-1], done[-2] if len(done) > 1 else None, limits)
    if newest is not None and limits.max_age_hours is not None:
        age = (now - newest.started.astimezone(UTC) - timedelta(seconds=newest.seconds)).total_seconds() / 3600
        yield _limited("age", newest.stage, age, limits.max_age_hours, "hours since the newest finished run")


def _of_run(last: StageEvent, before: StageEvent | None, limits: CheckSettings) -> Iterator[RunCheck]:
    rows_in = last.rows_in or 0
    if limits.max_quarantined_share is not None and last.rows_quarantined is not None and rows_in:
        share = last.rows_quarantined / rows_in
        detail = f"{last.rows_quarantined:,} of {rows_in:,} {last.unit}"
        yield _limited("quarantined", last.stage, share, limits.max_quarantined_share, detail)
    if before is None:
        return
    if limits.max_shrink_share is not None and before.rows_out and last.rows_out is not None:
        shrunk = max(0.0, 1 - last.rows_out / before.rows_out)
        detail = f"{before.rows_out:,} {last.unit} before, {last.rows_out:,} now"
        yield _limited("rows", last.stage, shrunk, limits.max_shrink_share, detail)
    if limits.max_dropped_change is not None and rows_in and before.rows_in:
        (now, then) = ((one.rows_dropped or 0) / (one.rows_in or 1) for one in (last, before))
        detail = f"share of {last.unit} dropped: {then:.1%} before, {now:.1%} now"
        yield _limited("dropped", last.stage, abs(now - then), limits.max_dropped_change, detail)


def _limited(name: str, stage: str, value: float, limit: float, detail: str) -> RunCheck:
    return RunCheck(name, stage, value <= limit, round(value, 4), limit, detail)


def _shown(value: float | None) -> Any:
    return "" if value is None else f"{value:g}"
