"""The log of stage runs, ``ops.stage_runs``, and the lineage in each commit."""

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from conf.redaction import redacted
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.tables.ops import STAGE_RUNS


def package_version() -> str:
    """Return the installed version, or ``tree`` when run from plain files."""
    try:
        return version("edos-lakehouse")
    except PackageNotFoundError:
        return "tree"


@dataclass(frozen=True)
class StageEvent:
    """One row of ``ops.stage_runs``."""

    stage: str
    run_id: str
    event: str
    started: datetime
    seconds: float
    slices: int
    unit: str
    rows_in: int | None
    rows_out: int | None
    rows_dropped: int | None
    rows_quarantined: int | None
    input_versions: dict[str, str]
    settings_hash: str
    stage_version: int
    models: dict[str, str]
    output_version: str | None
    package_version: str
    task_seconds: float | None = None
    detail: str | None = None
    settings: dict[str, str] | None = None
    figures: dict[str, float] | None = None

    def done(self, **facts: Any) -> "StageEvent":
        passed = max(0.0, (datetime.now(UTC) - self.started).total_seconds())
        return replace(self, event="done", seconds=round(passed, 2), **facts)

    def lineage(self, batch: int) -> dict[str, Any]:
        """Return the content of the commit's ``userMetadata``."""
        return {
            "stage": self.stage,
            "run_id": self.run_id,
            "slice": batch,
            "slices": self.slices,
            "inputs": self.input_versions,
            "settings": self.settings_hash,
            "version": self.stage_version,
            "models": self.models,
            "package": self.package_version,
        }


class StageLog:
    """The events of ``ops.stage_runs``, newest last; a new one is timed after them, even if the clock went back."""

    def __init__(self, lakehouse: Lakehouse) -> None:
        self._lakehouse = lakehouse
        events = [StageEvent(**row) for row in lakehouse.rows(STAGE_RUNS)]
        self._events = sorted(events, key=lambda one: (one.started, one.event))

    def last(self, stage: str, event: str) -> StageEvent | None:
        found = [one for one in self._events if one.stage == stage and one.event == event]
        return found[-1] if found else None

    def done(self, stage: str) -> list[StageEvent]:
        """Return the stage's finished runs, oldest first."""
        return [one for one in self._events if one.stage == stage and one.event == "done"]

    def unfinished(self, stage: str) -> StageEvent | None:
        """Return the last run if it has not finished."""
        started = self.last(stage, "started")
        done = {one.run_id for one in self._events if one.stage == stage and one.event == "done"}
        return started if started is not None and started.run_id not in done else None

    def models(self, name: str) -> list[str]:
        """Return the identities of a model that runs have used, those of the newest runs first."""
        used = (one.models[name] for one in reversed(self._events) if name in one.models)
        return list(dict.fromkeys(used))

    def counts(self, stage: str) -> dict[str, int]:
        """Return how many of the stage's runs ended in each way: done, failed or refused."""
        ended = [one.event for one in self._events if one.stage == stage]
        return {event: ended.count(event) for event in ("done", "failed", "refused")}

    def newest(self, stage: str) -> StageEvent | None:
        """Return the stage's newest event of any kind."""
        own = [one for one in self._events if one.stage == stage]
        return own[-1] if own else None

    def begun(self, stage: str) -> StageEvent | None:
        """Return the event with which the last run began, if neither it nor a later one was done or refused."""
        for one in reversed([one for one in self._events if one.stage == stage]):
            if one.event in ("done", "refused"):
                return None
            if one.event == "began":
                return one
        return None

    def state(self, stage: str) -> str:
        """Return never, done, stopped (a later run did not reach its end) or failed (it says why)."""
        newest = self.newest(stage)
        if newest is None:
            return "never"
        if newest.event in ("failed", "refused"):
            return "failed"
        return "done" if newest.event == "done" and self.unfinished(stage) is None else "stopped"

    def add(self, event: StageEvent) -> None:
        after = 1e-6 + max((one.started.timestamp() for one in self._events), default=0.0)
        event = replace(event, started=max(event.started, datetime.fromtimestamp(after, UTC)))
        row = vars(event) | {"detail": redacted(event.detail) if event.detail else event.detail}
        lineage = {"stage": event.stage, "event": event.event}
        self._lakehouse.append_row(STAGE_RUNS, row, lineage)
        self._events.append(event)


def run_id_of(stage: str, *content: Any) -> str:
    """Return a run's id, a hash of its content, so that a killed run resumes under the same id."""
    text = json.dumps([stage, *content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
