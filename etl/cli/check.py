"""``python -m jobs check``: what a night team wants to know after a run, with an exit status and JSON."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.care_settings import CheckSettings
from conf.settings import Settings
from etl.pipeline.lineage import StageEvent, StageLog
from etl.pipeline.planner import PipelineContext
from etl.pipeline.session import close_session, spark_session
from etl.pipeline.stages import Stage
from etl.publishing.screen_tables import aligned, terminal_width
from etl.tables import Table

FOUND = 5
"""The exit status where a check fails."""
LABEL = "label"
"""The column of labels whose shares are compared."""


@dataclass(frozen=True)
class Check:
    """The result of one check.

    Attributes:
        check: state, age, rows, quarantined, dropped, nulls or labels.
        stage: whose run it is about.
        ok: whether it is within its limit.
        value: what was found; null where there is no number.
        limit: of the settings.
        detail: what the number is of.
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
        found = [*of_log(lambda stage: context.of(stage).log, stages, settings.checks, datetime.now(UTC))]
        found += [one for stage in stages for one in of_tables(context.of(stage), stage)]
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
) -> Iterator[Check]:
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
            yield Check("state", stage.name, False, None, None, f"{state}: {detail}")
        done = log.done(stage.name)
        if not done:
            continue
        newest = done[-1] if newest is None or done[-1].started > newest.started else newest
        yield from _of_run(done[-1], done[-2] if len(done) > 1 else None, limits)
    if newest is not None and limits.max_age_hours is not None:
        age = (now - newest.started.astimezone(UTC) - timedelta(seconds=newest.seconds)).total_seconds() / 3600
        yield _limited("age", newest.stage, age, limits.max_age_hours, "hours since the newest finished run")


def _of_run(last: StageEvent, before: StageEvent | None, limits: CheckSettings) -> Iterator[Check]:
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


def of_tables(context: PipelineContext, stage: Stage) -> Iterator[Check]:
    """Yield the checks that compare a table with its version after the run before: nulls and labels."""
    limits = context.settings.checks
    done = context.log.done(stage.name)
    if not isinstance(stage.writes, Table) or len(done) < 2 or not context.lakehouse.exists(stage.writes):
        return
    then = context.lakehouse.read_version(stage.writes, done[-2].output_version)
    if then is None:
        return
    now = context.lakehouse.read(stage.writes)
    try:
        yield from _compared(stage.name, stage.writes, then, now, limits)
    except PySparkException:  # files of the earlier version are deleted
        return


def _compared(name: str, table: Table, then: DataFrame, now: DataFrame, limits: CheckSettings) -> Iterator[Check]:
    """Yield the checks of a table's rows, before and now."""
    if limits.max_null_change is not None:
        (before, after) = (null_shares(rows) for rows in (then, now))
        for column in sorted(before.keys() & after.keys()):
            detail = f"nulls in {table.name}.{column}: {before[column]:.1%} before, {after[column]:.1%} now"
            change = abs(after[column] - before[column])
            yield _limited("nulls", name, change, limits.max_null_change, detail)
    if limits.max_drift is not None and LABEL in now.columns and LABEL in then.columns:
        (before, after) = (label_shares(rows) for rows in (then, now))
        moved = sorted(before.keys() | after.keys(), key=lambda one: -abs(after.get(one, 0) - before.get(one, 0)))
        if before and after:
            one = moved[0]
            detail = f"labels of {table.name}, most of all {one}: {before.get(one, 0):.1%} before, "
            detail += f"{after.get(one, 0):.1%} now"
            yield _limited("labels", name, distance(before, after), limits.max_drift, detail)


def null_shares(rows: DataFrame) -> dict[str, float]:
    """Return the share of nulls in each column; none where there are no rows."""
    names = rows.columns
    found = rows.agg(F.count("*"), *[F.count_if(F.col(f"`{name}`").isNull()) for name in names]).first()
    assert found is not None
    (total, *nulls) = found
    return {name: count / total for name, count in zip(names, nulls, strict=True)} if total else {}


def label_shares(rows: DataFrame) -> dict[str, float]:
    """Return the share of each label among the rows that have one."""
    counts = {row[0]: row[1] for row in rows.where(F.col(LABEL).isNotNull()).groupBy(LABEL).count().collect()}
    return {label: count / sum(counts.values()) for label, count in counts.items()}


def distance(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Return the total variation distance of two distributions: 0 where they are equal, 1 where they share nothing."""
    return sum(abs(first.get(one, 0) - second.get(one, 0)) for one in first.keys() | second.keys()) / 2


def _limited(name: str, stage: str, value: float, limit: float, detail: str) -> Check:
    return Check(name, stage, value <= limit, round(value, 4), limit, detail)


def _shown(value: float | None) -> Any:
    return "" if value is None else f"{value:g}"
